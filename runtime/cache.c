/* An image for a key: who makes it, who waits, and what is said of it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache.h"
#include "cache_entry.h"
#include "compiler.h"
#include "driver.h"
#include "hash.h"
#include "lock.h"

/* One request on its way. */
typedef struct request {
    unsigned char *key;
    size_t key_bytes;
    char path[1024]; /* of the folder; why there is none when `folder` is -1 */
    int folder;
    char entry[CACHE_NAME_BYTES], lock[CACHE_NAME_BYTES];
    const void *refused; /* an image that is not taken from the cache; NULL: none */
    size_t refused_bytes;
    int lock_file;                /* -1: nobody waits for this request */
    int waited_seconds;           /* for a holder that did not end; 0: none */
    char was[CACHE_REASON_BYTES]; /* what is wrong with the entry that is there; "" when none is */
    uint64_t limit_bytes;
    const char *limit_remark;
} request;

static void say(struct fmha_cache_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds to the note. */
static void say(struct fmha_cache_result *result, const char *format, ...) {
    size_t length = strlen(result->note);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->note + length, sizeof result->note - length, format, arguments);
    va_end(arguments);
}

/* ---- The key --------------------------------------------------------------------------------------------- */

/* All members in one sequence of bytes: words that end with a NUL, the last one the text. */
static bool make_key(const struct fmha_cache_key *key, request *r) {
    char wave[16];
    snprintf(wave, sizeof wave, "%d", key->wave);
    const char *const words[] = {"image", key->arch, key->symbol, key->identity, wave, key->source};
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        bytes += strlen(words[i]) + 1;
    }
    r->key = malloc(bytes);
    r->key_bytes = bytes;
    size_t at = 0;
    for (size_t i = 0; r->key != NULL && i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]) + 1;
        memcpy(r->key + at, words[i], length);
        at += length;
    }
    return r->key != NULL;
}

/* ---- The lock -------------------------------------------------------------------------------------------- */

/* Becomes the one that makes the image, or waits for it: afterwards the entry is worth another look. Without a lock
 * (r->lock_file is -1) the image is made all the same. */
static void take_lock(request *r) {
    int seconds;
    if (fmha_compile_limit(&seconds) != FMHA_OK) {
        seconds = FMHA_COMPILE_SECONDS_DEFAULT; /* the compiler's error will say what is wrong */
    }
    enum fmha_lock lock = fmha_lock_take(r->folder, r->lock, INT64_C(1000) * seconds, &r->lock_file);
    r->waited_seconds = lock == FMHA_LOCK_HELD ? seconds : 0;
}

/* ---- Looking, making, keeping ---------------------------------------------------------------------------- */

/* Opens the folder. False when there is no cache, and why in r->path. */
static bool open_folder(request *r) {
    char reason[CACHE_REASON_BYTES];
    r->folder = -1;
    r->lock_file = -1;
    if (!fmha_cache_limit(&r->limit_bytes)) {
        r->limit_remark = "; FMHA_CACHE_MAX_MIB: expected a whole number from 0 to 1048576, so it is 512";
    }
    if (r->limit_bytes == 0) {
        snprintf(r->path, sizeof r->path, "FMHA_CACHE_MAX_MIB is 0");
    } else if (fmha_cache_folder(r->path, sizeof r->path)) {
        r->folder = fmha_cache_open(r->path, reason);
        if (r->folder < 0) {
            size_t length = strlen(r->path), room = sizeof r->path - CACHE_REASON_BYTES;
            length = length < room ? length : room - 1;
            snprintf(r->path + length, CACHE_REASON_BYTES, " %s", reason);
        }
    }
    return r->folder >= 0;
}

static bool is_refused(const request *r, const struct fmha_cache_result *result) {
    return r->refused != NULL && result->image_bytes == r->refused_bytes &&
           memcmp(result->image, r->refused, r->refused_bytes) == 0;
}

