/* Which weights dropout keeps, on the host, as fmha.h says. */
#include "dropout.h"

#include "fmha.h"

#define ROUNDS 10

/* J. K. Salmon and others, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011. */
void fmha_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t words[4]) {
    uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3], low = key[0], high = key[1];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t first = UINT64_C(0xd2511f53) * a, second = UINT64_C(0xcd9e8d57) * c;
        a = (uint32_t)(second >> 32) ^ b ^ low;
        b = (uint32_t)second;
        c = (uint32_t)(first >> 32) ^ d ^ high;
        d = (uint32_t)first;
        low += UINT32_C(0x9e3779b9);
        high += UINT32_C(0xbb67ae85);
    }
    words[0] = a;
    words[1] = b;
    words[2] = c;
    words[3] = d;
}

int fmha_dropout_keeps(uint64_t seed, uint64_t offset, int64_t batch, int64_t heads_q, int64_t head, int64_t query,
                       int64_t key, float probability) {
    double least = (double)probability * 65536 + 0.5; /* exact */
    uint64_t row = (uint64_t)batch * (uint64_t)heads_q + (uint64_t)head, at = (uint64_t)key % 8;
    const uint32_t counter[4] = {(uint32_t)((uint64_t)key / 8), (uint32_t)query, (uint32_t)row, (uint32_t)offset};
    const uint32_t halves[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t words[4];
    fmha_philox(counter, halves, words);
    uint32_t bits = words[at / 2] >> 16 * (at % 2) & 0xffff;
    return !(least >= 1) || (least < 65537 && bits >= (uint32_t)least);
}
