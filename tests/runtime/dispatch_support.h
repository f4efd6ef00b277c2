/* What the tests of dispatch share: libraries that they write by hand, over the driver that records. */
#ifndef TESTS_RUNTIME_DISPATCH_SUPPORT_H
#define TESTS_RUNTIME_DISPATCH_SUPPORT_H

#include <stddef.h>

#include "fake/driver.h"
#include "fmha.h"
#include "support.h"

extern fake_driver_record *fake;
extern char folder[256]; /* a fresh one for each test, with a blank in its name; the cache is in it */

/* .init of the suites: no library, no log, no generator, an empty cache. */
void dispatch_set_up(void);
void dispatch_tear_down(void); /* at the end of each test, in the test itself */

fmha_device *dispatch_open(void); /* "emu:gfx1151", played by the driver that records */

/* An instance as an index has it. What is NULL or 0 is as most have it. */
struct test_instance {
    const char *name;
    const char *operation; /* "forward"; "merge" has a dtype and an alignment alone */
    const char *target;    /* "gfx1151" */
    const char *dtype;     /* "f16" */
    const char *mask;      /* "none" */
    const char *v_layout;  /* "row" */
    int head_dim;          /* 128 */
    int align;             /* 16 */
    int rank;
    const char *grid;            /* "ceil_div(seqlen_q, 64)" */
    const char *constraint;      /* "max 1048576 seqlen_q" */
    const char *modifiers;       /* words of its key behind the others: "softcap=on" */
    const char *arguments;       /* lines that follow its arguments, from byte 160 of a block of 1024 */
    const char *object, *source; /* what is in the files NAME.hsaco and NAME.hip; NULL: not in the index */
};

/* Writes PARENT/NAME/gfx1151 with its files and index, and puts PARENT/NAME into `path`.
 */
void dispatch_write(const char *name, const struct test_instance *instances, size_t count, char path[512]);

/* The same in one: a library that is in FMHA_LIBRARY_PATH. */
void dispatch_library(const char *name, const struct test_instance *instances, size_t count);

/* f16, 128 dimensions, 2 heads over 1, 100 queries and 70 keys, aligned addresses that nobody reads. */
fmha_forward_problem dispatch_problem(void);

/* What fmha_forward_explain tells of the libraries in `folder`, one line for each: "LIBRARY/INSTANCE[ *] VERDICT",
 * with "$" for the folder. *status is what it returned. */
const char *dispatch_explain(fmha_device *device, const fmha_forward_problem *problem, fmha_status *status);

/* The last error with "$" for the folder. */
const char *dispatch_error(void);

void dispatch_expect(fmha_status got, fmha_status expected, const char *text);

/* A whole file, malloc'ed; the test fails when there is none. */
char *dispatch_read(const char *path);

#endif
