/* The shape key: what a problem and a device determine of the instance that serves them, and nothing of how it is
 * computed (no tuning knob). Two problems that the same instances serve have the same bytes. Needs libc alone. */
#ifndef FMHA_KEY_H
#define FMHA_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Every number here is fixed for ever. What a field does not use yet is zero. */
enum fmha_key_operation {
    FMHA_KEY_FORWARD = 0,
    FMHA_KEY_DECODE = 1,
    FMHA_KEY_MERGE = 2,
    FMHA_KEY_BACKWARD = 3,
    FMHA_KEY_PACK = 4,
    FMHA_KEY_APPEND = 5,
    FMHA_KEY_MLA = 6,
    FMHA_KEY_QUANTIZE = 7
};
enum fmha_key_dtype { FMHA_KEY_F16 = 1, FMHA_KEY_BF16 = 2 };
enum fmha_key_mask { FMHA_KEY_MASK_NONE = 0, FMHA_KEY_CAUSAL_BOTTOM_RIGHT = 1, FMHA_KEY_CAUSAL_TOP_LEFT = 2 };
enum fmha_key_v_layout { FMHA_KEY_V_ROW = 0, FMHA_KEY_V_TRANSPOSED = 1 };
enum fmha_key_feature { FMHA_KEY_FEATURE_ANY = 0, FMHA_KEY_FEATURE_OFF = 1, FMHA_KEY_FEATURE_ON = 2 };

enum fmha_key_bias { FMHA_KEY_BIAS_OFF = 0, FMHA_KEY_BIAS_SAME = 1, FMHA_KEY_BIAS_F32 = 2 };
enum fmha_key_varlen { FMHA_KEY_VARLEN_NONE = 0, FMHA_KEY_VARLEN_PACKED = 1, FMHA_KEY_VARLEN_PADDED = 2 };
enum fmha_key_kv_dtype {
    FMHA_KEY_KV_SAME = 0, /* as dtype */
    FMHA_KEY_KV_E4M3 = 1, /* fp8 of the OCP */
    FMHA_KEY_KV_E5M2 = 2,
    FMHA_KEY_KV_E4M3FNUZ = 3, /* fp8 of gfx942 */
    FMHA_KEY_KV_E5M2FNUZ = 4,
    FMHA_KEY_KV_MXFP4 = 5
};
enum fmha_key_kv_scale { FMHA_KEY_KV_SCALE_HEAD = 0, FMHA_KEY_KV_SCALE_TOKEN = 1 };
enum fmha_key_scale_rule { FMHA_KEY_SCALE_FLOOR = 0, FMHA_KEY_SCALE_THREE_QUARTERS = 1 };
enum fmha_key_rotary { FMHA_KEY_ROTARY_OFF = 0, FMHA_KEY_ROTARY_NEOX = 1, FMHA_KEY_ROTARY_INTERLEAVED = 2 };
enum fmha_key_values { FMHA_KEY_VALUES_ON = 0, FMHA_KEY_VALUES_OFF = 1 };
enum fmha_key_from { FMHA_KEY_FROM_F16 = 0, FMHA_KEY_FROM_BF16 = 1, FMHA_KEY_FROM_F32 = 2 };
enum fmha_key_pass { FMHA_KEY_PASS_NUMBERS = 0, FMHA_KEY_PASS_SCALES = 1 };
/* Of decode: rows that an instance has room for in a workgroup. Any serves any number of them; the nearest that holds
 * them serves it best. */
