/* Reads what LLVM's disassembler writes of one instruction. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "family.h"

typedef struct parser {
    const char *at;
    const isa_family *family;
    isa_instruction *instruction;
    char *why;
    size_t why_bytes;
} parser;

static bool refuse(parser *p, const char *expected) {
    snprintf(p->why, p->why_bytes, "expected %s, got '%s'", expected, p->at);
    return false;
}

static void skip_blanks(parser *p) {
    while (*p->at == ' ') {
        p->at++;
    }
}

static bool take(parser *p, const char *word) {
    size_t length = strlen(word);
    if (strncmp(p->at, word, length) != 0) {
        return false;
    }
    p->at += length;
    return true;
}

/* A word that ends where the name of a register or a modifier would. */
static bool take_word(parser *p, const char *word) {
    size_t length = strlen(word);
    if (strncmp(p->at, word, length) != 0 || isalnum((unsigned char)p->at[length]) || p->at[length] == '_') {
        return false;
    }
    p->at += length;
    return true;
}

static bool take_number(parser *p, unsigned long *number) {
    char *end;
    if (!isdigit((unsigned char)*p->at)) {
        return false;
    }
    *number = strtoul(p->at, &end, 0);
    p->at = end;
    return true;
}

/* ---- Operands -------------------------------------------------------------------------------------------- */

/* "12" of v12, "[12:15]" of v[12:15]. */
static bool take_registers(parser *p, isa_operand *operand) {
    unsigned long first, last;
    if (take(p, "[")) {
        if (!take_number(p, &first)) {
            return refuse(p, "the number of a register");
        }
        last = first;
        if (take(p, ":") && !take_number(p, &last)) {
            return refuse(p, "the number of a register");
        }
        if (!take(p, "]")) {
            return refuse(p, "']' behind registers");
        }
    } else {
        if (!take_number(p, &first)) {
            return refuse(p, "the number of a register");
        }
        last = first;
    }
    if (last < first || last - first >= 32 || last >= ISA_AGPR) {
        return refuse(p, "registers that exist");
    }
    operand->reg = (uint16_t)first;
    operand->count = (uint8_t)(last - first + 1);
    return true;
}

/* Trap temporaries: 16, which gfx12 fills before a kernel begins. */
static bool take_ttmps(parser *p, isa_operand *operand) {
    if (!take_registers(p, operand)) {
        return false;
    }
    if (operand->reg + operand->count > 16) {
        return refuse(p, "trap temporaries up to ttmp15");
    }
    operand->reg = (uint16_t)(operand->reg + ISA_TTMP);
    return true;
}

static bool take_half(parser *p, isa_operand *operand) {
    if (p->at[0] == '.' && (p->at[1] == 'l' || p->at[1] == 'h')) {
        operand->half = p->at[1] == 'l' ? 1 : 2;
        p->at += 2;
    }
    return true;
}

static bool take_constant(parser *p, isa_operand *operand) {
    const char *begin = p->at;
    char *end;
    size_t length = strspn(begin, "+-0123456789abcdefxABCDEF.");
    bool hexadecimal = strncmp(begin, "0x", 2) == 0 || strncmp(begin, "-0x", 3) == 0;
    operand->kind = ISA_OPERAND_CONSTANT;
    operand->count = 1;
    if (!hexadecimal && memchr(begin, '.', length) != NULL) {
        double value = strtod(begin, &end);
        operand->is_float = true;
        memcpy(&operand->constant, &value, sizeof value);
    } else if (*begin == '-') {
        operand->constant = (uint64_t)strtoll(begin, &end, 0);
    } else {
        operand->constant = strtoull(begin, &end, 0);
    }
    if (end == begin) {
        return refuse(p, "an operand");
    }
    p->at = end;
    return true;
}

/* "HW_REG_MODE)" or "HW_REG_MODE, 4, 4)" as bits 0 to 5 register, 6 to 10 offset, 11 to 15 size less one. gfx10 has
 * besides where its scratch begins, which kernels write and nothing here reads. */
