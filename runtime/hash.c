#include <string.h>

#include "hash.h"

#define P1 0x9E3779B185EBCA87u
#define P2 0xC2B2AE3D27D4EB4Fu
#define P3 0x165667B19E3779F9u
#define P4 0x85EBCA77C2B2AE63u
#define P5 0x27D4EB2F165667C5u

static uint64_t rotate(uint64_t value, int by) {
    return value << by | value >> (64 - by);
}

static uint64_t word64(const unsigned char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static uint64_t mix(uint64_t lane, uint64_t word) {
    return rotate(lane + word * P2, 31) * P1;
}

static uint64_t merge(uint64_t hash, uint64_t lane) {
    return (hash ^ mix(0, lane)) * P1 + P4;
}

uint64_t fmha_hash(uint64_t seed, const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    uint64_t hash = seed + P5;
    size_t left = count;
    if (count >= 32) {
        uint64_t lane[4] = {seed + P1 + P2, seed + P2, seed, seed - P1};
        for (; left >= 32; left -= 32, at += 32) {
            for (int i = 0; i < 4; i++) {
                lane[i] = mix(lane[i], word64(at + 8 * i));
            }
        }
        hash = rotate(lane[0], 1) + rotate(lane[1], 7) + rotate(lane[2], 12) + rotate(lane[3], 18);
        for (int i = 0; i < 4; i++) {
            hash = merge(hash, lane[i]);
        }
    }
    hash += count;
    for (; left >= 8; left -= 8, at += 8) {
        hash = rotate(hash ^ mix(0, word64(at)), 27) * P1 + P4;
    }
    if (left >= 4) {
        uint64_t word = (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24;
        hash = rotate(hash ^ word * P1, 23) * P2 + P3;
        left -= 4;
        at += 4;
    }
    for (; left > 0; left--, at++) {
        hash = rotate(hash ^ *at * P5, 11) * P1;
    }
    hash = (hash ^ hash >> 33) * P2;
    hash = (hash ^ hash >> 29) * P3;
    return hash ^ hash >> 32;
}
