#include "sweep.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void __wrap_free(void *block);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t most);
int __wrap_vasprintf(char **text, const char *format, va_list arguments);
int __wrap_asprintf(char **text, const char *format, ...);

static atomic_long blocks;
static atomic_uint made;   /* allocations since the run began */
static atomic_uint fails;  /* the number of the one that fails; 0: none */
static atomic_bool all_on; /* and all after it */

long sweep_blocks(void) {
    return atomic_load(&blocks);
}

static bool may(void) {
    unsigned number = atomic_fetch_add(&made, 1) + 1;
    unsigned failing = atomic_load(&fails);
    if (failing != 0 && (number == failing || (number > failing && atomic_load(&all_on)))) {
        errno = ENOMEM;
        return false;
    }
    return true;
}

static void *count(void *block) {
    atomic_fetch_add(&blocks, block != NULL);
    return block;
}

void *__wrap_malloc(size_t bytes) {
    return may() ? count(__real_malloc(bytes)) : NULL;
}

void *__wrap_calloc(size_t number, size_t bytes) {
    return may() ? count(__real_calloc(number, bytes)) : NULL;
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    return may() ? count(__real_aligned_alloc(alignment, bytes)) : NULL;
}

void *__wrap_realloc(void *block, size_t bytes) {
    if (!may()) {
        return NULL;
    }
    void *moved = __real_realloc(block, bytes);
    if (block == NULL) {
        count(moved);
    } else if (bytes == 0 && moved == NULL) {
        atomic_fetch_sub(&blocks, 1);
    }
    return moved;
}

void __wrap_free(void *block) {
    atomic_fetch_sub(&blocks, block != NULL);
    __real_free(block);
}

char *__wrap_strndup(const char *text, size_t most) {
    size_t length = strnlen(text, most);
    char *copy = __wrap_malloc(length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

char *__wrap_strdup(const char *text) {
    return __wrap_strndup(text, strlen(text));
}

int __wrap_vasprintf(char **text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    *text = length >= 0 ? __wrap_malloc((size_t)length + 1) : NULL;
    return *text != NULL ? vsnprintf(*text, (size_t)length + 1, format, arguments) : -1;
}

int __wrap_asprintf(char **text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = __wrap_vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

sweep_result sweep(sweep_work work, void *context, sweep_mode mode) {
    sweep_result result = {0};
    atomic_store(&all_on, mode == SWEEP_ALL_ON);
    for (unsigned number = 1;; number++) {
        long before = atomic_load(&blocks);
        atomic_store(&made, 0);
        atomic_store(&fails, number);
        sweep_outcome outcome = work(context);
        atomic_store(&fails, 0);
        bool failed = atomic_load(&made) >= number;
        long lost = atomic_load(&blocks) - before;
        if (failed) {
            result.visited++;
            result.recovered += outcome == SWEEP_DONE;
        }
        if (result.first_bad == 0 &&
            (lost > 0 || outcome == SWEEP_SILENT_ERROR || (!failed && outcome != SWEEP_DONE))) {
            result.first_bad = number;
            snprintf(result.what, sizeof result.what, "%s, %ld blocks lost",
                     outcome == SWEEP_SILENT_ERROR ? "failed without a word"
                     : outcome == SWEEP_ERROR      ? "failed"
                                                   : "was done",
                     lost);
        }
        if (!failed) {
            return result;
        }
    }
}
