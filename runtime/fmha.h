/* libfmha: attention kernels for AMD GPUs, found, loaded and launched.
 *
 * Conventions of this header
 *   - Every function returns an fmha_status; FMHA_OK is 0. On any other value fmha_last_error() says, for the calling
 *     thread, what was expected, what was got and what to do about it. No function aborts, exits or prints
 *     (but for libLLVM, which the device isa opens: it ends the process when memory is exhausted).
 *   - Sizes ending in _bytes are bytes; strides are in elements.
 *   - A pointer parameter must not be NULL unless its comment says that NULL is accepted; a NULL that is not accepted
 *     returns FMHA_ERROR_ARGUMENT.
 *   - Every function may be called by several threads at once, on one device too, with these exceptions: nothing may
 *     use a device while it is closed or after, nor a module while it is unloaded; and what fmha_device_findings and
 *     fmha_device_counters hand out is valid until any thread launches on that device.
 *   - Structs that callers fill and that may grow begin with their size: `struct_bytes`. A library that is newer than
 *     the caller's header reads what is there; one that is older refuses what it does not know unless it is zero.
 *     Structs that callbacks receive may grow at their end. All others keep the members that they have.
 */
#ifndef FMHA_H
#define FMHA_H

#ifdef _WIN32
#error "libfmha runs on Linux; Windows is not supported yet"
#endif

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the interface between generated kernels and this library. Generated text refuses to compile under another.
 */
#define FMHA_ABI_VERSION 1

#if defined(__GNUC__)
#define FMHA_API __attribute__((visibility("default")))
#else
#define FMHA_API
#endif

typedef enum fmha_status {
    FMHA_OK = 0,
    FMHA_ERROR_ARGUMENT,    /* a parameter is outside what this header promises to accept */
    FMHA_ERROR_NO_DRIVER,   /* the driver's library is not on this machine or is too old */
    FMHA_ERROR_NO_DEVICE,   /* the driver is there and reports no device, or not the one asked for */
    FMHA_ERROR_WRONG_CHIP,  /* the code is for another chip than the device */
    FMHA_ERROR_NO_COMPILER, /* no compiler that knows the chip was found */
    FMHA_ERROR_COMPILE,     /* a compiler ran and failed; its own words are in the message */
    FMHA_ERROR_MEMORY,      /* host or device memory is exhausted */
    FMHA_ERROR_IO,          /* a file could not be read or written */
    FMHA_ERROR_DRIVER,      /* the driver returned an error of its own */
    FMHA_ERROR_UNSUPPORTED, /* the driver cannot do this */
    FMHA_ERROR_KERNEL,      /* the kernel ran and did something that a kernel must not do (emulated devices) */
    FMHA_ERROR_NO_INSTANCE  /* no instance serves the problem; the message says which came closest and what would */
} fmha_status;

/* Text of the last error of the calling thread, never NULL, "" if there was none. Valid until the thread's next call.
 */
FMHA_API const char *fmha_last_error(void);

/* Short constant name of a status, for logs: "FMHA_ERROR_NO_DEVICE". Never NULL. */
FMHA_API const char *fmha_status_name(fmha_status status);

/* ---- Devices ------------------------------------------------------------------------------------------------------
 */

typedef struct fmha_device fmha_device;
typedef struct fmha_module fmha_module;
typedef struct fmha_kernel fmha_kernel;

/* What a driver's `load` takes. */
typedef enum fmha_image_kind {
    FMHA_IMAGE_CODE_OBJECT, /* ELF code object as `fmhagen build` writes it (drivers hip, isa), or nvcc (cuda) */
    FMHA_IMAGE_HOST_OBJECT /* shared object for the host, made by the emulated device's own compile step (driver emu) */
} fmha_image_kind;

typedef struct fmha_device_info {
    const char *driver; /* "emu", "cuda"; owned by the library, valid while the device is open (as the two below) */
    const char *arch;   /* gfx target with its feature suffixes, "gfx1151", "gfx942:sramecc+:xnack-", or "sm_90" */
    const char *name;   /* for people: "AMD Radeon 8060S", "emulated gfx1151" */
    fmha_image_kind image_kind;
    int ordinal;                /* the driver's number of the device, from 0 */
    int compute_units;          /* at least 1, as the driver counts them (HIP on RDNA: workgroup processors) */
    size_t lds_bytes_workgroup; /* largest LDS allocation of one workgroup */
} fmha_device_info;

/* Opens a device by name: "emu:gfx1151" (the emulated device for a chip), "isa:gfx1151" (the device that executes the
 * chip's code objects on this machine), "hip" (the first HIP device), "hip:1", "cuda", "cuda:1".
 * On success *device must be closed by fmha_device_close. On failure *device is set to NULL. */
FMHA_API fmha_status fmha_device_open(const char *name, fmha_device **device);

/* Closes a device and everything that was made with it. NULL is accepted and does nothing. */
FMHA_API void fmha_device_close(fmha_device *device);

FMHA_API fmha_status fmha_device_get_info(const fmha_device *device, fmha_device_info *info);

/* Device memory of `bytes` bytes (1 and up), aligned to at least 256. `label` names the buffer in the findings of an
 * emulated device ("q", "lse"); NULL is accepted. Free with fmha_memory_free or by closing the device. */
FMHA_API fmha_status fmha_memory_alloc(fmha_device *device, size_t bytes, const char *label, void **address);
FMHA_API fmha_status fmha_memory_free(fmha_device *device, void *address); /* NULL is accepted and does nothing */

/* Copies; complete when they return. Both ranges must lie in one allocation each. bytes may be 0. */
FMHA_API fmha_status fmha_memory_write(fmha_device *device, void *to, const void *from_host, size_t bytes);
FMHA_API fmha_status fmha_memory_read(fmha_device *device, void *to_host, const void *from, size_t bytes);

/* What kernels may do with a tensor. */
typedef enum fmha_access { FMHA_ACCESS_READ = 1, FMHA_ACCESS_WRITE = 2, FMHA_ACCESS_READ_WRITE = 3 } fmha_access;

#define FMHA_VIEW_DIMENSIONS_MAX 6

/* A tensor in device memory: element (i, j, …) stands at address + element_bytes * (i * strides[0] + j * strides[1] +
 * …).
 */
typedef struct fmha_tensor_view {
    const char *label; /* names the tensor in findings and counters; copied, up to 31 bytes of it */
    void *address;     /* of element (0, 0, …) */
    size_t element_bytes;
    int dimensions;                            /* 1 to FMHA_VIEW_DIMENSIONS_MAX */
    int64_t shape[FMHA_VIEW_DIMENSIONS_MAX];   /* 0 and up; with a 0 the tensor has no element */
    int64_t strides[FMHA_VIEW_DIMENSIONS_MAX]; /* elements, 0 and up */
    fmha_access access;
} fmha_tensor_view;

