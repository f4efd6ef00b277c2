/* What every device has that runs kernels on this machine's processor, whatever it runs of them: memory with its
 * tensors, findings, options. It is the first member of such a device's state, so that these functions serve a driver's
 * table as they are. */
#ifndef EMU_STATE_H
#define EMU_STATE_H

#include <stdbool.h>

#include "chips.h"
#include "driver.h"
#include "findings.h"
#include "memory.h"

enum {
    EMU_LANES_MAX = 1024, /* work items of a workgroup */
    EMU_THREADS_MAX = 256
};

typedef struct emu_state {
    const char *driver; /* "emu", for errors */
    const emu_chip *chip;
    char arch[64]; /* the chip with the features that were asked for: "gfx942:xnack-" */
    char name[96]; /* of the device, for people */
    emu_memory memory;
    emu_findings findings;
    uint64_t seed;
    unsigned threads, seconds;
    uint32_t launches;
    char symbol[256]; /* of the kernel that was launched last */
    bool checks;
    unsigned count, count_most; /* the option of that name, and the most that the device knows */
    bool *lines;                /* the option of that name; NULL: the device has none */
    bool given_up; /* a workgroup since the last synchronization, so that outputs lack what it would have written */
} emu_state;

/* A chip of the families that the device runs, by its selector, options from variables of the environment: `prefix`
 * "FMHA_EMU" and _SEED, _THREADS, _SECONDS. `title` begins the device's name: "emulated". On failure nothing needs to
 * be closed. */
fmha_status emu_state_open(emu_state *state, const char *driver, unsigned families, const char *prefix,
                           const char *title, const char *selector);
void emu_state_close(emu_state *state);
/* Chip, name and limits, for a driver that adds its name and image kind. */
fmha_device_info emu_state_info(const emu_state *state);

/* ---- As driver.h has them -------------------------------------------------------------------------------------------
 */

fmha_status emu_state_memory_alloc(void *state, size_t bytes, const char *label, void **address);
fmha_status emu_state_memory_free(void *state, void *address);
fmha_status emu_state_memory_write(void *state, void *to, const void *from_host, size_t bytes);
fmha_status emu_state_memory_read(void *state, void *to_host, const void *from, size_t bytes);
fmha_status emu_state_memory_view(void *state, const fmha_tensor_view *view);
fmha_status emu_state_set(void *state, const char *option, int64_t value);
/* Launches run to their end before they return; what is left to report is what they found, elements that none of them
 * wrote among it. */
fmha_status emu_state_synchronize(void *state, void *stream);
fmha_status emu_state_findings(void *state, const fmha_finding **list, size_t *count);
fmha_status emu_state_clear_findings(void *state);

/* ---- Launches -------------------------------------------------------------------------------------------------------
 */

/* Whether a kernel that wants `argument_bytes` can be launched so. */
fmha_status emu_state_check_launch(const emu_state *state, const char *symbol, size_t argument_bytes,
                                   const fmha_launch_config *config);
/* A launch has ended; `checked`: it told who wrote what. */
void emu_state_note_launch(emu_state *state, bool gave_up, bool checked);

/* How much was found by now. */
typedef struct emu_state_mark {
    size_t count;
    unsigned long long times;
} emu_state_mark;

emu_state_mark emu_state_mark_here(const emu_state *state);
/* Ends a launch that was measured, and came to `launched`. One that has found anything since the mark, new or known,
 * fails: it costs nothing that could be told, for it is wrong. Older findings are no fault of this launch. */
fmha_status emu_state_measured(emu_state *state, emu_state_mark before, void *stream, fmha_status launched);

#endif