enum fmha_key_rows { FMHA_KEY_ROWS_16 = 0, FMHA_KEY_ROWS_32 = 1, FMHA_KEY_ROWS_64 = 2, FMHA_KEY_ROWS_128 = 3 };
enum fmha_key_partial { FMHA_KEY_PARTIAL_F32 = 0, FMHA_KEY_PARTIAL_SAME = 1 };
/* In fmha_key.modifiers: each the factor of the value. */
enum fmha_key_modifier {
    FMHA_KEY_WINDOW = 1 << 0,
    FMHA_KEY_SINK_KEYS = 1 << 1,
    FMHA_KEY_PREFIX = 1 << 2,
    FMHA_KEY_SOFTCAP = 1 << 3,
    FMHA_KEY_ALIBI = 1 << 4,
    FMHA_KEY_BIAS = 1 << 5,
    FMHA_KEY_ATTN_MASK = 1 << 7,
    FMHA_KEY_BLOCK_MASK = 1 << 8,
    FMHA_KEY_SINK = 1 << 9,
    FMHA_KEY_HEAD_SCALE = 1 << 10,
    FMHA_KEY_DROPOUT = 1 << 11,
    FMHA_KEY_VARLEN = 1 << 12,
    FMHA_KEY_PAGED = 1 << 14,
    FMHA_KEY_PARTIAL = 1 << 15,    /* of merge: fmha_key_partial */
    FMHA_KEY_ROWS = 1 << 22,       /* of decode: fmha_key_rows */
    FMHA_KEY_KV_SCALE = 1 << 16,   /* fmha_key_kv_scale */
    FMHA_KEY_SCALE_RULE = 1 << 17, /* fmha_key_scale_rule */
    FMHA_KEY_ROTARY = 1 << 24,     /* of append: fmha_key_rotary */
    FMHA_KEY_VALUES = 1 << 26,     /* of append: fmha_key_values */
    FMHA_KEY_FROM = 1 << 27,       /* of quantize: fmha_key_from */
    FMHA_KEY_PASS = 1 << 29,       /* of quantize: fmha_key_pass */
};

#define FMHA_KEY_ROWS_MASK (3u * FMHA_KEY_ROWS)

#define FMHA_KEY_VERSION 1
#define FMHA_KEY_GENERIC 0xff /* as gfx_minor and gfx_stepping of a target that leaves them open: gfx11-generic */
#define FMHA_KEY_SM                                                                                                    \
    0xfe /* as gfx_stepping of a chip of NVIDIA's, whose gfx_major and gfx_minor are 9 and 0 for sm_90 */
#define FMHA_KEY_BYTES 32

/* Each cell is one byte; two-byte numbers are in the machine's order.
 *
 *         0         1         2         3         4         5         6         7
 *    +---------+---------+---------+---------+---------+---------+---------+---------+
 *  0 | version |operation|gfx_major|gfx_minor| gfx_    |features |  dtype  |kv_dtype |
 *    |         |         |         |         | stepping|         |         |         |
 *    +---------+---------+---------+---------+---------+---------+---------+---------+
 *  8 |     head_dim      |    head_dim_v     |  mask   |v_layout |  align  |    0    |
 *    +---------+---------+---------+---------+---------+---------+---------+---------+
 * 16 |               modifiers               |               modifier                |
 *    +---------+---------+---------+---------+---------+---------+---------+---------+
 * 24 |                                       0                                       |
 *    +---------+---------+---------+---------+---------+---------+---------+---------+
 *
 *    features:  bit  7   6   5   4   3   2   1   0
 *                  +---+---+---+---+---+---+---+---+
 *                  | 0   0   0   0 | xnack |sramecc|     each an fmha_key_feature
 *                  +---+---+---+---+---+---+---+---+
 *
 *    modifiers:  bit   0  window         5-6  bias, fmha_key_bias   11     dropout
 *                      1  sink_keys      7    attn_mask             12-13  varlen, fmha_key_varlen
 *                      2  prefix         8    block_mask            14     paged
 *                      3  softcap        9    sink                  15     partial, fmha_key_partial
 *                      4  alibi          10   head_scale            16     kv_scale, fmha_key_kv_scale
 *                     17  scale_rule, fmha_key_scale_rule    24-25  rotary, fmha_key_rotary
 *                     26  values, fmha_key_values            27-28  from, fmha_key_from
 *                     29  pass, fmha_key_pass                22-23  rows, fmha_key_rows
 *                     the others  0
 */