/* Declares a tensor. On an emulated device kernels may from then on touch nothing of that allocation but the elements
 * of the tensors declared in it, each only as its access allows, and every element of one with FMHA_ACCESS_WRITE must
 * have been written when the device is next synchronized after a launch. Where tensors overlap, the one declared last
 * holds. All elements must lie in one allocation, at most 254 tensors in each. A declaration ends with its allocation.
 * Real devices check the view and ignore it. */
FMHA_API fmha_status fmha_memory_view(fmha_device *device, const fmha_tensor_view *view);

/* Source text that a device can make into an image of its kind. */
typedef struct fmha_source {
    const char *text;   /* HIP C as fmhagen emits it, NUL-terminated */
    const char *symbol; /* the kernel's name in it, up to 400 letters */
    const char *path;   /* file name for diagnostics; NULL: "<symbol>.hip" */
    int wave;           /* 32 or 64: lanes of a wave */
} fmha_source;

/* Compiles source for the device. On success *image is malloc'ed, *image_bytes long; the caller frees it with free().
 */
FMHA_API fmha_status fmha_source_compile(fmha_device *device, const fmha_source *source, void **image,
                                         size_t *image_bytes);

/* Loads an image of the device's kind; the bytes are copied. Unload with fmha_module_unload or by closing the device.
 */
FMHA_API fmha_status fmha_module_load(fmha_device *device, const void *image, size_t image_bytes, fmha_module **module);
FMHA_API fmha_status fmha_module_unload(fmha_module *module); /* NULL is accepted and does nothing */

/* A kernel of a module by its symbol. It lives as long as the module. */
FMHA_API fmha_status fmha_module_kernel(fmha_module *module, const char *symbol, fmha_kernel **kernel);

typedef struct fmha_launch_config {
    uint32_t grid[3];         /* workgroups, 1 and up; times the workgroup below 2^32 in each dimension */
    uint32_t workgroup[3];    /* work items, product 1 to 1024 */
    size_t lds_dynamic_bytes; /* beside what the kernel declares; usually 0 */
    const void *arguments;    /* the kernel's argument block, laid out as its NAME.json says; copied */
    size_t argument_bytes;    /* its size, at most 65536 */
    void *stream;             /* the driver's stream (hipStream_t); NULL: the default stream */
} fmha_launch_config;

/* Starts a kernel. A zero in grid or workgroup returns FMHA_ERROR_ARGUMENT. Returns before the kernel ends. */
FMHA_API fmha_status fmha_kernel_launch(fmha_kernel *kernel, const fmha_launch_config *config);

/* Waits for everything started on the stream (NULL: the whole device) and returns the first error of it. On an emulated
 * device FMHA_ERROR_KERNEL means that there are findings. */
FMHA_API fmha_status fmha_device_synchronize(fmha_device *device, void *stream);

/* What an emulated device found wrong in the kernels it ran. */
typedef struct fmha_finding {
    const char *kind; /* constant word: "divergent-collective", "out-of-bounds", … */
    const char *text; /* one line: what, where (kernel's file:line, workgroup, wave, lane), and what would cure it */
} fmha_finding;

/* The findings since the device was opened or they were last cleared; 0 on a real device. *findings is owned by the
 * device and valid until its next launch, clear or close. */
FMHA_API fmha_status fmha_device_findings(fmha_device *device, const fmha_finding **findings, size_t *count);
FMHA_API fmha_status fmha_device_clear_findings(fmha_device *device);

/* Sets an option of an emulated device; real devices have none and return FMHA_ERROR_UNSUPPORTED. An unknown option and
 * a value out of bounds return FMHA_ERROR_ARGUMENT.
 *   - "seed": order of the waves between barriers in the launches that follow, 0 and up; 0: of their numbers (default)
 *   - "threads": threads that run workgroups, 0 to 256; 0 (default): one for each processor
 *   - "seconds": processor time that a workgroup may take, 0 to 1000000; 0: any; default 120
 *   - "checks": 1 (default): every access to memory is checked, on "emu" in the kernels compiled from now on, on "isa"
 *     in the launches that follow; 0: they run faster
 *   - "count": 1: the launches that follow are counted (fmha_device_counters), which takes longer; 2, on "isa" alone:
 * by instruction too; default 0
 *   - "lines", on "isa" alone: 1: kernels compiled from now on carry the lines of their source, for findings; default 0
 */
FMHA_API fmha_status fmha_device_set(fmha_device *device, const char *option, int64_t value);

/* One number that an emulated device counted. */
typedef struct fmha_counter {
    const char *name;   /* "matrix_instructions", "bytes_read", … (docs/emulator.md and docs/isa.md list them) */
    const char *tensor; /* label of the tensor or buffer that it is about, or "SYMBOL:0x1a30" of the instruction at that
                         * address of a code object; NULL: of the whole */
    uint64_t value;
} fmha_counter;

/* What was counted in the launches since the device was opened or its counters were last cleared; 0 counters on a real
 * device or where nothing was counted. *counters is owned by the device and valid until its next launch, clear or
 * close.
 */
FMHA_API fmha_status fmha_device_counters(fmha_device *device, const fmha_counter **counters, size_t *count);
FMHA_API fmha_status fmha_device_clear_counters(fmha_device *device);

/* ---- Attention ----------------------------------------------------------------------------------------------------
 *
 * One call computes O = softmax(scale Q K^T + mask) V and, when asked, LSE = log sum exp of the scaled and masked
 * scores in the natural logarithm. A row that sees no key gets O = 0 and LSE = -infinity.
 *
 * Instances come from, in this order: libraries added to the device, libraries linked into the program, the folders of
 * $FMHA_LIBRARY_PATH (separated by colons), the folder fmha/ beside libfmha; each as a code object or, where there is
 * only its text or the device runs no code objects, compiled on first use and kept in the user's cache. $FMHA_LOG
 * ("stderr" or a file) has one line for each step, $FMHA_DUMP (a folder) receives each text, image and launch.
 */

enum fmha_dtype {
    FMHA_DTYPE_F16 = 1,
    FMHA_DTYPE_BF16 = 2,
    FMHA_DTYPE_F32 = 3 /* of a bias and of partial results alone */
};
enum fmha_mask {
    FMHA_MASK_NONE = 0,
    FMHA_MASK_CAUSAL_BOTTOM_RIGHT = 1, /* query i sees keys up to i + seqlen_k - seqlen_q */
    FMHA_MASK_CAUSAL_TOP_LEFT = 2      /* query i sees keys up to i */
};
enum fmha_v_layout { FMHA_V_ROW = 0, FMHA_V_TRANSPOSED = 1 };

/* How the sequences of a batch, which differ in length, lie. */
enum fmha_varlen {
    FMHA_VARLEN_NONE = 0,   /* all are seqlen_q and seqlen_k long */
    FMHA_VARLEN_PACKED = 1, /* one behind the other: sequence b has the rows cu_seqlens_q[b] to cu_seqlens_q[b + 1] */
    FMHA_VARLEN_PADDED = 2  /* each in a place of seqlen_q and seqlen_k rows, of which it fills the first */
};