static bool take_hardware_register(parser *p, isa_operand *operand) {
    unsigned long offset = 0, size = 32;
    bool scratch_low = take_word(p, "HW_REG_FLAT_SCR_LO"), scratch = scratch_low || take_word(p, "HW_REG_FLAT_SCR_HI");
    if (!scratch && !take_word(p, "HW_REG_MODE") && !take_word(p, "HW_REG_WAVE_MODE")) {
        return refuse(p, "HW_REG_MODE, the one hardware register that is known");
    }
    unsigned reg = !scratch ? ISA_HW_MODE : scratch_low ? ISA_HW_FLAT_SCR_LO : ISA_HW_FLAT_SCR_HI;
    if (take(p, ", ")) {
        if (!take_number(p, &offset) || !take(p, ", ") || !take_number(p, &size) || size == 0 || offset + size > 32) {
            return refuse(p, "the first bit and the number of bits");
        }
    }
    operand->kind = ISA_OPERAND_CONSTANT;
    operand->count = 1;
    operand->constant = reg | offset << 6 | (size - 1) << 11;
    return take(p, ")") || refuse(p, "')'");
}

static bool take_plain(parser *p, isa_operand *operand) {
    static const struct {
        const char *word;
        uint8_t kind, count;
        uint16_t reg;
    } names[] = {
        {"vcc_lo", ISA_OPERAND_SGPR, 1, ISA_VCC},
        {"vcc_hi", ISA_OPERAND_SGPR, 1, ISA_VCC + 1},
        {"vcc", ISA_OPERAND_SGPR, 2, ISA_VCC},
        {"exec_lo", ISA_OPERAND_SGPR, 1, ISA_EXEC},
        {"exec_hi", ISA_OPERAND_SGPR, 1, ISA_EXEC + 1},
        {"exec", ISA_OPERAND_SGPR, 2, ISA_EXEC},
        {"m0", ISA_OPERAND_SGPR, 1, ISA_M0},
        {"scc", ISA_OPERAND_SCC, 1, 0},
        {"src_scc", ISA_OPERAND_SCC, 1, 0},
        {"off", ISA_OPERAND_OFF, 0, 0},
    };
    if (take(p, "hwreg(")) {
        return take_hardware_register(p, operand);
    }
    bool shared = take_word(p, "src_shared_base");
    if (shared || take_word(p, "src_private_base")) {
        operand->kind = ISA_OPERAND_CONSTANT;
        operand->count = 2;
        operand->constant = shared ? ISA_SHARED_BASE : ISA_PRIVATE_BASE;
        return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (take_word(p, names[i].word)) {
            operand->kind = names[i].kind;
            operand->count = names[i].count;
            operand->reg = names[i].reg;
            return true;
        }
    }
    for (const isa_scalar *special = p->family->special; special->word != NULL; special++) {
        if (take_word(p, special->word)) {
            operand->kind = ISA_OPERAND_SGPR;
            operand->count = special->count;
            operand->reg = special->reg;
            return true;
        }
    }
    if (take(p, "ttmp")) {
        operand->kind = ISA_OPERAND_SGPR;
        return take_ttmps(p, operand);
    }
    if (p->family->takes_agprs && p->at[0] == 'a' && (isdigit((unsigned char)p->at[1]) || p->at[1] == '[')) {
        operand->kind = ISA_OPERAND_VGPR;
        p->at++;
        if (!take_registers(p, operand)) {
            return false;
        }
        operand->reg = (uint16_t)(operand->reg + ISA_AGPR);
        return true;
    }
    if ((p->at[0] == 'v' || p->at[0] == 's') && (isdigit((unsigned char)p->at[1]) || p->at[1] == '[')) {
        operand->kind = p->at[0] == 'v' ? ISA_OPERAND_VGPR : ISA_OPERAND_SGPR;
        p->at++;
        if (!take_registers(p, operand)) {
            return false;
        }
        if (operand->kind == ISA_OPERAND_SGPR && operand->reg + operand->count > p->family->scalars) {
            char most[48];
            snprintf(most, sizeof most, "scalar registers up to s%d", p->family->scalars - 1);
            return refuse(p, most);
        }
        return operand->kind == ISA_OPERAND_SGPR || take_half(p, operand);
    }
    if (take(p, "lit64(") || take(p, "lit(")) {
        return take_constant(p, operand) && (take(p, ")") || refuse(p, "')'"));
    }
    return take_constant(p, operand);
}

