/* From machine code to decoded instructions, by way of LLVM's disassembler, which is opened at run time. */
#ifndef ISA_DECODE_H
#define ISA_DECODE_H

#include "family.h"
#include "isa.h"

typedef struct isa_code {
    isa_instruction *list;
    uint32_t count;
    uint32_t block_count; /* basic blocks: they begin at branch targets and behind branches */
    void *storage;        /* operands and texts */
} isa_code;

/* Decodes `bytes` of a kernel's code from its entry on, which lies at `address` in the code object, up to the last
 * instruction that can be reached. `arch` "gfx1151", with its features; `wave` 32 or 64. An instruction that the table
 * does not have is FMHA_ERROR_UNSUPPORTED: "kernel fmha_…: instruction 'v_foo_b32 v0, v1' at 0x1a30: …". No libLLVM:
 * FMHA_ERROR_NO_DRIVER with every place that was looked at ($FMHA_LLVM_LIBRARY first). Thread-safe. */
fmha_status isa_decode(const char *symbol, const char *arch, unsigned wave, const unsigned char *code, size_t bytes,
                       uint64_t address, isa_code *decoded);
void isa_code_free(isa_code *code);

/* Whether it goes to places that registers name: functions, which may stand before the kernel. */
bool isa_code_calls(const isa_code *code);

/* The index of the instruction at an address in the code object, or -1. */
int64_t isa_code_index(const isa_code *code, uint64_t address);

/* One line of the disassembler of a family's, with what the table says of its operands; "x :: y" fills
 * `second`. Branch targets are left alone. False with a reason in `why`. */
bool isa_decode_line(const char *text, const isa_family *family, unsigned wave, isa_instruction *instruction,
                     isa_instruction *second, isa_operand operands[2 * ISA_OPERANDS_MAX], char *why, size_t why_bytes);

/* Parses one line of a family's disassembler, "v_add_f32_e32 v0, v1, v2", whose mnemonic the family has. `operands` has
 * room for ISA_OPERANDS_MAX; of VOPD the halves are parsed one by one. False with a reason in `why` for what it does
 * not understand. */
bool isa_parse(const isa_family *family, const char *text, isa_instruction *instruction, isa_operand *operands,
               char *why, size_t why_bytes);

#endif