/* Of a cache's K and V. */
enum fmha_kv_dtype {
    FMHA_KV_SAME = 0, /* as dtype */
    FMHA_KV_E4M3 = 1, /* fp8 of the OCP, one byte an element */
    FMHA_KV_E5M2 = 2,
    FMHA_KV_E4M3FNUZ = 3, /* fp8 of gfx942 */
    FMHA_KV_E5M2FNUZ = 4,
    FMHA_KV_MXFP4 = 5 /* two numbers in a byte, a scale byte for 32 of them */
};

/* What has a float32 scale of its own where K and V are fp8. */
enum fmha_kv_scale { FMHA_KV_SCALE_HEAD = 0, FMHA_KV_SCALE_TOKEN = 1 };

/* A tensor in the device's memory. The last dimension is contiguous. Strides of dimensions of size 0 or 1 mean nothing
 * and may be anything, as may all strides of a tensor without elements. */
typedef struct fmha_tensor {
    void *data; /* of its first element; a multiple of the element's size. Multiples of 16 bytes in address and strides
                   are faster: any other multiple is served by instances of their own */
    int64_t stride_batch, stride_head, stride_row; /* elements, 0 and up */
} fmha_tensor;

typedef struct fmha_forward_problem {
    size_t struct_bytes; /* sizeof(fmha_forward_problem): FMHA_FORWARD_PROBLEM_INIT sets it */
    int32_t dtype;       /* enum fmha_dtype, of Q, K, V and O */
    int32_t mask;        /* enum fmha_mask */
    int32_t v_layout;    /* enum fmha_v_layout */
    int32_t head_dim;    /* of Q and K, elements */
    int32_t head_dim_v;  /* of V and O, elements; 0: as head_dim */
    float scale;         /* softmax scale, usually 1/sqrt(head_dim); not NaN, as which it is initialized */
    int64_t batch, heads_q, heads_k, seqlen_q, seqlen_k; /* 0 and up; heads_k at least 1 and a divisor of heads_q */
    fmha_tensor q;                                       /* [batch][heads_q][seqlen_q][head_dim] */
    fmha_tensor k;                                       /* [batch][heads_k][seqlen_k][head_dim] */
    fmha_tensor
        v; /* [batch][heads_k][seqlen_k][head_dim_v], FMHA_V_TRANSPOSED: [batch][heads_k][head_dim_v][seqlen_k] */
    fmha_tensor o; /* [batch][heads_q][seqlen_q][head_dim_v]; written; may overlap no input */
    float *lse;    /* [batch][heads_q][seqlen_q], packed: [heads_q][tokens_q]; contiguous; written; NULL: not wanted */
    void *workspace; /* device memory of fmha_forward_workspace_bytes, aligned to 256; NULL where that is 0 */
    size_t workspace_bytes;
    void *stream; /* the driver's stream (hipStream_t); NULL: the default stream */

    /* What follows is off where it is 0 or NULL, "Modifiers and layouts" below says what it means. All addresses are of
     * device memory that is read, and multiples of the element's size. */
    int32_t window; /* 1: a query sees keys that are at most window_left before and window_right behind its diagonal */
    int32_t window_left, window_right; /* keys, 0 and up; -1: no bound. Without `window` both are 0 */
    int32_t sink_keys;                 /* so many of a sequence's first keys are seen whatever window_left; 0 and up */
    float softcap;                     /* scores s become softcap * tanh(s / softcap), off by up to softcap * 2^-20 for
                                          rounding, so that no cap is 0, not a great number; 1e-30 to 1e30; 0: off */
    float dropout;                     /* probability by which a weight is dropped; 0 (off) and up, below 1 */
    int32_t varlen;                    /* enum fmha_varlen */
    int32_t page_size;                 /* keys of a page, a power of two from 1 to 256; 0 exactly without block_table */
    int32_t block_mask_q, block_mask_k; /* queries and keys of a bit of block_mask, 1 and up; else not looked at */
    int32_t bias_dtype;                 /* 0: that of Q, which may be said too; or FMHA_DTYPE_F32 */
    uint32_t modifier;             /* of a modifier from outside: the hash of its text, `fmhagen --modifier`; 0: none */
    const int32_t *prefix_lengths; /* [batch]: so many of the first keys are seen by all queries of the sequence */
    const float *alibi_slopes;     /* [batch][heads_q]: a score loses the slope times the distance to its diagonal */
    const float *sink;             /* [heads_q]: a logit that joins the denominator of every row; -infinity: none */
    const float *head_scale;       /* [heads_q]: a factor of the scale */
    const int32_t *cu_seqlens_q;   /* [batch + 1], packed: where each sequence begins, and at last tokens_q */
    const int32_t *cu_seqlens_k;   /* [batch + 1], packed, not paged: the same of K and V */
    const int32_t *seqlens_q;      /* [batch], padded: the length of each sequence, 0 to seqlen_q */
    const int32_t *seqlens_k;      /* [batch], padded or paged: that of its keys, 0 to seqlen_k */
    const int32_t *block_table;    /* [batch][ceil(seqlen_k / page_size)]: the pages of each sequence in their order;
                                      with it K and V are paged */
    fmha_tensor bias;              /* [batch][heads_q][seqlen_q][seqlen_k], of bias_dtype: is added to the scores */
    fmha_tensor attn_mask;         /* the same of bytes: 0 hides the key from the query */
    fmha_tensor block_mask; /* [batch][heads_q][ceil(seqlen_q / block_mask_q)][ceil(seqlen_k / block_mask_k / 32)] words
                               of 32 bits: where bit t % 32 of word t / 32 of row u is 0, the block_mask_q queries from
                               u * block_mask_q on do not see the block_mask_k keys from t * block_mask_k on */
    int64_t stride_alibi_batch;      /* elements from batch to batch of alibi_slopes, 0 and up; 0: one row serves all */
    int64_t stride_block_table;      /* elements from batch to batch of block_table, 0 and up */
    int64_t tokens_q;                /* rows of Q and O of a packed batch: cu_seqlens_q[batch] */
    uint64_t dropout_seed;           /* which weights are dropped: fmha_dropout_keeps; any */
    uint64_t dropout_offset;         /* the same; 0 to 2^32 - 1 */
    float modifier_values[8];        /* what the modifier from outside calls modifier_0 to modifier_7; any */
    const void *modifier_buffers[4]; /* and modifier_buffer_0 to modifier_buffer_3; NULL where it has none */

    int32_t kv_dtype;    /* of K and V: enum fmha_kv_dtype */
    int32_t kv_scale;    /* enum fmha_kv_scale; 0 unless K and V are fp8 */
    fmha_tensor k_scale; /* scales of K and V where they are of a small format, "Small formats" below; read */
    fmha_tensor v_scale;
} fmha_forward_problem;

