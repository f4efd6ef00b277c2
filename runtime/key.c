#include "key.h"

#include <stdio.h>
#include <string.h>

void fmha_key_init(struct fmha_key *key) {
    memset(key, 0, sizeof *key);
    key->version = FMHA_KEY_VERSION;
}

static int hex_digit(char letter) {
    if (letter >= '0' && letter <= '9') {
        return letter - '0';
    }
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Decimal digits [*text, end) as a number up to 254; -1 for anything else. */
static int decimal(const char *text, const char *end) {
    int number = 0;
    if (text == end) {
        return -1;
    }
    for (; text < end; text++) {
        if (*text < '0' || *text > '9') {
            return -1;
        }
        number = number * 10 + (*text - '0');
        if (number >= FMHA_KEY_GENERIC) {
            return -1;
        }
    }
    return number;
}

/* "gfx" was taken: "1151", whose last two digits are hexadecimal, or "11-generic", or "9-4-generic". */
static bool set_processor(struct fmha_key *key, const char *text, const char *end) {
    static const char generic[] = "-generic";
    size_t length = (size_t)(end - text), tail = sizeof generic - 1;
    int major, minor = FMHA_KEY_GENERIC, stepping = FMHA_KEY_GENERIC;
    if (length > tail && memcmp(end - tail, generic, tail) == 0) {
        const char *dash = memchr(text, '-', length);
        major = decimal(text, dash);
        if (dash != end - tail) {
            minor = decimal(dash + 1, end - tail);
        }
    } else if (length > 2) {
        major = decimal(text, end - 2);
        minor = hex_digit(end[-2]);
        stepping = hex_digit(end[-1]);
    } else {
        return false;
    }
    if (major < 0 || minor < 0 || stepping < 0) {
        return false;
    }
    key->gfx_major = (uint8_t)major;
    key->gfx_minor = (uint8_t)minor;
    key->gfx_stepping = (uint8_t)stepping;
    return true;
}

/* "sm_" was taken: "90", "120"; the last digit is the minor version. */
static bool set_sm(struct fmha_key *key, const char *text) {
    const char *end = text + strlen(text);
    int major = end - text > 1 ? decimal(text, end - 1) : -1, minor = end - text > 1 ? decimal(end - 1, end) : -1;
    if (major < 0 || minor < 0) {
        return false;
    }
    key->gfx_major = (uint8_t)major;
    key->gfx_minor = (uint8_t)minor;
    key->gfx_stepping = FMHA_KEY_SM;
    return true;
}

/* `text` stands on ':'. Each feature once, "sramecc+" or "xnack-". */
static bool set_features(struct fmha_key *key, const char *text) {
    static const char *const names[] = {"sramecc", "xnack"};
    while (*text == ':') {
        text++;
        size_t i = 0, length = strcspn(text, "+-:");
        while (i < 2 && (strlen(names[i]) != length || strncmp(names[i], text, length) != 0)) {
            i++;
        }
        if (i == 2 || (text[length] != '+' && text[length] != '-') || (key->features >> (2 * i) & 3) != 0) {
            return false;
        }
        unsigned value = text[length] == '+' ? FMHA_KEY_FEATURE_ON : FMHA_KEY_FEATURE_OFF;
        key->features = (uint8_t)(key->features | value << (2 * i));
        text += length + 1;
    }
    return *text == '\0';
}

bool fmha_key_set_target(struct fmha_key *key, const char *target) {
    struct fmha_key changed = *key;
    changed.features = 0;
    if (strncmp(target, "sm_", 3) == 0) {
        if (!set_sm(&changed, target + 3)) {
            return false;
        }
        *key = changed;
        return true;
    }
    if (strncmp(target, "gfx", 3) != 0) {
        return false;
    }
    const char *end = target + strcspn(target, ":");
    if (!set_processor(&changed, target + 3, end) || !set_features(&changed, end)) {
        return false;
    }
    *key = changed;
    return true;
}

static bool can_be_served(int head_dim, int most) {
    return head_dim == 0 ||
           (head_dim >= FMHA_KEY_HEAD_DIM_MIN && head_dim <= most && head_dim % FMHA_KEY_HEAD_DIM_STEP == 0);
}

bool fmha_key_can_be_served(const struct fmha_key *key) {
    return can_be_served(key->head_dim, FMHA_KEY_HEAD_DIM_MAX) &&
           can_be_served(key->head_dim_v, FMHA_KEY_HEAD_DIM_V_MAX);
}

bool fmha_key_equal(const struct fmha_key *left, const struct fmha_key *right) {
    return memcmp(left, right, sizeof *left) == 0;
}

/* ---- Fields by name -------------------------------------------------------------------------------------- */

enum {
    OPERATION,
    DTYPE,
    HEAD_DIM,
    HEAD_DIM_V,
    MASK,
    V_LAYOUT,
    ALIGN,
    WINDOW,
    SINK_KEYS,
    PREFIX,
    SOFTCAP,
    ALIBI,
    BIAS,
    ATTN_MASK,
    BLOCK_MASK,
    SINK,
    HEAD_SCALE,
    DROPOUT,
    VARLEN,
    PAGED,
    PARTIAL,
    KV_DTYPE,
    KV_SCALE,
    VALUES,
    ROTARY,
    SCALE_RULE,
    FROM,
    PASS,
    ROWS,
    MODIFIER
};

const char *const fmha_key_field_names[FMHA_KEY_FIELDS] = {
    [OPERATION] = "operation",
    [DTYPE] = "dtype",
    [HEAD_DIM] = "head_dim",
    [HEAD_DIM_V] = "head_dim_v",
    [MASK] = "mask",
    [V_LAYOUT] = "v_layout",
    [ALIGN] = "align",
    [WINDOW] = "window",
    [SINK_KEYS] = "sink_keys",
    [PREFIX] = "prefix",
    [SOFTCAP] = "softcap",
    [ALIBI] = "alibi",
    [BIAS] = "bias",
    [ATTN_MASK] = "attn_mask",
    [BLOCK_MASK] = "block_mask",
    [SINK] = "sink",
    [HEAD_SCALE] = "head_scale",
    [DROPOUT] = "dropout",
    [VARLEN] = "varlen",
    [PAGED] = "paged",
    [PARTIAL] = "partial",
    [KV_DTYPE] = "kv_dtype",
    [KV_SCALE] = "kv_scale",
    [VALUES] = "values",
    [ROTARY] = "rotary",
    [SCALE_RULE] = "scale_rule",
    [FROM] = "from",
    [PASS] = "pass",
    [ROWS] = "rows",
    [MODIFIER] = "modifier",
};

static const struct {
    uint8_t field, number;
    const char *word;
} words[] = {
    {OPERATION, FMHA_KEY_FORWARD, "forward"},
    {OPERATION, FMHA_KEY_DECODE, "decode"},
    {OPERATION, FMHA_KEY_MERGE, "merge"},
    {OPERATION, FMHA_KEY_BACKWARD, "backward"},
    {OPERATION, FMHA_KEY_PACK, "pack"},
    {OPERATION, FMHA_KEY_APPEND, "append"},
    {OPERATION, FMHA_KEY_QUANTIZE, "quantize"},
    {OPERATION, FMHA_KEY_MLA, "mla"},
    {DTYPE, FMHA_KEY_F16, "f16"},
    {DTYPE, FMHA_KEY_BF16, "bf16"},
    {MASK, FMHA_KEY_MASK_NONE, "none"},
    {MASK, FMHA_KEY_CAUSAL_BOTTOM_RIGHT, "causal-bottom-right"},
    {MASK, FMHA_KEY_CAUSAL_TOP_LEFT, "causal-top-left"},
    {V_LAYOUT, FMHA_KEY_V_ROW, "row"},
    {V_LAYOUT, FMHA_KEY_V_TRANSPOSED, "transposed"},
    {WINDOW, 0, "none"},
    {WINDOW, 1, "sliding"},
    {BIAS, FMHA_KEY_BIAS_OFF, "off"},
    {BIAS, FMHA_KEY_BIAS_SAME, "same"},
    {BIAS, FMHA_KEY_BIAS_F32, "f32"},
    {VARLEN, FMHA_KEY_VARLEN_NONE, "none"},
    {VARLEN, FMHA_KEY_VARLEN_PACKED, "packed"},
    {VARLEN, FMHA_KEY_VARLEN_PADDED, "padded"},
    {SINK_KEYS, 0, "off"},
    {SINK_KEYS, 1, "on"},
    {PREFIX, 0, "off"},
    {PREFIX, 1, "on"},
    {SOFTCAP, 0, "off"},
    {SOFTCAP, 1, "on"},
    {ALIBI, 0, "off"},
    {ALIBI, 1, "on"},
    {ATTN_MASK, 0, "off"},
    {ATTN_MASK, 1, "on"},
    {BLOCK_MASK, 0, "off"},
    {BLOCK_MASK, 1, "on"},
    {SINK, 0, "off"},
    {SINK, 1, "on"},
    {HEAD_SCALE, 0, "off"},
    {HEAD_SCALE, 1, "on"},
    {DROPOUT, 0, "off"},
    {DROPOUT, 1, "on"},
    {PAGED, 0, "off"},
    {PAGED, 1, "on"},
    {PARTIAL, FMHA_KEY_PARTIAL_F32, "f32"},
    {PARTIAL, FMHA_KEY_PARTIAL_SAME, "same"},
    {KV_DTYPE, FMHA_KEY_KV_SAME, "same"},
    {KV_DTYPE, FMHA_KEY_KV_E4M3, "e4m3"},
    {KV_DTYPE, FMHA_KEY_KV_E5M2, "e5m2"},
    {KV_DTYPE, FMHA_KEY_KV_E4M3FNUZ, "e4m3fnuz"},
    {KV_DTYPE, FMHA_KEY_KV_E5M2FNUZ, "e5m2fnuz"},
    {KV_DTYPE, FMHA_KEY_KV_MXFP4, "mxfp4"},
    {KV_SCALE, FMHA_KEY_KV_SCALE_HEAD, "head"},
    {KV_SCALE, FMHA_KEY_KV_SCALE_TOKEN, "token"},
    {VALUES, FMHA_KEY_VALUES_ON, "on"},
    {VALUES, FMHA_KEY_VALUES_OFF, "off"},
    {ROTARY, FMHA_KEY_ROTARY_OFF, "off"},
    {ROTARY, FMHA_KEY_ROTARY_NEOX, "neox"},
    {ROTARY, FMHA_KEY_ROTARY_INTERLEAVED, "interleaved"},
    {SCALE_RULE, FMHA_KEY_SCALE_FLOOR, "floor"},
    {SCALE_RULE, FMHA_KEY_SCALE_THREE_QUARTERS, "threequarters"},
    {FROM, FMHA_KEY_FROM_F16, "f16"},
    {FROM, FMHA_KEY_FROM_BF16, "bf16"},
    {FROM, FMHA_KEY_FROM_F32, "f32"},
    {PASS, FMHA_KEY_PASS_NUMBERS, "numbers"},
    {PASS, FMHA_KEY_PASS_SCALES, "scales"},
    {ROWS, FMHA_KEY_ROWS_16, "16"},
    {ROWS, FMHA_KEY_ROWS_32, "32"},
    {ROWS, FMHA_KEY_ROWS_64, "64"},
    {ROWS, FMHA_KEY_ROWS_128, "128"},
};

/* Where a modifier stands in fmha_key.modifiers. */
static const struct {
    uint32_t unit; /* its lowest bit */
    unsigned most; /* its greatest value */
} places[FMHA_KEY_FIELDS] = {
    [WINDOW] = {FMHA_KEY_WINDOW, 1},       [SINK_KEYS] = {FMHA_KEY_SINK_KEYS, 1},
    [PREFIX] = {FMHA_KEY_PREFIX, 1},       [SOFTCAP] = {FMHA_KEY_SOFTCAP, 1},
    [ALIBI] = {FMHA_KEY_ALIBI, 1},         [BIAS] = {FMHA_KEY_BIAS, 2},
    [ATTN_MASK] = {FMHA_KEY_ATTN_MASK, 1}, [BLOCK_MASK] = {FMHA_KEY_BLOCK_MASK, 1},
    [SINK] = {FMHA_KEY_SINK, 1},           [HEAD_SCALE] = {FMHA_KEY_HEAD_SCALE, 1},
    [DROPOUT] = {FMHA_KEY_DROPOUT, 1},     [VARLEN] = {FMHA_KEY_VARLEN, 2},
    [PAGED] = {FMHA_KEY_PAGED, 1},         [PARTIAL] = {FMHA_KEY_PARTIAL, 1},
    [KV_SCALE] = {FMHA_KEY_KV_SCALE, 1},   [VALUES] = {FMHA_KEY_VALUES, 1},
    [ROTARY] = {FMHA_KEY_ROTARY, 2},       [SCALE_RULE] = {FMHA_KEY_SCALE_RULE, 1},
    [FROM] = {FMHA_KEY_FROM, 2},           [PASS] = {FMHA_KEY_PASS, 1},
    [ROWS] = {FMHA_KEY_ROWS, 3},
};

static unsigned get_field(const struct fmha_key *key, int field) {
    switch (field) {
    case OPERATION:
        return key->operation;
    case DTYPE:
        return key->dtype;
    case HEAD_DIM:
        return key->head_dim;
    case HEAD_DIM_V:
        return key->head_dim_v;
    case MASK:
        return key->mask;
    case V_LAYOUT:
        return key->v_layout;
    case ALIGN:
        return key->align;
    case KV_DTYPE:
        return key->kv_dtype;
    case MODIFIER:
        return key->modifier;
    default:
        return key->modifiers / places[field].unit & (places[field].most > 1 ? 3 : 1);
    }
}

static void put_field(struct fmha_key *key, int field, unsigned value) {
    switch (field) {
    case OPERATION:
        key->operation = (uint8_t)value;
        break;
    case DTYPE:
        key->dtype = (uint8_t)value;
        break;
    case HEAD_DIM:
        key->head_dim = (uint16_t)value;
        break;
    case HEAD_DIM_V:
        key->head_dim_v = (uint16_t)value;
        break;
    case MASK:
        key->mask = (uint8_t)value;
        break;
    case V_LAYOUT:
        key->v_layout = (uint8_t)value;
        break;
    case ALIGN:
        key->align = (uint8_t)value;
        break;
    case KV_DTYPE:
        key->kv_dtype = (uint8_t)value;
        break;
    default:
        key->modifiers &= ~(places[field].unit * (places[field].most > 1 ? 3u : 1u));
        key->modifiers |= places[field].unit * value;
        break;
    }
}

static bool is_number(int field) {
    return field == HEAD_DIM || field == HEAD_DIM_V || field == ALIGN;
}

bool fmha_key_has(const struct fmha_key *key, int field) {
    return field < FMHA_KEY_FIELDS_FIRST || get_field(key, field) != 0;
}

void fmha_key_value(const struct fmha_key *key, int field, char text[FMHA_KEY_VALUE_BYTES]) {
    unsigned value = get_field(key, field);
    if (field == MODIFIER) {
        snprintf(text, FMHA_KEY_VALUE_BYTES, value != 0 ? "%08x" : "none", value);
        return;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (words[i].field == field && words[i].number == value) {
            snprintf(text, FMHA_KEY_VALUE_BYTES, "%s", words[i].word);
            return;
        }
    }
    snprintf(text, FMHA_KEY_VALUE_BYTES, "%u", value);
}

/* Eight hexadecimal digits, as fmha_key_value writes them. */
static bool set_hash(struct fmha_key *key, const char *text, size_t length) {
    unsigned value = 0;
    for (size_t i = 0; i < length && length == 8; i++) {
        int digit = hex_digit(text[i]);
        if (digit < 0) {
            return false;
        }
        value = value << 4 | (unsigned)digit;
    }
    if (length == 8) {
        key->modifier = value;
    }
    return length == 8;
}

bool fmha_key_set_value(struct fmha_key *key, int field, const char *text, size_t length) {
    if (field == MODIFIER) {
        return set_hash(key, text, length);
    }
    if (is_number(field)) {
        uint64_t value = 0, most = field == ALIGN ? UINT8_MAX : UINT16_MAX;
        for (size_t i = 0; i < length; i++) {
            if (text[i] < '0' || text[i] > '9') {
                return false;
            }
            value = value * 10 + (uint64_t)(text[i] - '0');
            if (value > most) {
                return false;
            }
        }
        if (length == 0) {
            return false;
        }
        put_field(key, field, (unsigned)value);
        return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (words[i].field == field && strlen(words[i].word) == length && memcmp(words[i].word, text, length) == 0) {
            put_field(key, field, words[i].number);
            return true;
        }
    }
    return false;
}
