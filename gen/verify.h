/* Verification of an instance: runs it on a device and holds every element it wrote against a float64 reference, with
 * derived bounds. What is checked and why the bounds hold is in docs/verification.md. */
#ifndef GEN_VERIFY_H
#define GEN_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "modifiers.h"
#include "spec.h"
#include "verify_report.h"

struct template_engine;

enum verify_inputs {
    VERIFY_INPUTS_DEFAULT, /* standing shapes: each case its own kind; given shapes: random, then unbalanced */
    VERIFY_INPUTS_RANDOM,
    VERIFY_INPUTS_UNBALANCED,
    VERIFY_INPUTS_IMPULSE,
    VERIFY_INPUTS_LARGE
};

enum verify_layout {
    VERIFY_LAYOUT_DEFAULT, /* standing shapes: each case its own; given shapes: bshd */
    VERIFY_LAYOUT_BSHD,    /* [batch][seqlen][heads][head_dim] */
    VERIFY_LAYOUT_BHSD     /* [batch][heads][seqlen][head_dim] */
};

struct verify_options {
    const struct verify_shape *shapes; /* NULL with count 0: the standing set, made from the instance's tiles */
    size_t shape_count;
    /* [batch] of a single given shape, lengths of sequences up to its own; NULL: each sequence another. A shape with 0
     * query heads has as many as a workgroup fuses. */
    const int64_t *lengths_q, *lengths_k;
    const struct verify_pack_shape *pack_shapes; /* the same for instances of pack */
    size_t pack_shape_count;
    const struct verify_merge_shape *merge_shapes; /* and of merge */
    size_t merge_shape_count;
    const struct verify_append_shape *append_shapes; /* and of append */
    size_t append_shape_count;
    const struct verify_quantize_shape *quantize_shapes; /* and of quantize */
    size_t quantize_shape_count;
    uint64_t seed;
    double scale; /* softmax scale of every case; NAN: 1/sqrt(head_dim), in some standing cases another */
    struct modifiers_values values; /* of kernels that take them; what is not given is each case's own */
    int64_t page_size;              /* of given shapes where K and V are paged: a power of two, 1 to 256 */
    enum verify_inputs inputs;
    enum verify_layout layout;
    int64_t splits; /* of decoding, for all cases; 0: each its own */
    int schedules;  /* 1 and up: runs of each case, each with the waves in another order; results must be the same */
    bool without_checks; /* of every access to memory, on an emulated device */
    bool count;          /* what the kernel does, on an emulated device */
    const char *device;  /* "emu:gfx1151", "hip:1"; "isa": "isa:" and the spec's arch; NULL: "emu:" and that */
    /* Called as cases go on, by one thread at a time; NULL: never. `index` of `count` cases; `what` is under way:
     * "as asked for: reference, 40 %". */
    void (*progress)(void *context, size_t index, size_t count, const char *what);
    void *progress_context;
    /* A file whose HIP text is compiled in place of the instance's own: same kernel name, arguments and descriptor.
     * NULL: none. */
    const char *source_path;
    /* A code object that is run in place of what that text compiles to: same kernel name, arguments and descriptor. For
     * a device that runs code objects. NULL: none. */
    const char *object_path;
    bool fail_fast; /* no case is run after the first that has a finding */
};

/* The defaults: standing set, seed 1, one schedule, scale NAN, own inputs and layouts, emulated device. */
void verify_options_init(struct verify_options *options);

/* Whether it executes here, on the processor: NULL and what begins with "emu" or "isa". */
bool verify_device_is_here(const char *device);

/* The words of --inputs and --layout; false for any other word. */
bool verify_inputs_parse(const char *word, enum verify_inputs *inputs);
bool verify_layout_parse(const char *word, enum verify_layout *layout);

/* Emits, compiles, loads and runs the instance of a resolved spec. Returns false when it could not be run to the end:
 * an emit or compile error, no such device, a shape or scale that the instance's constraints refuse (ERROR_USAGE,
 * before anything runs), scores that float32 does not hold (ERROR_USAGE). A kernel that is wrong is no such error: true
 * is returned and report->passed is false. On true the report must be freed; on false it needs no free. */
bool verify_run(struct template_engine *engine, const struct spec *spec, const struct verify_options *options,
                struct verify_report *report, struct error *error);

#endif