/* Modifiers and layouts
 *
 * Query i of a sequence that has T queries and S keys stands on the diagonal at the key p = i + S - T, with
 * FMHA_MASK_CAUSAL_TOP_LEFT at p = i. It sees key j when all of these hold:
 *   - j < high, which is S, with a causal mask at most p + 1, with a window at most p + 1 + window_right, but never
 * less than the sequence's prefix length (at most S);
 *   - j >= low, which is 0, with a window at least p - window_left; or j < sink_keys;
 *   - attn_mask is not 0 there, and the bit of block_mask is 1;
 *   - the bias is not -infinity, nor so near to it that it overflows once multiplied by log2 e.
 *
 * Its score is scale * head_scale[h] * (q . k), capped by softcap, less alibi_slopes[b][h] * |p - j|, plus the bias. A
 * key that it does not see weighs exactly 0, whatever K and V hold there. The sink is one more score whose weight
 * counts in the sum alone: LSE = log(exp(sink) + sum exp(score)). A row that sees no key has O = 0 and LSE = the sink,
 * without one -infinity. Dropout makes some weights 0 and multiplies the others by 1 / (1 - dropout) once the sum was
 * taken: it leaves LSE as it is.
 *
 * A modifier is asked for by its address or its value: that decides which instances serve. In fmha_forward_prepare and
 * fmha_forward_explain, which read no memory, an address that is NULL therefore says that the modifier is off; any
 * other multiple of the element's size will do. A window of -1 and -1 is none.
 *
 * Packed: q and o are [tokens_q][heads_q][…], k and v [tokens_k][heads_k][…] by stride_row and stride_head;
 * stride_batch means nothing. seqlen_q and seqlen_k are those of the longest sequence, batch is how many there are; a
 * sequence may have no queries or no keys. LSE is [heads_q][tokens_q]. Rows that no sequence has are not written.
 *
 * Padded: all tensors are as without lengths. Rows of O and LSE past a sequence's length are not written.
 *
 * Paged: k and v are [page][heads_k][page_size][…]: stride_batch goes from page to page, and which of heads and rows
 * comes first in a page is a matter of strides. Key j of sequence b is row j % page_size of page block_table[b][j /
 * page_size]. Slots past a sequence's length are not read, nor entries of the table past its pages. The lengths of the
 * keys are always seqlens_k, at most seqlen_k; those of the queries are seqlen_q, or as packed (cu_seqlens_q) or padded
 * (seqlens_q) says.
 *
 * Small formats: with a kv_dtype other than FMHA_KV_SAME the elements of K and V are one byte each, of FMHA_KV_MXFP4
 * half of one, the even column in the low four bits; strides of K and V are in bytes then. A value is its number times
 * its scale. fp8: k_scale and v_scale are float32, [batch][heads_k] (packed without pages [heads_k]), by stride_batch
 * and stride_head, which may be 0 so that one scale serves all; with FMHA_KV_SCALE_TOKEN [batch][heads_k][seqlen_k],
 * packed [heads_k][tokens_k], paged [page][heads_k][page_size]. mxfp4: bytes of E8M0 as K and V themselves lie, with
 * ceil(head_dim / 32) of them in place of a row's numbers; strides in bytes. docs/formats.md tells of the formats.
 *
 * In all three layouts the diagonal is each sequence's own; bias, masks and dropout count queries and keys from its
 * begin. FMHA_V_TRANSPOSED goes with neither packed nor paged batches.
 */

/* Whether dropout keeps the weight of key `key` for query `query` (both counted from the begin of their sequence) of
 * head `head` of batch or sequence `batch`: what a backward pass or a test needs to make the same mask again. 1: it is
 * kept, 0: it is dropped. Runs on the host and never fails; of the numbers the low 32 bits count, and a `probability`
 * that is not above 0 drops nothing.
 *
 * The rule is Philox4x32-10 with the key (low, high word of seed) and the counter (key / 8, query, batch * heads_q +
 * head, low word of offset). The eight keys that share a counter take 16 bits each of its four words: key 8c + t the
 * low (t even) or high (t odd) half of word t / 2. A weight is kept when they are at least probability * 65536, rounded
 * to the nearest whole number, halves up. */
FMHA_API int fmha_dropout_keeps(uint64_t seed, uint64_t offset, int64_t batch, int64_t heads_q, int64_t head,
                                int64_t query, int64_t key, float probability);

#ifdef __cplusplus
#define FMHA_FORWARD_PROBLEM_INIT fmha_forward_problem_init()
#else
#define FMHA_FORWARD_PROBLEM_INIT                                                                                      \
    ((fmha_forward_problem){.struct_bytes = sizeof(fmha_forward_problem), .scale = __builtin_nanf("")})
#endif
static inline fmha_forward_problem fmha_forward_problem_init(void) {
    fmha_forward_problem problem;
    __builtin_memset(&problem, 0, sizeof problem);
    problem.struct_bytes = sizeof problem;
    problem.scale = __builtin_nanf("");
    return problem;
}

/* Starts the computation on the problem's stream and returns. The first call for a kind of problem finds, loads and if
 * need be compiles an instance; later calls of that kind take no lock and allocate nothing, and may be captured into a
 * graph. A problem without rows of O is FMHA_OK and launches nothing. FMHA_ERROR_NO_INSTANCE: nothing serves it; O is
 * untouched. */
FMHA_API fmha_status fmha_forward(fmha_device *device, const fmha_forward_problem *problem);

/* Does what the first call would do before its launch: nothing, and FMHA_OK, for a problem without rows of O. Reads no
 * tensor; of addresses the alignment alone counts, and NULL is as good as an aligned one, but for those whose presence
 * asks for a modifier. */
FMHA_API fmha_status fmha_forward_prepare(fmha_device *device, const fmha_forward_problem *problem);

/* Bytes of device memory that the problem's `workspace` must have. 0: none is needed. Prepares, as above. */
FMHA_API fmha_status fmha_forward_workspace_bytes(fmha_device *device, const fmha_forward_problem *problem,
                                                  size_t *bytes);

/* One instance that was looked at for a problem. Texts are valid during the callback, which may not
 * use the device. */
typedef struct fmha_consideration {
    const char *instance; /* its name; "" where a whole library was passed over */
    const char *library;  /* the folder it is in, or "linked into the program" */
    int taken;            /* 1: this one is launched */
    const char *verdict;  /* one line: "taken: …" or why not: "serves heads_q % heads_k …" */
} fmha_consideration;
typedef void (*fmha_explain_visit)(void *context, const fmha_consideration *consideration);

/* Tells of every instance for the device's chip and of every library why it is or is not taken for the problem.
 * Compiles and loads nothing. FMHA_ERROR_NO_INSTANCE, after all callbacks, when none is taken. */
FMHA_API fmha_status fmha_forward_explain(fmha_device *device, const fmha_forward_problem *problem,
                                          fmha_explain_visit visit, void *context);

/* ---- Packing ------------------------------------------------------------------------------------------------------
 *
 * Copies a tensor of 16-bit elements from any strides into others: K and V of a cache with odd strides into rows that
 * the fast instances of attention take (`to` with address and strides of multiples of 16 bytes), and V into the
 * transposed form of FMHA_V_TRANSPOSED. Elements are moved as bits: f16, bf16 and any other format of 16 bits.
 */