struct fmha_key {
    uint8_t version;                            /* FMHA_KEY_VERSION */
    uint8_t operation;                          /* fmha_key_operation */
    uint8_t gfx_major, gfx_minor, gfx_stepping; /* gfx1151: 11, 5, 1; gfx90a: 9, 0, 10 */
    uint8_t features;
    uint8_t dtype;                 /* of Q and O: fmha_key_dtype */
    uint8_t kv_dtype;              /* of K and V: fmha_key_kv_dtype */
    uint16_t head_dim, head_dim_v; /* elements */
    uint8_t mask;                  /* fmha_key_mask */
    uint8_t v_layout;              /* fmha_key_v_layout */
    uint8_t align;                 /* bytes that every row is aligned to */
    uint8_t reserved;
    uint32_t modifiers; /* fmha_key_modifier bits, 0: none */
    uint32_t modifier;  /* hash of the text of a modifier from outside, 0: none */
    uint8_t reserved_too[8];
};

_Static_assert(sizeof(struct fmha_key) == FMHA_KEY_BYTES, "the key has no padding: its bytes are compared and hashed");

/* A key of zeros that carries its version; every key begins as one. `key` must not be NULL. */
void fmha_key_init(struct fmha_key *key);

/* Sets the target, "gfx1151", "gfx942:sramecc+:xnack-", "gfx9-4-generic", "sm_90". False, and the key as before, for
 * what is no target; no error text is set. */
bool fmha_key_set_target(struct fmha_key *key, const char *target);

/* The i-th eight bytes of a key, read as they were written last: comparing 32 bytes at once waits for single bytes to
 * get to the processor's cache. */
static inline uint64_t fmha_key_word(const struct fmha_key *key, size_t i) {
    uint64_t word;
    memcpy(&word, (const unsigned char *)key + 8 * i, sizeof word);
    return word;
}

/* Sets the alignment, which was 0, by writing a whole word: what reads the word next need not wait for a byte to get to
 * the processor's cache. */
static inline void fmha_key_set_align(struct fmha_key *key, uint8_t align) {
    const size_t byte = offsetof(struct fmha_key, align) % 8;
    unsigned char *at = (unsigned char *)key + offsetof(struct fmha_key, align) - byte;
    uint64_t word;
    memcpy(&word, at, sizeof word);
    word |= (uint64_t)align << 8 * (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? byte : 7 - byte);
    memcpy(at, &word, sizeof word);
}

/* The head dimensions that a kernel can be made for: multiples of STEP from MIN to MAX, of V and O to V_MAX. */
#define FMHA_KEY_HEAD_DIM_MIN   8
#define FMHA_KEY_HEAD_DIM_MAX   576
#define FMHA_KEY_HEAD_DIM_V_MAX 512
#define FMHA_KEY_HEAD_DIM_STEP  8

/* Whether the key's head dimensions are of these, or 0: the operation does not have them. */
bool fmha_key_can_be_served(const struct fmha_key *key);

/* True when all bytes are the same. */
bool fmha_key_equal(const struct fmha_key *left, const struct fmha_key *right);

/* The fields by name, in the order in which they are written: "operation", "dtype", "head_dim", "head_dim_v", "mask",
 * "v_layout", "align"; then the modifiers, "kv_dtype", "kv_scale", "values", "rotary", "scale_rule", "from" and "pass",
 * which are written where they are not off. The target is none of them. */
#define FMHA_KEY_FIELDS_FIRST   7
#define FMHA_KEY_FIELDS         (FMHA_KEY_FIELDS_FIRST + 23)
#define FMHA_KEY_FIELD_MODIFIER (FMHA_KEY_FIELDS - 1) /* the hash of a modifier from outside */
extern const char *const fmha_key_field_names[FMHA_KEY_FIELDS];

/* Whether a field is written: it is one of the first, or not off. */
bool fmha_key_has(const struct fmha_key *key, int field);

/* A field's value as a word or a number: "causal-bottom-right", "128"; a hash as eight hexadecimal digits. Of a number
 * that no word stands for, the number. */
#define FMHA_KEY_VALUE_BYTES 24
void fmha_key_value(const struct fmha_key *key, int field, char text[FMHA_KEY_VALUE_BYTES]);

/* Sets a field from `length` bytes of text. False, and the key as before, for what is no value of it. */
bool fmha_key_set_value(struct fmha_key *key, int field, const char *text, size_t length);

#endif