/* With its modifiers: -v1, |v1|, -|v1|, neg(0x12), abs(s1), sext(v1). A minus before digits belongs to the number. */
static bool take_operand(parser *p, isa_operand *operand) {
    *operand = (isa_operand){0};
    bool neg_call = take(p, "neg(");
    if (neg_call) {
        operand->neg = true;
    } else if (p->at[0] == '-' && !isdigit((unsigned char)p->at[1])) {
        operand->neg = true;
        p->at++;
    }
    bool neg = operand->neg, bar = take(p, "|"), abs_call = !bar && take(p, "abs("), sext = !bar && take(p, "sext(");
    if (!take_plain(p, operand)) {
        return false;
    }
    operand->neg = neg;
    operand->abs = bar || abs_call;
    operand->sext = sext;
    if ((bar && !take(p, "|")) || (abs_call && !take(p, ")")) || (sext && !take(p, ")")) ||
        (neg_call && !take(p, ")"))) {
        return refuse(p, "the end of an operand's modifier");
    }
    return true;
}

/* ---- Modifiers ------------------------------------------------------------------------------------------- */

/* "[1,0,1]" as bits; *count is how many there are. */
static bool take_bits(parser *p, uint8_t *bits, int *count) {
    *bits = 0;
    *count = 0;
    if (!take(p, "[")) {
        return refuse(p, "a list of bits");
    }
    do {
        if ((*p->at != '0' && *p->at != '1') || *count == 8) {
            return refuse(p, "a bit");
        }
        *bits = (uint8_t)(*bits | (unsigned)(*p->at - '0') << *count);
        p->at++;
        ++*count;
    } while (take(p, ","));
    return take(p, "]") || refuse(p, "']'");
}

/* "[0,1,2,3]" with `width` bits each. */
static bool take_list(parser *p, unsigned width, uint32_t *packed) {
    unsigned long number;
    unsigned shift = 0;
    *packed = 0;
    if (!take(p, "[")) {
        return refuse(p, "a list of numbers");
    }
    do {
        if (!take_number(p, &number) || number >> width != 0 || shift + width > 32) {
            return refuse(p, "a lane's number");
        }
        *packed |= (uint32_t)number << shift;
        shift += width;
    } while (take(p, ","));
    return take(p, "]") || refuse(p, "']'");
}

static bool take_dpp(parser *p) {
    static const struct {
        const char *word;
        isa_dpp dpp;
        unsigned most; /* of its number */
    } kinds[] = {{"row_shl:", ISA_DPP_ROW_SHL, 15},        {"row_shr:", ISA_DPP_ROW_SHR, 15},
                 {"row_ror:", ISA_DPP_ROW_ROR, 15},        {"row_share:", ISA_DPP_ROW_SHARE, 15},
                 {"row_newbcast:", ISA_DPP_ROW_SHARE, 15}, {"row_xmask:", ISA_DPP_ROW_XMASK, 15},
                 {"row_bcast:", ISA_DPP_ROW_BCAST, 31},    {"wave_shl:", ISA_DPP_WAVE_SHL, 1},
                 {"wave_rol:", ISA_DPP_WAVE_ROL, 1},       {"wave_shr:", ISA_DPP_WAVE_SHR, 1},
                 {"wave_ror:", ISA_DPP_WAVE_ROR, 1}};
    isa_instruction *i = p->instruction;
    unsigned long number;
    if (take(p, "quad_perm:")) {
        i->dpp = ISA_DPP_QUAD_PERM;
        return take_list(p, 2, &i->dpp_control);
    }
    if (take(p, "dpp8:")) {
        i->dpp = ISA_DPP8;
        return take_list(p, 3, &i->dpp_control);
    }
    if (take_word(p, "row_half_mirror")) {
        i->dpp = ISA_DPP_ROW_HALF_MIRROR;
        return true;
    }
    if (take_word(p, "row_mirror")) {
        i->dpp = ISA_DPP_ROW_MIRROR;
        return true;
    }
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if ((kinds[k].dpp < ISA_DPP_WAVE_SHL || p->family->takes_wave_dpp) && take(p, kinds[k].word)) {
            i->dpp = (uint8_t)kinds[k].dpp;
            if (!take_number(p, &number) || number > kinds[k].most) {
                char most[48];
                snprintf(most, sizeof most, "a number of lanes up to %u", kinds[k].most);
                return refuse(p, most);
            }
            i->dpp_control = (uint32_t)number;
            return true;
        }
    }
    return refuse(p, "a modifier that is known");
}