typedef struct fmha_pack_problem {
    size_t struct_bytes;                    /* sizeof(fmha_pack_problem): FMHA_PACK_PROBLEM_INIT sets it */
    int32_t transposed;                     /* 0, or 1: of each head the columns become rows */
    int32_t reserved;                       /* 0 */
    int64_t batch, heads, seqlen, head_dim; /* 0 and up */
    fmha_tensor from;                       /* [batch][heads][seqlen][head_dim]; a stride may be 0 */
    fmha_tensor to; /* the same, or transposed: [batch][heads][head_dim][seqlen]; written; no two of its elements share
                       memory, nor one with `from` */
    void *stream;   /* the driver's stream (hipStream_t); NULL: the default stream */
} fmha_pack_problem;

#ifdef __cplusplus
#define FMHA_PACK_PROBLEM_INIT fmha_pack_problem_init()
#else
#define FMHA_PACK_PROBLEM_INIT ((fmha_pack_problem){.struct_bytes = sizeof(fmha_pack_problem)})
#endif
static inline fmha_pack_problem fmha_pack_problem_init(void) {
    fmha_pack_problem problem;
    __builtin_memset(&problem, 0, sizeof problem);
    problem.struct_bytes = sizeof problem;
    return problem;
}

/* Starts the copy on the problem's stream and returns; instances are found as fmha_forward finds them. One without
 * elements is FMHA_OK and launches nothing. FMHA_ERROR_NO_INSTANCE: nothing serves it; `to` is untouched. */
FMHA_API fmha_status fmha_pack(fmha_device *device, const fmha_pack_problem *problem);

/* Does what the first call would do before its launch, as fmha_forward_prepare. */
FMHA_API fmha_status fmha_pack_prepare(fmha_device *device, const fmha_pack_problem *problem);

/* ---- Merging ------------------------------------------------------------------------------------------------------
 *
 * Puts together what attention gave over parts of the keys: LSE = ln sum exp LSE_s and O = sum exp(LSE_s - LSE) O_s, in
 * float32, O rounded to nearest even. A partial result with an LSE of -infinity saw no key: it counts for nothing,
 * whatever its O holds. Without any other, and without any at all, O = 0 and LSE = -infinity. With one other O is its
 * O, rounded, and LSE its LSE to the bit. An LSE of NaN or +infinity makes O and LSE of its row NaN. The sums are made
 * in the order of the splits, so that the same numbers give the same bits on every call.
 */

typedef struct fmha_merge_problem {
    size_t struct_bytes;              /* sizeof(fmha_merge_problem): FMHA_MERGE_PROBLEM_INIT sets it */
    int32_t dtype;                    /* of O: FMHA_DTYPE_F16 or FMHA_DTYPE_BF16 */
    int32_t partial_dtype;            /* of o_partial: FMHA_DTYPE_F32, as which 0 counts, or dtype */
    int64_t splits;                   /* partial results, 0 to 2^31 - 1 */
    int64_t batch, heads_q, seqlen_q; /* 0 and up; a packed batch is one of batch 1 whose rows are the tokens. All rows
                                         times head_dim_v / 8 at most 2^32 - 1024 */
    int64_t head_dim_v;               /* a multiple of 8 from 8 to 512; or 0, and there is nothing to do */
    fmha_tensor o_partial; /* [splits][batch][heads_q][seqlen_q][head_dim_v], read; may be NULL with 0 splits */
    int64_t stride_o_partial_split; /* elements from split to split of o_partial, 0 and up */
    const float *lse_partial; /* [splits][batch][heads_q][seqlen_q], contiguous, natural logarithms, read; may be NULL
                                 with 0 splits */
    fmha_tensor o;            /* [batch][heads_q][seqlen_q][head_dim_v]; written; may overlap no input */
    float *lse;               /* [batch][heads_q][seqlen_q], contiguous; written; NULL: not wanted */
    void *stream;             /* the driver's stream (hipStream_t); NULL: the default stream */
} fmha_merge_problem;

#ifdef __cplusplus
#define FMHA_MERGE_PROBLEM_INIT fmha_merge_problem_init()
#else
#define FMHA_MERGE_PROBLEM_INIT ((fmha_merge_problem){.struct_bytes = sizeof(fmha_merge_problem)})
#endif
static inline fmha_merge_problem fmha_merge_problem_init(void) {
    fmha_merge_problem problem;
    __builtin_memset(&problem, 0, sizeof problem);
    problem.struct_bytes = sizeof problem;
    return problem;
}

/* Starts the merge on the problem's stream and returns; instances are found as fmha_forward finds them. One without
 * rows or columns is FMHA_OK and launches nothing. FMHA_ERROR_NO_INSTANCE: nothing serves it; o and lse are untouched.
 */
FMHA_API fmha_status fmha_merge(fmha_device *device, const fmha_merge_problem *problem);

/* Does what the first call would do before its launch, as fmha_forward_prepare; addresses may be NULL. */
FMHA_API fmha_status fmha_merge_prepare(fmha_device *device, const fmha_merge_problem *problem);

/* ---- Appending ----------------------------------------------------------------------------------------------------
 *
 * Puts new keys and values behind those that a cache has: row j of what is new for sequence b becomes key seqlens_k[b]
 * + j. The cache is contiguous or in pages. K may be rotated on its way (rotary embedding), and K and V made numbers of
 * a small format; docs/append.md and docs/formats.md tell how. Nothing but the new rows is written, nor is a row that
 * would be beyond seqlen_k.
 */

/* How the scales of mxfp4 are chosen: by the exponent of the largest magnitude, or one more from 1.75 of it on. */
enum fmha_scale_rule { FMHA_SCALE_FLOOR = 0, FMHA_SCALE_THREE_QUARTERS = 1 };

/* Which columns of K are pairs: i and i + rotary_dim / 2, or 2 i and 2 i + 1. */
enum fmha_rotary { FMHA_ROTARY_OFF = 0, FMHA_ROTARY_NEOX = 1, FMHA_ROTARY_INTERLEAVED = 2 };

