/* From a problem to a launch. Any operation: what it computes is in its key, what it computes with in its operands. */
#ifndef FMHA_DISPATCH_H
#define FMHA_DISPATCH_H

#include "descriptor.h"
#include "fmha.h"

struct fmha_dispatch;

fmha_status fmha_dispatch_create(fmha_device *device, struct fmha_dispatch **dispatch);
void fmha_dispatch_free(struct fmha_dispatch *dispatch); /* NULL is accepted */

/* Sets a key to zeros but for its version and the device's target. */
void fmha_dispatch_key(const fmha_device *device, struct fmha_key *key);

/* Everything that a launch takes but the stream; `workgroups` is 0 when the problem has nothing to compute. */
struct fmha_plan {
    fmha_kernel *kernel;
    uint32_t grid[3];
    uint32_t workgroup;
    uint32_t argument_bytes;
    bool empty;
    _Alignas(16) unsigned char arguments[FMHA_ARGUMENT_BYTES_MAX];
};

/* Finds the instance of a problem, loads it if it is the first of its kind, and packs its arguments. For kinds that
 * were met before: no lock, no allocation. `key->align` is what addresses and strides have in common, 16 or 2. */
fmha_status fmha_dispatch_plan(fmha_device *device, const struct fmha_key *key, const struct fmha_operands *operands,
                               struct fmha_plan *plan);

/* Starts on the driver's stream what was planned, if that is not empty. */
fmha_status fmha_dispatch_start(fmha_device *device, const struct fmha_plan *plan, void *stream);

/* Plans and starts it. */
fmha_status fmha_dispatch_launch(fmha_device *device, const struct fmha_key *key, const struct fmha_operands *operands,
                                 void *stream);

fmha_status fmha_dispatch_explain(fmha_device *device, const struct fmha_key *key, const struct fmha_operands *operands,
                                  fmha_explain_visit visit, void *context);

/* Every instance that serves the problem, in the order of preference, loaded and with its arguments packed, for the
 * tuner. *count is how many there are; at most `room` are filled. An instance that does not load is left out. */
struct fmha_dispatch_candidate {
    const struct fmha_descriptor *instance;
    const char *library;
    struct fmha_plan plan;
};
fmha_status fmha_dispatch_candidates(fmha_device *device, const struct fmha_key *key,
                                     const struct fmha_operands *operands, struct fmha_dispatch_candidate *candidates,
                                     size_t room, size_t *count);

/* As fmha_forward_tune, of any operation; `function` is who is asked (tune.c). */
fmha_status fmha_tune(fmha_device *device, const char *function, const struct fmha_key *key,
                      const struct fmha_operands *operands, void *stream, const fmha_tune_options *options,
                      fmha_tune_visit visit, void *context);

/* Makes a choice the device's at once, and one of those that fmha_device_save_choices writes. */
struct fmha_choice;
fmha_status fmha_dispatch_choose(fmha_device *device, const struct fmha_choice *choice);

#endif
