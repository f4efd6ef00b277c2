/* One version of the arithmetic, for one kind of vector unit. Included by wmma.c with VERSION(name), TARGET (the
 * functions' attribute), WIDTH (floats of a vector), COLUMNS (of D computed side by side), MULTIPLY_ADD(a, b, c) and
 * WIDEN_F16(halves) defined. */

typedef float VERSION(floats) __attribute__((vector_size(WIDTH * 4)));
typedef uint32_t VERSION(words) __attribute__((vector_size(WIDTH * 4)));
typedef uint16_t VERSION(halves) __attribute__((vector_size(WIDTH * 2)));

enum { VERSION(parts) = SIZE / WIDTH };

TARGET ALWAYS_INLINE void VERSION(widen_f16)(const uint16_t *from, float *to) {
    for (unsigned i = 0; i < SIZE; i += WIDTH) {
        VERSION(halves) half;
        memcpy(&half, from + i, sizeof half);
        VERSION(floats) value = WIDEN_F16(half);
        memcpy(to + i, &value, sizeof value);
    }
}

TARGET ALWAYS_INLINE void VERSION(widen_bf16)(const uint16_t *from, float *to) {
    for (unsigned i = 0; i < SIZE; i += WIDTH) {
        VERSION(halves) half;
        memcpy(&half, from + i, sizeof half);
        VERSION(words) word = __builtin_convertvector(half, VERSION(words)) << 16;
        memcpy(to + i, &word, sizeof word);
    }
}

TARGET ALWAYS_INLINE void VERSION(columns)(emu_lane *lanes, tile a, tile b, unsigned n, unsigned groups) {
    const unsigned floats = SIZE / groups; /* of C in a lane */
    float c[COLUMNS][SIZE];
    VERSION(floats) sum[COLUMNS][VERSION(parts)];
    for (unsigned j = 0; j < COLUMNS; j++) {
        for (unsigned g = 0; g < groups; g++) {
            memcpy(c[j] + g * floats, lanes[g * SIZE + n + j].seen.c, floats * sizeof(float));
        }
    }
    memcpy(sum, c, sizeof sum);
    for (unsigned k = 0; k < SIZE; k++) {
        for (unsigned p = 0; p < VERSION(parts); p++) {
            VERSION(floats) column;
            memcpy(&column, a[k] + p * WIDTH, sizeof column);
            for (unsigned j = 0; j < COLUMNS; j++) {
                VERSION(floats) number = (VERSION(floats)){0} + b[n + j][k];
                sum[j][p] = MULTIPLY_ADD(column, number, sum[j][p]);
            }
        }
    }
    memcpy(c, sum, sizeof sum);
    for (unsigned j = 0; j < COLUMNS; j++) {
        for (unsigned g = 0; g < groups; g++) {
            memcpy(lanes[g * SIZE + n + j].seen.c, c[j] + g * floats, floats * sizeof(float));
        }
    }
}

TARGET ALWAYS_INLINE void VERSION(product)(emu_lane *lanes, unsigned groups, int is_bf16) {
    uint16_t columns[SIZE][SIZE];
    tile a, b;
    transpose(lanes, columns, groups);
    for (unsigned i = 0; i < SIZE; i++) {
        if (is_bf16) {
            VERSION(widen_bf16)(columns[i], a[i]);
            VERSION(widen_bf16)(lanes[i].seen.b, b[i]);
        } else {
            VERSION(widen_f16)(columns[i], a[i]);
            VERSION(widen_f16)(lanes[i].seen.b, b[i]);
        }
    }
    for (unsigned n = 0; n < SIZE; n += COLUMNS) {
        VERSION(columns)(lanes, a, b, n, groups);
    }
}

TARGET static void VERSION(f16)(emu_lane *lanes, unsigned count) {
    if (count == 32) {
        VERSION(product)(lanes, 2, 0);
    } else {
        VERSION(product)(lanes, 4, 0);
    }
}

TARGET static void VERSION(bf16)(emu_lane *lanes, unsigned count) {
    if (count == 32) {
        VERSION(product)(lanes, 2, 1);
    } else {
        VERSION(product)(lanes, 4, 1);
    }
}

/* D += A B of matrices that stand as arrays: a[k][row], b[column][k], d[column][row], k below `depth`. */
TARGET static void VERSION(arrays)(const uint16_t a[SIZE][SIZE], const uint16_t b[SIZE][SIZE], float d[SIZE][SIZE],
                                   unsigned depth, int is_bf16) {
    tile wide_a, wide_b;
    for (unsigned i = 0; i < SIZE; i++) {
        if (is_bf16) {
            VERSION(widen_bf16)(a[i], wide_a[i]);
            VERSION(widen_bf16)(b[i], wide_b[i]);
        } else {
            VERSION(widen_f16)(a[i], wide_a[i]);
            VERSION(widen_f16)(b[i], wide_b[i]);
        }
    }
    for (unsigned n = 0; n < SIZE; n++) {
        VERSION(floats) sum[VERSION(parts)];
        memcpy(sum, d[n], sizeof sum);
        for (unsigned k = 0; k < depth; k++) {
            for (unsigned p = 0; p < VERSION(parts); p++) {
                VERSION(floats) column, number = (VERSION(floats)){0} + wide_b[n][k];
                memcpy(&column, wide_a[k] + p * WIDTH, sizeof column);
                sum[p] = MULTIPLY_ADD(column, number, sum[p]);
            }
        }
        memcpy(d[n], sum, sizeof sum);
    }
}