typedef struct fmha_append_problem {
    size_t struct_bytes;  /* sizeof(fmha_append_problem): FMHA_APPEND_PROBLEM_INIT sets it */
    int32_t dtype;        /* of k_new and v_new: FMHA_DTYPE_F16 or FMHA_DTYPE_BF16 */
    int32_t kv_dtype;     /* of k and v: enum fmha_kv_dtype */
    int32_t kv_scale;     /* enum fmha_kv_scale; 0 unless k and v are fp8 */
    int32_t scale_rule;   /* enum fmha_scale_rule; 0 unless k and v are mxfp4 */
    int32_t head_dim;     /* of K, elements */
    int32_t head_dim_v;   /* of V; 0: as head_dim */
    int32_t without_v;    /* 1: there is K alone (MLA), and what belongs to V is not looked at; else 0 */
    int32_t varlen;       /* enum fmha_varlen, of what is new */
    int32_t page_size;    /* keys of a page, a power of two from 1 to 256; 0: the cache has no pages */
    int32_t rotary;       /* enum fmha_rotary; what follows counts where it is not off */
    int32_t rotary_dim;   /* columns of K that are rotated, even; */
    int32_t rotary_first; /* the first of them; first and dim together at most head_dim */
    int64_t batch, heads_k, seqlen_new, seqlen_k; /* 0 and up; seqlen_new: new rows of a sequence, of the longest where
                                                     they differ; seqlen_k: rows that a sequence has room for */
    int64_t tokens_new;                           /* of a packed batch: rows of k_new, cu_seqlens_new[batch] */
    fmha_tensor k_new; /* [batch][heads_k][seqlen_new][head_dim], packed: [heads_k][tokens_new][head_dim]; read */
    fmha_tensor v_new; /* the same of head_dim_v */
    fmha_tensor k; /* [batch][heads_k][seqlen_k][head_dim], with pages [page][heads_k][page_size][head_dim]; written. Of
                      mxfp4 its last dimension is head_dim / 2 bytes; strides of small formats are in bytes */
    fmha_tensor v;
    fmha_tensor k_scale; /* of small formats. fp8: float32 [batch][heads_k], read (strides of 0: one for all); of
                            FMHA_KV_SCALE_TOKEN [batch][heads_k][seqlen_k] or [page][heads_k][page_size], written.
                            mxfp4: bytes [batch or page][heads_k][row][ceil(head_dim / 32)], written */
    fmha_tensor v_scale;
    const int32_t *seqlens_k; /* [batch], the keys that each sequence has before, 0 and up; read */
    const int32_t
        *cu_seqlens_new;        /* [batch + 1], packed: where each sequence's new rows begin, and at last tokens_new */
    const int32_t *seqlens_new; /* [batch], padded: new rows of each sequence, 0 to seqlen_new */
    const int32_t *block_table; /* [batch][ceil(seqlen_k / page_size)], of a cache in pages: the pages of a sequence */
    int64_t stride_block_table; /* elements from batch to batch of it, 0 and up */
    const float *rotary_cos;    /* [seqlen_k][rotary_dim / 2], read: the cosines of the angles of each position */
    const float *rotary_sin;    /* and their sines */
    int64_t stride_rotary_cos_row, stride_rotary_sin_row; /* elements from position to position, 0 and up */
    void *stream; /* the driver's stream (hipStream_t); NULL: the default stream */
} fmha_append_problem;

#ifdef __cplusplus
#define FMHA_APPEND_PROBLEM_INIT fmha_append_problem_init()
#else
#define FMHA_APPEND_PROBLEM_INIT ((fmha_append_problem){.struct_bytes = sizeof(fmha_append_problem)})
#endif
static inline fmha_append_problem fmha_append_problem_init(void) {
    fmha_append_problem problem;
    __builtin_memset(&problem, 0, sizeof problem);
    problem.struct_bytes = sizeof problem;
    return problem;
}

/* Starts on the problem's stream and returns; instances are found as fmha_forward finds them. One without new rows, or
 * without room, is FMHA_OK and launches nothing. FMHA_ERROR_NO_INSTANCE: nothing serves it; the cache is untouched. */
FMHA_API fmha_status fmha_append(fmha_device *device, const fmha_append_problem *problem);

/* Does what the first call would do before its launch, as fmha_forward_prepare; addresses may be NULL. */
FMHA_API fmha_status fmha_append_prepare(fmha_device *device, const fmha_append_problem *problem);

/* ---- Decoding -----------------------------------------------------------------------------------------------------
 *
 * Attention of one query or a few of each sequence over a long cache. All query heads of a key head are served at once,
 * so that K and V are read once, and several workgroups share the keys of a sequence: with more splits than one each
 * leaves a partial result in the workspace, and the same call starts the merge (above) on the same stream. What is
 * computed is what fmha_forward computes; "Modifiers and layouts" above says what the fields mean.
 *
 * How many splits there are follows from the chip, batch, heads_k, heads_q / heads_k * seqlen_q, seqlen_k (of a window
 * what it shows) and page_size alone; docs/decode.md tells how. With a number of its own (`splits`) a sequence's O and
 * LSE are the same to the bit whatever the batch is and what else is in it.
 */

typedef struct fmha_decode_problem {
    size_t struct_bytes; /* sizeof(fmha_decode_problem): FMHA_DECODE_PROBLEM_INIT sets it */
    int32_t dtype;       /* of Q, K, V and O: FMHA_DTYPE_F16 or FMHA_DTYPE_BF16 */
    int32_t mask;        /* enum fmha_mask */
    int32_t v_layout;    /* enum fmha_v_layout */
    int32_t head_dim;    /* of Q and K, elements */
    int32_t head_dim_v;  /* of V and O, elements; 0: as head_dim */
    float scale;         /* softmax scale, usually 1/sqrt(head_dim); not NaN, as which it is initialized */
    int64_t batch, heads_q, heads_k, seqlen_q, seqlen_k; /* 0 and up; heads_k at least 1 and a divisor of heads_q */
    int64_t splits; /* workgroups that share the keys of a row, 1 to 65536; 0: as many as suit the chip */
    fmha_tensor q;  /* [batch][heads_q][seqlen_q][head_dim] */
    fmha_tensor k;  /* [batch][heads_k][seqlen_k][head_dim] */
    fmha_tensor v;  /* as in fmha_forward_problem */
    fmha_tensor o;  /* [batch][heads_q][seqlen_q][head_dim_v]; written; may overlap no input */
    float *lse;     /* [batch][heads_q][seqlen_q], packed: [heads_q][tokens_q]; contiguous; written; NULL: not wanted */
    void *workspace; /* device memory, aligned to 256, of what fmha_decode_workspace_bytes says; may be NULL where that
                        is 0. Launches that may run at once need one each */
    size_t workspace_bytes;
    void *stream; /* the driver's stream (hipStream_t); NULL: the default stream */

    /* What follows is off where it is 0 or NULL, and as in fmha_forward_problem. */
    int32_t window, window_left, window_right, sink_keys;
    float softcap;
    int32_t varlen, page_size, bias_dtype, kv_dtype, kv_scale;
    uint32_t modifier;
    const int32_t *prefix_lengths;
    const float *alibi_slopes, *sink, *head_scale;
    const int32_t *cu_seqlens_q, *cu_seqlens_k, *seqlens_q, *seqlens_k, *block_table;
    fmha_tensor bias, attn_mask;
    int64_t stride_alibi_batch, stride_block_table, tokens_q;
    float modifier_values[8];
    const void *modifier_buffers[4];
    fmha_tensor k_scale, v_scale;
} fmha_decode_problem;