static bool take_small(parser *p, const char *word, unsigned long most, unsigned long *number) {
    if (!take(p, word)) {
        return false;
    }
    return (take_number(p, number) && *number <= most) || refuse(p, "a smaller number");
}

/* "src0_sel:WORD_1" and its like, of SDWA. False without a refusal: it is none of these. */
static bool take_select(parser *p, bool *understood) {
    static const char *const parts[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", NULL};
    static const char *const rests[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", NULL};
    isa_instruction *i = p->instruction;
    const struct {
        const char *word;
        const char *const *values;
        uint8_t *to;
    } selects[] = {{"src0_sel:", parts, &i->source_select[0]},
                   {"src1_sel:", parts, &i->source_select[1]},
                   {"dst_sel:", parts, &i->dest_select},
                   {"dst_unused:", rests, &i->dest_unused}};
    for (size_t k = 0; k < sizeof selects / sizeof selects[0]; k++) {
        if (!take(p, selects[k].word)) {
            continue;
        }
        uint8_t value = 0;
        while (selects[k].values[value] != NULL && !take_word(p, selects[k].values[value])) {
            value++;
        }
        *selects[k].to = value;
        *understood = selects[k].values[value] != NULL || refuse(p, "a part of a register that is known");
        return true;
    }
    return false;
}

/* A modifier that is a small number. False without a refusal: it is none of these. */
static bool take_field(parser *p, bool *understood) {
    isa_instruction *i = p->instruction;
    const struct {
        const char *word;
        unsigned most;
        uint8_t *to;
    } fields[] = {{"offset0:", 255, &i->offset0},
                  {"offset1:", 255, &i->offset1},
                  {"row_mask:", 15, &i->row_mask},
                  {"bank_mask:", 15, &i->bank_mask},
                  {"cbsz:", 7, &i->cbsz},
                  {"abid:", 15, &i->abid},
                  {"blgp:", 7, &i->blgp},
                  {"bitop3:", 255, &i->bitop3},
                  {"byte_sel:", ISA_BYTE_3, &i->source_select[0]}};
    for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++) {
        unsigned long number;
        if (take(p, fields[k].word)) {
            *understood = (take_number(p, &number) && number <= fields[k].most) || refuse(p, "a smaller number");
            *fields[k].to = *understood ? (uint8_t)number : 0;
            return true;
        }
    }
    return false;
}

/* Numbers behind a comma each; how many there were. */
static size_t take_numbers(parser *p, unsigned long *numbers, size_t most) {
    size_t count = 0;
    while (count < most && take(p, ",") && take_number(p, &numbers[count])) {
        count++;
    }
    return count;
}

/* The patterns that the assembler has names for, as bits of the offset (LLVM's "Syntax of AMDGPU Instruction
 * Modifiers", swizzle pattern). */
static bool take_swizzle(parser *p) {
    unsigned long n[4];
    uint32_t bits = 0;
    if (take(p, "QUAD_PERM")) {
        if (take_numbers(p, n, 4) != 4) {
            return refuse(p, "four lanes");
        }
        bits = 0x8000u | (uint32_t)(n[0] | n[1] << 2 | n[2] << 4 | n[3] << 6);
    } else if (take(p, "SWAP")) {
        if (take_numbers(p, n, 1) != 1) {
            return refuse(p, "a number of lanes");
        }
        bits = 31u | (uint32_t)n[0] << 10;
    } else if (take(p, "REVERSE")) {
        if (take_numbers(p, n, 1) != 1) {
            return refuse(p, "a number of lanes");
        }
        bits = 31u | (uint32_t)(n[0] - 1) << 10;
    } else if (take(p, "BROADCAST")) {
        if (take_numbers(p, n, 2) != 2) {
            return refuse(p, "a number of lanes and a lane");
        }
        bits = (32u - (uint32_t)n[0]) | (uint32_t)n[1] << 5;
    } else if (take(p, "BITMASK_PERM,\"")) {
        for (int bit = 4; bit >= 0; bit--, p->at++) {
            uint32_t one = 1u << bit;
            bits |= *p->at == 'p' ? one : *p->at == 'i' ? one | one << 10 : *p->at == '1' ? one << 5 : 0;
        }
        if (!take(p, "\"")) {
            return refuse(p, "five letters");
        }
    } else {
        return refuse(p, "a pattern of lanes that is known");
    }
    p->instruction->offset = (int32_t)bits;
    return take(p, ")") || refuse(p, "')'");
}

/* "offset:16", or of ds_swizzle_b32 "offset:swizzle(QUAD_PERM,0,1,2,3)" and its like. */
static bool take_offset(parser *p) {
    unsigned long number;
    bool negative = take(p, "-");
    if (take(p, "swizzle(")) {
        return take_swizzle(p);
    }
    if (!take_number(p, &number) || number > INT32_MAX) {
        return refuse(p, "an offset");
    }
    p->instruction->offset = negative ? -(int32_t)number : (int32_t)number;
    return true;
}

/* What caches do with an access, of which one says that an atomic operation has a result. */
static bool take_hint(parser *p) {
    if (take_word(p, p->family->returning)) {
        p->instruction->returns = true;
        return true;
    }
    for (const char *const *hint = p->family->hints; *hint != NULL; hint++) {
        if ((*hint)[strlen(*hint) - 1] != ':') {
            if (take_word(p, *hint)) {
                return true;
            }
        } else if (take(p, *hint)) {
            static const char returns[] = "_RETURN"; /* th:TH_ATOMIC_NT_RETURN */
            const char *word = p->at;
            while (isalnum((unsigned char)*p->at) || *p->at == '_') {
                p->at++;
            }
            size_t length = (size_t)(p->at - word), ending = sizeof returns - 1;
            p->instruction->returns =
                p->instruction->returns || (length > ending && memcmp(p->at - ending, returns, ending) == 0);
            return true;
        }
    }
    return false;
}

/* One modifier behind the operands. */
static bool take_modifier(parser *p) {
    isa_instruction *i = p->instruction;
    unsigned long number;
    int count;
    if (take(p, "offset:")) {
        return take_offset(p);
    }
    if (take(p, "op_sel_hi:")) {
        i->has_op_sel_hi = true;
        return take_bits(p, &i->op_sel_hi, &count);
    }
    if (take(p, "op_sel:")) {
        i->has_op_sel = true;
        bool done = take_bits(p, &i->op_sel, &count);
        i->op_sel_count = (uint8_t)count;
        return done;
    }
    if (take(p, "neg_lo:")) {
        return take_bits(p, &i->neg_lo, &count);
    }
    if (take(p, "neg_hi:")) {
        return take_bits(p, &i->neg_hi, &count);
    }
    bool understood;
    if (take_field(p, &understood) || take_select(p, &understood)) {
        return understood;
    }
    if (take_small(p, "bound_ctrl:", 1, &number)) {
        i->bound_ctrl = true; /* it is written where the bit is set */
        return true;
    }
    if (take_small(p, "fi:", 1, &number)) {
        i->fi = number != 0;
        return true;
    }
    if (take(p, "mul:")) {
        i->omod = *p->at == '2' ? 1 : 2;
        return take(p, "2") || take(p, "4") || refuse(p, "2 or 4");
    }
    if (take(p, "div:2")) {
        i->omod = 3;
        return true;
    }
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {{"clamp", &i->clamp}, {"gds", &i->gds}, {"offen", &i->offen}};
    for (size_t k = 0; k < sizeof flags / sizeof flags[0]; k++) {
        if (take_word(p, flags[k].word)) {
            *flags[k].flag = true;
            return true;
        }
    }
    return take_hint(p) || take_dpp(p);
}

/* ---- Whole instructions ---------------------------------------------------------------------------------- */

/* "vmcnt(0) lgkmcnt(1)" */
static bool take_waits(parser *p) {
    static const char *const names[] = {"vmcnt(", "expcnt(", "lgkmcnt("};
    for (int k = 0; k < 4; k++) {
        p->instruction->wait[k] = ISA_NO_WAIT;
    }
    for (skip_blanks(p); *p->at != '\0'; skip_blanks(p)) {
        int k = 0;
        unsigned long number;
        while (k < 3 && !take(p, names[k])) {
            k++;
        }
        if (k == 3 || !take_number(p, &number) || !take(p, ")")) {
            return refuse(p, "vmcnt(N), expcnt(N) or lgkmcnt(N)");
        }
        p->instruction->wait[k] = (uint32_t)number;
    }
    return true;
}

/* What stands behind these is for the hardware's scheduler or for people, and no operand. */
static const char *const with_free_text[] = {"s_delay_alu",
                                             "s_sendmsg",
                                             "s_waitcnt_depctr",
                                             "s_clause",
                                             "s_set_inst_prefetch_distance",
                                             "s_sethalt",
                                             "s_inst_prefetch",
                                             "s_code_end",
                                             "s_nop",
                                             "s_setprio",
                                             "s_sleep",
                                             "s_ttracedata_imm",
                                             NULL};

static bool is_one_of(const char *name, const char *const *names) {
    while (*names != NULL && strcmp(*names, name) != 0) {
        names++;
    }
    return *names != NULL;
}

static isa_form take_form(const char *name, size_t *length) {
    static const struct {
        const char *ending;
        isa_form form;
    } endings[] = {{"_e64_dpp", ISA_FORM_DPP},
                   {"_e32", ISA_FORM_E32},
                   {"_e64", ISA_FORM_E64},
                   {"_dpp", ISA_FORM_DPP},
                   {"_sdwa", ISA_FORM_SDWA}};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i].ending);
        if (*length > ending && memcmp(name + *length - ending, endings[i].ending, ending) == 0) {
            *length -= ending;
            return endings[i].form;
        }
    }
    return ISA_FORM_NONE;
}

