/* What the compiler puts before each access to memory: a call of one of these functions, which jump to the engine, and
 * a comparison of the address with what the access's type promises. The names and signatures are those of LLVM's
 * address sanitizer with a prefix of ours (compile.c) and of its undefined behaviour sanitizer; their runtimes are not
 * linked. Included when accesses are to be checked. */
#pragma once

#define FMHA_EMU_CALLBACK extern "C" __attribute__((used, visibility("hidden"), no_sanitize("address", "alignment")))

#define FMHA_EMU_CALLBACKS(bytes, size_log2)                                                                           \
    FMHA_EMU_CALLBACK void fmha_emu_access_load##bytes(unsigned long address) {                                        \
        fmha_emu_the_engine.read[size_log2](address);                                                                  \
    }                                                                                                                  \
    FMHA_EMU_CALLBACK void fmha_emu_access_store##bytes(unsigned long address) {                                       \
        fmha_emu_the_engine.write[size_log2](address);                                                                 \
    }
FMHA_EMU_CALLBACKS(1, 0)
FMHA_EMU_CALLBACKS(2, 1)
FMHA_EMU_CALLBACKS(4, 2)
FMHA_EMU_CALLBACKS(8, 3)
FMHA_EMU_CALLBACKS(16, 4)

FMHA_EMU_CALLBACK void fmha_emu_access_loadN(unsigned long address, unsigned long bytes) {
    fmha_emu_the_engine.read_bytes(address, bytes);
}
FMHA_EMU_CALLBACK void fmha_emu_access_storeN(unsigned long address, unsigned long bytes) {
    fmha_emu_the_engine.write_bytes(address, bytes);
}
FMHA_EMU_CALLBACK void *fmha_emu_access_memcpy(void *to, const void *from, unsigned long bytes) {
    return fmha_emu_the_engine.copy(to, from, bytes);
}
FMHA_EMU_CALLBACK void *fmha_emu_access_memmove(void *to, const void *from, unsigned long bytes) {
    return fmha_emu_the_engine.copy(to, from, bytes);
}
FMHA_EMU_CALLBACK void *fmha_emu_access_memset(void *to, int byte, unsigned long bytes) {
    return fmha_emu_the_engine.fill(to, byte, bytes);
}
FMHA_EMU_CALLBACK void __asan_handle_no_return() {
}

/* The sanitizer's data, as clang lays it out. */
struct fmha_emu_source_place {
    const char *file;
    unsigned line, column;
};
struct fmha_emu_type {
    unsigned short kind, info;
    char name[1];
};
struct fmha_emu_type_mismatch {
    fmha_emu_source_place place;
    const fmha_emu_type *type;
    unsigned char alignment_log2, access;
};
struct fmha_emu_alignment_assumption {
    fmha_emu_source_place place, assumption;
    const fmha_emu_type *type;
};

FMHA_EMU_CALLBACK void __ubsan_handle_type_mismatch_v1_abort(const fmha_emu_type_mismatch *data,
                                                             unsigned long address) {
    fmha_emu_misaligned access = {data->place.file, data->place.line, data->type->name, address,
                                  1ul << data->alignment_log2};
    fmha_emu_the_engine.misaligned(&access);
}
FMHA_EMU_CALLBACK void __ubsan_handle_alignment_assumption_abort(const fmha_emu_alignment_assumption *data,
                                                                 unsigned long address, unsigned long alignment,
                                                                 unsigned long offset) {
    fmha_emu_misaligned access = {data->place.file, data->place.line, nullptr, address - offset, alignment};
    fmha_emu_the_engine.misaligned(&access);
}
