/* What the engine and a compiled kernel agree on. Read as C by the engine and as C++ by the kernel's translation unit,
 * into which it is included before the kernel's text; it therefore includes nothing. */
#ifndef FMHA_EMU_ABI_H
#define FMHA_EMU_ABI_H

#define FMHA_EMU_ABI_VERSION 8

#ifdef __cplusplus
extern "C" {
#endif

/* The operations at which the lanes of a wave meet. */
enum fmha_emu_operation {
    FMHA_EMU_S_BARRIER,
    FMHA_EMU_WAVE_BARRIER,
    FMHA_EMU_READFIRSTLANE,
    FMHA_EMU_READLANE,
    FMHA_EMU_WRITELANE,
    FMHA_EMU_BALLOT,
    FMHA_EMU_DS_SWIZZLE,
    FMHA_EMU_DS_PERMUTE,
    FMHA_EMU_DS_BPERMUTE,
    FMHA_EMU_DPP16,
    FMHA_EMU_DPP8,
    FMHA_EMU_PERMLANE16,
    FMHA_EMU_PERMLANEX16,
    FMHA_EMU_PERMLANE64,
    FMHA_EMU_WMMA_GFX11_F16,
    FMHA_EMU_WMMA_GFX11_BF16,
    FMHA_EMU_WMMA_GFX12_F16,
    FMHA_EMU_WMMA_GFX12_BF16,
    FMHA_EMU_WMMA_GFX12_FP8,
    FMHA_EMU_MFMA_16X16X8_BF16,
    FMHA_EMU_MFMA_16X16X16_F16,
    FMHA_EMU_MFMA_16X16X16_BF16,
    FMHA_EMU_MFMA_16X16X32_F16,
    FMHA_EMU_MFMA_16X16X32_BF16,
    FMHA_EMU_MFMA_32X32X4_BF16,
    FMHA_EMU_MFMA_32X32X8_F16,
    FMHA_EMU_MFMA_32X32X8_BF16,
    FMHA_EMU_MFMA_32X32X16_F16,
    FMHA_EMU_MFMA_32X32X16_BF16,
    FMHA_EMU_MFMA_SCALE_16X16X128,
    FMHA_EMU_MFMA_SCALE_32X32X64,
    FMHA_EMU_MFMA_16X16X32_FP8,
    FMHA_EMU_MFMA_32X32X16_FP8,
    FMHA_EMU_PERMLANE16_SWAP,
    FMHA_EMU_PERMLANE32_SWAP,
    FMHA_EMU_DS_READ_B64_TR_B16,
    FMHA_EMU_GLOBAL_LOAD_TR_B128,
    FMHA_EMU_GLOBAL_LOAD_LDS,
    FMHA_EMU_MMA_M16N8K16_F16,
    FMHA_EMU_MMA_M16N8K16_BF16,
    FMHA_EMU_LDMATRIX,
    FMHA_EMU_LDMATRIX_TRANS,
    FMHA_EMU_SHFL_IDX,
    FMHA_EMU_SHFL_BFLY,
    FMHA_EMU_WGMMA_F16,
    FMHA_EMU_WGMMA_BF16,
    FMHA_EMU_WGMMA_FENCE,
    FMHA_EMU_WGMMA_COMMIT,
    FMHA_EMU_WGMMA_WAIT,
    FMHA_EMU_OPERATION_COUNT
};

/* A place in the kernel's text where an operation stands. One object per place; its address is the place's identity. */
struct fmha_emu_site {
    const char *file;
    const char *name; /* the builtin as written */
    int line;
    int operation;         /* enum fmha_emu_operation */
    unsigned immediate[4]; /* operands that the instruction encodes: DPP control and masks, swizzle pattern, flags */
};

#define FMHA_EMU_WAVE_MAX 64

/* Members of fmha_emu_lane.word. */
enum {
    FMHA_EMU_SOURCE,
    FMHA_EMU_OLD,
    FMHA_EMU_SELECT_LOW, /* also the lane or the byte address that a lane asks for */
    FMHA_EMU_SELECT_HIGH,
    FMHA_EMU_RESULT,
    FMHA_EMU_RESULT_HIGH,
    FMHA_EMU_WORDS = 8
};

/* FMHA_EMU_GLOBAL_LOAD_LDS: members of fmha_emu_site.immediate; and of its operands, two of unsigned long in
 * fmha_emu_lane.a. */
enum { FMHA_EMU_LOAD_BYTES, FMHA_EMU_LOAD_OFFSET, FMHA_EMU_LOAD_CHECKED };
enum { FMHA_EMU_LOAD_FROM, FMHA_EMU_LOAD_TO, FMHA_EMU_LOAD_OPERANDS };

/* FMHA_EMU_WGMMA_F16 and _BF16: members of fmha_emu_site.immediate; a lane's C is where the unsigned long in
 * fmha_emu_lane.b says; A, if it is in LDS, where the one in fmha_emu_lane.a does. FMHA_EMU_WGMMA_WAIT: the first is
 * how many groups may be under way. */
enum { FMHA_EMU_WGMMA_COLUMNS, FMHA_EMU_WGMMA_TRANSPOSED, FMHA_EMU_WGMMA_CHECKED, FMHA_EMU_WGMMA_A_IN_LDS };
enum { FMHA_EMU_WGMMA_LEFT };

/* Numbers of 8 bits, as of the OCP and as AMD's first chips that compute with them have them (fnuz): members 0 (A) and
 * 1 (B) of fmha_emu_site.immediate of matrix instructions that multiply them. */
enum { FMHA_EMU_E4M3, FMHA_EMU_E5M2, FMHA_EMU_E4M3FNUZ, FMHA_EMU_E5M2FNUZ };

/* The part of a lane that its kernel sees. First its operands and results of the operation at which the wave meets: a
 * lane writes and reads its own alone, so that results need not be consumed before another lane brings its next
 * operands. */
struct fmha_emu_lane {
    unsigned short a[16];
    unsigned short b[16];
    float c[16]; /* becomes D */
    unsigned word[FMHA_EMU_WORDS];
    unsigned index; /* within the wave */
    unsigned workitem[3];
    unsigned workgroup[3];
    unsigned workgroup_size[3];
    unsigned grid[3]; /* workgroups */
} __attribute__((aligned(64)));

/* An access whose address is not what the text promised of it. */
struct fmha_emu_misaligned {
    const char *file;
    unsigned line;
    const char *type; /* as the compiler describes it: "'u32x4' (...)", NULL: promised by __builtin_assume_aligned */
    unsigned long address, alignment;
};

/* What a kernel calls. */
struct fmha_emu_engine {
    struct fmha_emu_lane *(*lane)(void);
    void (*meet)(struct fmha_emu_lane *lane, const struct fmha_emu_site *site);
    void *(*lds)(struct fmha_emu_lane *lane, const struct fmha_emu_site *site, unsigned long bytes);
    void *(*lds_dynamic)(struct fmha_emu_lane *lane, const struct fmha_emu_site *site);
    /* The wave waits until at most `left` of its loads from memory into LDS are under way. */
    void (*wait_lds_loads)(struct fmha_emu_lane *lane, unsigned left);
    /* A lane's own copies from memory into LDS, and groups of them (copies.h); the first member of `immediate` says
     * whether accesses are checked. */
    void (*copy_begin)(struct fmha_emu_lane *lane, const struct fmha_emu_site *site, unsigned long to,
                       unsigned long from, unsigned bytes);
    void (*copy_commit)(struct fmha_emu_lane *lane);
    void (*copy_wait)(struct fmha_emu_lane *lane, unsigned left);
    /* An address in LDS as instructions know it; and what a lane has written there is shown to matrix products
     * (products.h). */
    unsigned (*shared)(struct fmha_emu_lane *lane, unsigned long address);
    void (*show)(struct fmha_emu_lane *lane);
    /* Before each access to memory (emu_access.h); `read` and `write` are indexed by the logarithm of the size. They
     * are jumped to, so that they return into the kernel, to the place of the access. */
    void (*read[5])(unsigned long address);
    void (*write[5])(unsigned long address);
    void (*read_bytes)(unsigned long address, unsigned long bytes);
    void (*write_bytes)(unsigned long address, unsigned long bytes);
    void *(*copy)(void *to, const void *from, unsigned long bytes);
    void *(*fill)(void *to, int byte, unsigned long bytes);
    void (*misaligned)(const struct fmha_emu_misaligned *access);
};

/* What a compiled kernel exports under the name "fmha_emu_image". */
struct fmha_emu_image {
    int version; /* FMHA_EMU_ABI_VERSION */
    int wave;
    const char *arch;
    const char *symbol;
    void (*run)(const void *arguments); /* one lane */
    unsigned long argument_bytes;
    int checks;                     /* 1: accesses to memory call the engine */
    struct fmha_emu_engine *engine; /* filled in when the image is loaded */
};

#ifdef __cplusplus
}
#endif

#endif