/* What the mnemonic means; with the modifier clamp some mean another row. */
static const isa_row *find_row(const isa_family *family, const char *name, const char *rest) {
    const isa_row *row = isa_family_find(family, name, strlen(name));
    if (strstr(rest, " clamp") != NULL) {
        char clamped[80];
        snprintf(clamped, sizeof clamped, "%s clamp", name);
        const isa_row *other = isa_family_find(family, clamped, strlen(clamped));
        return other != NULL ? other : row;
    }
    return row;
}

bool isa_parse(const isa_family *family, const char *text, isa_instruction *instruction, isa_operand *operands,
               char *why, size_t why_bytes) {
    *instruction = (isa_instruction){.operands = operands,
                                     .row_mask = 15,
                                     .bank_mask = 15,
                                     .source_select = {ISA_DWORD, ISA_DWORD},
                                     .dest_select = ISA_DWORD};
    parser p = {.at = text, .family = family, .instruction = instruction, .why = why, .why_bytes = why_bytes};
    char name[64];
    size_t length = strcspn(text, " ");
    p.at += length;
    instruction->form = (uint8_t)take_form(text, &length);
    if (length >= sizeof name) {
        return refuse(&p, "a shorter name");
    }
    memcpy(name, text, length);
    name[length] = '\0';
    bool dual = strncmp(name, "v_dual_", 7) == 0;
    if (dual) {
        memmove(name + 2, name + 7, length - 6);
    }
    instruction->row = find_row(family, name, p.at);
    if (instruction->row == NULL) {
        snprintf(why, why_bytes, "the device does not know it on this chip");
        return false;
    }
    instruction->zeroes_half = family->halves_kept != NULL && !is_one_of(name, family->halves_kept);
    skip_blanks(&p);
    if (strcmp(instruction->row->name, "s_waitcnt") == 0) {
        return take_waits(&p);
    }
    if (is_one_of(instruction->row->name, with_free_text)) {
        instruction->offset = (int32_t)(strtoul(p.at, NULL, 0) & 0xff); /* of s_nop: wait states less one */
        return true;
    }
    while (*p.at != '\0' && instruction->row->operands[0] != '\0') {
        if (instruction->operand_count == ISA_OPERANDS_MAX) {
            return refuse(&p, "fewer operands");
        }
        if (!take_operand(&p, &operands[instruction->operand_count])) {
            return false;
        }
        instruction->operand_count++;
        if (take(&p, ",")) {
            skip_blanks(&p);
            continue;
        }
        break;
    }
    for (skip_blanks(&p); *p.at != '\0'; skip_blanks(&p)) {
        if (!take_modifier(&p)) {
            return false;
        }
    }
    return true;
}