/* True when the request is answered: from the cache, or by *status. */
static bool look(request *r, struct fmha_cache_result *result, fmha_status *status) {
    char reason[CACHE_REASON_BYTES] = "";
    cache_found found =
        fmha_cache_read(r->folder, r->entry, r->key, r->key_bytes, &result->image, &result->image_bytes, reason);
    if (found == CACHE_FOUND && is_refused(r, result)) {
        free(result->image);
        result->image = NULL;
        found = CACHE_UNUSABLE;
        snprintf(reason, sizeof reason, "refused by the driver");
    }
    memcpy(r->was, reason, sizeof reason);
    if (found == CACHE_NO_MEMORY) {
        *status = fmha_fail(FMHA_ERROR_MEMORY, "%s/%s: no memory for what it holds", r->path, r->entry);
    } else if (found == CACHE_FOUND) {
        *status = FMHA_OK;
        result->hit = true;
        say(result, "read from %.380s/%s", r->path, r->entry);
    }
    return found == CACHE_NO_MEMORY || found == CACHE_FOUND;
}

static void keep(const request *r, struct fmha_cache_result *result) {
    char reason[CACHE_REASON_BYTES];
    if (r->key_bytes + result->image_bytes > r->limit_bytes || result->image_bytes > CACHE_VALUE_MAX) {
        say(result, "compiled; its %zu bytes are more than the cache may have (FMHA_CACHE_MAX_MIB), so it is not kept",
            result->image_bytes);
    } else if (fmha_cache_write(r->folder, r->entry, r->key, r->key_bytes, result->image, result->image_bytes,
                                reason)) {
        say(result, "compiled, kept as %.300s/%s%s%s", r->path, r->entry, r->was[0] != '\0' ? ", which was " : "",
            r->was);
        fmha_cache_clean(r->folder, r->limit_bytes, r->entry);
    } else {
        say(result, "compiled; %.300s/%s %s, so it is not kept", r->path, r->entry, reason);
    }
    if (r->waited_seconds > 0) {
        say(result, "; another process held %s for %d s", r->lock, r->waited_seconds);
    }
    say(result, "%s", r->limit_remark);
}

static fmha_status get(request *r, fmha_cache_make make, void *context, struct fmha_cache_result *result) {
    fmha_status status;
    if (!open_folder(r)) {
        status = make(context, &result->image, &result->image_bytes);
        if (status == FMHA_OK) {
            say(result, "compiled; there is no cache: %.400s", r->path);
        }
        return status;
    }
    if (look(r, result, &status)) {
        return status;
    }
    take_lock(r);
    if (!look(r, result, &status)) {
        status = make(context, &result->image, &result->image_bytes);
        if (status == FMHA_OK) {
            keep(r, result);
        }
    }
    if (r->lock_file >= 0) {
        fmha_lock_release(r->folder, r->lock, r->lock_file);
    }
    return status;
}

static fmha_status answer(request *r, const uint64_t *hash, const struct fmha_cache_key *key, fmha_cache_make make,
                          void *context, struct fmha_cache_result *result) {
    memset(result, 0, sizeof *result);
    if (!make_key(key, r)) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for its key in the cache", key->symbol);
    }
    uint64_t named = hash != NULL ? *hash : fmha_hash(0, r->key, r->key_bytes);
    fmha_cache_name(named, CACHE_IMAGE, r->entry);
    fmha_cache_name(named, CACHE_LOCK, r->lock);
    fmha_status status = get(r, make, context, result);
    if (r->folder >= 0) {
        close(r->folder);
    }
    free(r->key);
    if (status != FMHA_OK) {
        memset(result, 0, sizeof *result);
    }
    return status;
}

fmha_status fmha_cache_get_as(const uint64_t *hash, const struct fmha_cache_key *key, fmha_cache_make make,
                              void *context, struct fmha_cache_result *result) {
    request r = {.limit_remark = ""};
    return answer(&r, hash, key, make, context, result);
}

fmha_status fmha_cache_get(const struct fmha_cache_key *key, fmha_cache_make make, void *context,
                           struct fmha_cache_result *result) {
    return fmha_cache_get_as(NULL, key, make, context, result);
}

fmha_status fmha_cache_replace(const struct fmha_cache_key *key, const void *refused, size_t refused_bytes,
                               fmha_cache_make make, void *context, struct fmha_cache_result *result) {
    request r = {.limit_remark = "", .refused = refused, .refused_bytes = refused_bytes};
    return answer(&r, NULL, key, make, context, result);
}