#ifdef __cplusplus
#define FMHA_DECODE_PROBLEM_INIT fmha_decode_problem_init()
#else
#define FMHA_DECODE_PROBLEM_INIT                                                                                       \
    ((fmha_decode_problem){.struct_bytes = sizeof(fmha_decode_problem), .scale = __builtin_nanf("")})
#endif
static inline fmha_decode_problem fmha_decode_problem_init(void) {
    fmha_decode_problem problem;
    __builtin_memset(&problem, 0, sizeof problem);
    problem.struct_bytes = sizeof problem;
    problem.scale = __builtin_nanf("");
    return problem;
}

/* Starts the computation on the problem's stream and returns; instances are found as fmha_forward finds them, and what
 * it says of later calls holds here too. A problem without rows of O is FMHA_OK and launches nothing.
 * FMHA_ERROR_ARGUMENT: the workspace is too small, among others. On any error O and LSE are untouched. */
FMHA_API fmha_status fmha_decode(fmha_device *device, const fmha_decode_problem *problem);

/* Does what the first call would do before its launches, as fmha_forward_prepare: that of the merge too, unless
 * `splits` is 1. */
FMHA_API fmha_status fmha_decode_prepare(fmha_device *device, const fmha_decode_problem *problem);

/* Bytes of device memory that the problem's `workspace` must have, 0: none is needed. Follows from the chip and the
 * problem's sizes alone and prepares nothing. It serves every problem that differs from this one in a smaller batch,
 * fewer tokens_q or a smaller seqlen_k or window, too. */
FMHA_API fmha_status fmha_decode_workspace_bytes(fmha_device *device, const fmha_decode_problem *problem,
                                                 size_t *bytes);

/* As fmha_forward_explain. The first callback, whose instance is "" and whose library is "splits", tells how many
 * splits there are and why; behind the instances of decoding come those of merging, unless `splits` is 1. */
FMHA_API fmha_status fmha_decode_explain(fmha_device *device, const fmha_decode_problem *problem,
                                         fmha_explain_visit visit, void *context);

/* ---- Multi-head latent attention ----------------------------------------------------------------------------------
 *
 * Decoding over a cache of one latent row for each key, which all heads share: K is the whole row, V its first
 * head_dim_v elements. Otherwise as fmha_decode: splits, workspace and merge.
 */

typedef struct fmha_mla_problem {
    size_t struct_bytes; /* sizeof(fmha_mla_problem): FMHA_MLA_PROBLEM_INIT sets it */
    int32_t dtype;       /* of Q and O, and of the rows unless kv_dtype says another: FMHA_DTYPE_F16 or _BF16 */
    int32_t mask;        /* enum fmha_mask */
    int32_t kv_dtype;    /* of the rows: enum fmha_kv_dtype */
    int32_t kv_scale;    /* enum fmha_kv_scale; 0 unless the rows are fp8 */
    int32_t scale_rule;  /* enum fmha_scale_rule, by which Q becomes mxfp4 on chips that multiply it as such; 0 unless
                            the rows are mxfp4 */
    int32_t varlen;      /* enum fmha_varlen */
    int32_t page_size;   /* keys of a page, a power of two from 1 to 256; 0 exactly without block_table */
    int32_t head_dim;    /* of Q and of a row, elements: 576, say */
    int32_t head_dim_v;  /* elements of a row that are V too, and those of a row of O: 512, say; at most head_dim */
    float scale;         /* softmax scale; not NaN, as which it is initialized */
    int64_t batch, heads_q, seqlen_q, seqlen_k; /* 0 and up */
    int64_t tokens_q;                           /* rows of Q and O of a packed batch: cu_seqlens_q[batch] */
    int64_t splits; /* workgroups that share the keys of a row, 1 to 65536; 0: as many as suit the chip */
    fmha_tensor q;  /* [batch][heads_q][seqlen_q][head_dim], packed: [tokens_q][heads_q][head_dim] */
    fmha_tensor kv; /* [batch][seqlen_k][head_dim], packed: [tokens_k][head_dim], paged: [page][page_size][head_dim], of
                       small formats in bytes as in fmha_forward_problem; stride_head means nothing */
    fmha_tensor kv_scales; /* of small formats: as k_scale of fmha_forward_problem with one head */
    fmha_tensor o;         /* [batch][heads_q][seqlen_q][head_dim_v]; written; may overlap no input */
    float *lse; /* [batch][heads_q][seqlen_q], packed: [heads_q][tokens_q]; contiguous; written; NULL: not wanted */
    const int32_t *cu_seqlens_q, *cu_seqlens_k, *seqlens_q, *seqlens_k, *block_table; /* as in fmha_forward_problem */
    int64_t stride_block_table;
    void *workspace; /* device memory, aligned to 256, of what fmha_mla_workspace_bytes says; may be NULL where that is
                        0. Launches that may run at once need one each */
    size_t workspace_bytes;
    void *stream; /* the driver's stream (hipStream_t); NULL: the default stream */
} fmha_mla_problem;

#ifdef __cplusplus
#define FMHA_MLA_PROBLEM_INIT fmha_mla_problem_init()
#else
#define FMHA_MLA_PROBLEM_INIT                                                                                          \
    ((fmha_mla_problem){.struct_bytes = sizeof(fmha_mla_problem), .scale = __builtin_nanf("")})
#endif
static inline fmha_mla_problem fmha_mla_problem_init(void) {
    fmha_mla_problem problem;
    __builtin_memset(&problem, 0, sizeof problem);
    problem.struct_bytes = sizeof problem;
    problem.scale = __builtin_nanf("");
    return problem;
}

/* As the functions of decoding. */
FMHA_API fmha_status fmha_mla(fmha_device *device, const fmha_mla_problem *problem);
FMHA_API fmha_status fmha_mla_prepare(fmha_device *device, const fmha_mla_problem *problem);
FMHA_API fmha_status fmha_mla_workspace_bytes(fmha_device *device, const fmha_mla_problem *problem, size_t *bytes);
FMHA_API fmha_status fmha_mla_explain(fmha_device *device, const fmha_mla_problem *problem, fmha_explain_visit visit,
                                      void *context);

/* ---- Quantizing ---------------------------------------------------------------------------------------------------
 *
 * Makes numbers of fp8 or mxfp4 of a tensor, and their scales, as docs/formats.md says, to the bit: value = number *
 * scale.
 */

/* What has a scale of its own where the numbers are fp8. */
enum fmha_scale_share {
    FMHA_SHARE_TENSOR = 0,
    FMHA_SHARE_HEAD = 1, /* a head of all batches */
    FMHA_SHARE_TOKEN = 2 /* a row */
};

