#include "key.h"

#include <string.h>

#define FNV_START UINT64_C(14695981039346656037)
#define FNV_PRIME UINT64_C(1099511628211)

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

bool fmha_key_equal(const struct fmha_key *left, const struct fmha_key *right) {
    return memcmp(left, right, sizeof *left) == 0;
}

uint64_t fmha_key_hash(const struct fmha_key *key) {
    const unsigned char *bytes = (const unsigned char *)key;
    uint64_t hash = FNV_START;
    for (size_t i = 0; i < sizeof *key; i++) {
        hash = (hash ^ bytes[i]) * FNV_PRIME;
    }
    return hash;
}
