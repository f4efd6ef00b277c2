#include "splits.h"

#include <stdio.h>
#include <string.h>

#define TILE           32  /* keys by which the length is shared out */
#define KEYS_LEAST     128 /* of a split: four tiles, less is not worth a partial result */
#define WAVES_PER_SIMD 2   /* that the chip is filled with: one computes while the other waits for memory */
#define WAVES_AHEAD    1   /* where a wave computes while its own loads come */
#define ROWS_OF_WAVE   16

int fmha_splits_simds(const fmha_device_info *info) {
    bool rdna = strncmp(info->arch, "gfx1", 4) == 0;
    bool halves = rdna && strcmp(info->driver, "hip") != 0; /* who counts two compute units as one there */
    return info->compute_units * (halves ? 2 : 4);
}

int fmha_splits_block(int64_t rows, int most) {
    int block = ROWS_OF_WAVE;
    while (block < rows && block < most) {
        block *= 2;
    }
    return block;
}

bool fmha_splits_ahead(const fmha_device_info *info) {
    return strncmp(info->arch, "sm_", 3) == 0;
}

static int waves_per_simd(const struct fmha_splits_problem *p) {
    return p->ahead ? WAVES_AHEAD : WAVES_PER_SIMD;
}

static int waves_of(const struct fmha_splits_problem *p, int block) {
    return block / ROWS_OF_WAVE * p->waves;
}

/* Workgroups that the rows of a key head take without splitting. */
static int64_t blocks_of(const struct fmha_splits_problem *p, int block) {
    int64_t blocks = p->rows / block + (p->rows % block != 0);
    return blocks > 1 ? blocks : 1;
}

/* Workgroups that the chip has room for, for each key head of one sequence. */
static int64_t room_of_head(const struct fmha_splits_problem *p) {
    int block = fmha_splits_block(p->rows, p->block_max);
    int64_t workgroups = (int64_t)p->simds * waves_per_simd(p) / waves_of(p, block);
    return workgroups / (p->heads_k > 1 ? p->heads_k : 1) / blocks_of(p, block);
}

/* Splits that the keys are enough for. */
static int64_t most_of_keys(const struct fmha_splits_problem *p) {
    int64_t least = p->page_size > KEYS_LEAST ? p->page_size : KEYS_LEAST;
    int64_t most = p->keys / least;
    return most < 1 ? 1 : most < FMHA_SPLITS_MAX ? most : FMHA_SPLITS_MAX;
}

int fmha_splits_choose(const struct fmha_splits_problem *p) {
    int64_t splits = room_of_head(p) / (p->batch > 1 ? p->batch : 1), most = most_of_keys(p);
    splits = splits < 1 ? 1 : splits < most ? splits : most;
    int64_t tiles = p->keys / TILE + (p->keys % TILE != 0);
    int64_t each = (tiles + splits - 1) / splits; /* of a split; as many splits are left as have any */
    return each > 0 ? (int)((tiles + each - 1) / each) : 1;
}

int64_t fmha_splits_bound(const struct fmha_splits_problem *p) {
    int64_t room = room_of_head(p), most = most_of_keys(p);
    if (room < 2 || most < 2 || p->batch < 1) {
        return 0;
    }
    return p->batch <= room / most ? p->batch * most : room;
}

void fmha_splits_explain(const struct fmha_splits_problem *p, char *text, size_t text_bytes) {
    int block = fmha_splits_block(p->rows, p->block_max);
    int64_t least = p->page_size > KEYS_LEAST ? p->page_size : KEYS_LEAST;
    snprintf(text, text_bytes,
             "%d: %lld x %lld x %lld workgroups of %d %s without splitting, %d SIMDs filled with %d %s each, %lld keys "
             "of which a split is to have at least %lld",
             fmha_splits_choose(p), (long long)p->batch, (long long)p->heads_k, (long long)blocks_of(p, block),
             block / ROWS_OF_WAVE, block == ROWS_OF_WAVE ? "wave" : "waves", p->simds, waves_per_simd(p),
             p->ahead ? "wave" : "waves", (long long)p->keys, (long long)least);
}
