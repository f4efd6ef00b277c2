/* Made by fmhagen %{version}. DO NOT EDIT: `fmhagen vendor .` in this folder makes it anew.
 *
 * The index, the texts of the kernels and, with FMHA_COMPILED_AHEAD, their code objects. Beside each stands its SHA-256,
 * so that this file changes, and is assembled anew, when one of them does. */
#define BYTES(symbol, path) \
    .balign 16; .globl symbol; .hidden symbol; symbol: .incbin path; \
    .globl symbol##_end; .hidden symbol##_end; symbol##_end: .byte 0
#define STRING(path) #path
#define TEXT(name) BYTES(name##_hip, STRING(kernels/name.hip))
#define OBJECT(name) BYTES(name##_hsaco, STRING(name.ahead.hsaco))

    .section .rodata
    BYTES(fmha_vendored_index, "kernels/fmha.index") /* %{index_sha256} */
%{kernels_text}
#ifdef FMHA_COMPILED_AHEAD
%{kernels_object}#endif

    .section .note.GNU-stack, "", %progbits