typedef struct fmha_quantize_problem {
    size_t struct_bytes; /* sizeof(fmha_quantize_problem): FMHA_QUANTIZE_PROBLEM_INIT sets it */
    int32_t dtype;       /* of `from`: FMHA_DTYPE_F16, FMHA_DTYPE_BF16 or FMHA_DTYPE_F32 */
    int32_t kv_dtype;    /* of `to`: enum fmha_kv_dtype, but FMHA_KV_SAME */
    int32_t share;       /* enum fmha_scale_share; 0 where `to` is mxfp4, which has a scale for 32 values of a row */
    int32_t scale_rule;  /* enum fmha_scale_rule; 0 unless `to` is mxfp4 */
    int32_t given;       /* 1: the scales are there already, [batch][heads], and `share` is 0; else 0 */
    int32_t head_dim;    /* elements */
    int64_t batch, heads, seqlen; /* 0 and up */
    fmha_tensor from;             /* [batch][heads][seqlen][head_dim]; read */
    fmha_tensor to;    /* the same of bytes, of mxfp4 [batch][heads][seqlen][head_dim / 2]; written; strides in bytes */
    fmha_tensor scale; /* given: float32 [batch][heads], positive and finite, read (strides of 0: one for all). Else
                          written: float32, of the tensor one, of heads [heads] by stride_head, of tokens
                          [batch][heads][seqlen]; of mxfp4 bytes [batch][heads][seqlen][ceil(head_dim / 32)] */
    void *workspace;   /* device memory of fmha_quantize_workspace_bytes, aligned to 4; NULL where that is 0. Launches
                          that may run at once need one each */
    size_t workspace_bytes;
    void *stream; /* the driver's stream (hipStream_t); NULL: the default stream */
} fmha_quantize_problem;

#ifdef __cplusplus
#define FMHA_QUANTIZE_PROBLEM_INIT fmha_quantize_problem_init()
#else
#define FMHA_QUANTIZE_PROBLEM_INIT ((fmha_quantize_problem){.struct_bytes = sizeof(fmha_quantize_problem)})
#endif
static inline fmha_quantize_problem fmha_quantize_problem_init(void) {
    fmha_quantize_problem problem;
    __builtin_memset(&problem, 0, sizeof problem);
    problem.struct_bytes = sizeof problem;
    return problem;
}

/* Starts on the problem's stream and returns; instances are found as fmha_forward finds them. A scale that many rows
 * share and that is not given takes two launches, on the same stream. A problem without elements is FMHA_OK and
 * launches nothing, and writes no scale. On any error nothing is written. */
FMHA_API fmha_status fmha_quantize(fmha_device *device, const fmha_quantize_problem *problem);

/* Does what the first call would do before its launches, as fmha_forward_prepare; addresses may be NULL. */
FMHA_API fmha_status fmha_quantize_prepare(fmha_device *device, const fmha_quantize_problem *problem);

/* Bytes of device memory that the problem's `workspace` must have; 0: none is needed. Follows from the problem's sizes
 * alone. */
FMHA_API fmha_status fmha_quantize_workspace_bytes(fmha_device *device, const fmha_quantize_problem *problem,
                                                   size_t *bytes);

/* ---- Where instances come from ------------------------------------------------------------------------------------
 */

/* Adds a folder of instances, as `fmhagen library` makes it, before those that are found by themselves. The folder may
 * hold no instances for this chip. Once a first problem was looked up it counts from fmha_device_forget on. */
FMHA_API fmha_status fmha_device_add_library(fmha_device *device, const char *folder);

/* Forgets which instances were prepared, so that later calls look for them anew: libraries, choices, cache. No thread
 * may use the device meanwhile; kernels that run are not disturbed. What was loaded stays loaded until the device is
 * closed, so that each time that instances are forgotten and prepared anew costs their memory once more. */
FMHA_API fmha_status fmha_device_forget(fmha_device *device);

/* Opens the device that holds `address`, whatever device is current. `driver`: "hip", "cuda". */
FMHA_API fmha_status fmha_device_open_for(const char *driver, const void *address, fmha_device **device);

/* ---- Tuning -------------------------------------------------------------------------------------------------------
 *
 * Where several instances serve a problem, a choice says which is best: it names chip, driver, the kind of problem with
 * its lengths, and the instance. A problem takes the choice of its kind whose lengths are nearest, in log2 of seqlen_q,
 * seqlen_k, batch * heads_q and heads_q / heads_k; without one, or where the chosen instance does not serve it, the
 * usual order holds. Choices are found in the files of $FMHA_CHOICES (separated by colons), in fmha.choices beside the
 * index of an instance library, and in the user's own file, choices/CHIP beside the cache. One that names an instance
 * which is not here or does not fit, or that was made by another driver, is not taken; $FMHA_LOG and
 * fmha_forward_explain say why.
 */

/* Adds the choices of a file for this device's chip, and takes them at once. A damaged file is an error. */
FMHA_API fmha_status fmha_device_load_choices(fmha_device *device, const char *path);

/* Merges what was tuned on this device since it was opened into a file, which is made if it is missing. Of two choices
 * for one problem what is measured beats what is counted, that what is modelled, and of one kind the newer the older.
 * path NULL: the user's own file, whose folder is made too. Several processes may do so at once. */
FMHA_API fmha_status fmha_device_save_choices(fmha_device *device, const char *path);

typedef struct fmha_tune_options {
    size_t struct_bytes;   /* sizeof(fmha_tune_options) */
    int32_t rounds;        /* that count, each of which runs every candidate once, up to 10000; 0: 20, and 1 on a device
                              that counts instead of measuring */
    int32_t warmup_rounds; /* before them, up to 10000; 0: 3, and none on a device that counts; -1: none */
    uint64_t seed;         /* of the order within each round */
    const char *const *libraries; /* folders, ended by NULL, whose instances alone are run; NULL: those of all */
    /* Called before each run; NULL: never. */
    void (*progress)(void *context, int32_t round, int32_t rounds, const char *instance);
    void *progress_context;
} fmha_tune_options;

/* What came of one candidate. Texts are valid during the callback. */
typedef struct fmha_tune_result {
    const char *instance, *library; /* as in fmha_consideration */
    const char *unit;               /* "us", or of an emulated device "counted cycles" */
    double median, least, most;     /* of `runs` runs, in the unit; 0 where it failed */
    int32_t runs;                   /* 0: it failed */
    int32_t best;                   /* 1: it is the device's choice now */
    const char *note;               /* why it failed, else "" */
} fmha_tune_result;
typedef void (*fmha_tune_visit)(void *context, const fmha_tune_result *result);

/* Runs every instance that serves the problem, in rounds, and makes the one with the least median the device's choice
 * for it. Calls back (visit may be NULL) with each, the best first. Writes O and LSE of the problem over and over, and
 * waits for its stream; the inputs should hold what is usual, as a chip's clock depends on it. options NULL: as
 * zero-filled. A problem without rows is FMHA_ERROR_ARGUMENT. */
FMHA_API fmha_status fmha_forward_tune(fmha_device *device, const fmha_forward_problem *problem,
                                       const fmha_tune_options *options, fmha_tune_visit visit, void *context);

/* Version of the library that runs: "0.1.0", and FMHA_ABI_VERSION as it was compiled. */
FMHA_API const char *fmha_version(void);
FMHA_API int fmha_abi_version(void);

#ifdef __cplusplus
}
#endif

#endif
