/* From bytes to instructions: LLVM's words, what the table says of them, branch targets, basic blocks. */
#include "decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "family.h"
#include "llvm.h"

enum { INSTRUCTION_BYTES_MIN = 4, TEXT_BYTES = 256 };

/* All operands and texts of a kernel. VOPD has two halves, each with operands of its own. */
typedef struct storage {
    isa_instruction *seconds;
    isa_operand *operands;
    char *texts;
} storage;

typedef struct decoder {
    const char *symbol;
    const unsigned char *code;
    size_t bytes;
    uint64_t address;
    unsigned wave;
    const isa_family *family;
    isa_code *out;
    storage *store;
    char text[TEXT_BYTES];
    char why[192];
} decoder;

static fmha_status refuse(const decoder *d, uint64_t address) {
    return isa_fail(FMHA_ERROR_UNSUPPORTED,
                    "kernel %s: instruction '%s' at 0x%llx: %s; the ISA-level device executes nothing that it does not "
                    "know",
                    d->symbol, d->text, (unsigned long long)address, d->why);
}

/* ---- Roles ----------------------------------------------------------------------------------------------- */

/* One word of isa_row.operands. */
static isa_role read_role(const char *word, size_t length, unsigned wave) {
    isa_role role = {.read = word[0] == 'S' || word[0] == 'B', .write = word[0] == 'D' || word[0] == 'B'};
    role.type = length > 1 ? word[1] : 'x';
    role.count = (uint8_t)(length > 2                             ? (unsigned)atoi(word + 2)
                           : role.type == 'd' || role.type == 'g' ? 2u
                           : role.type == 'm'                     ? wave / 32
                                                                  : 1u);
    return role;
}

static size_t read_roles(const char *text, unsigned wave, isa_role roles[ISA_OPERANDS_MAX]) {
    size_t count = 0;
    while (*text != '\0' && count < ISA_OPERANDS_MAX) {
        size_t length = strcspn(text, " ");
        roles[count++] = read_role(text, length, wave);
        text += length + (text[length] == ' ');
    }
    return count;
}

static isa_operand named_mask(unsigned reg, unsigned wave) {
    return (isa_operand){.kind = ISA_OPERAND_SGPR, .count = (uint8_t)(wave / 32), .reg = (uint16_t)reg};
}

/* "Dx? …": a result that an atomic operation has with a modifier alone. */
static size_t drop_result(const isa_instruction *i, isa_role *roles, size_t count) {
    if (strchr(i->row->operands, '?') == NULL || i->returns) {
        return count;
    }
    memmove(roles, roles + 1, (count - 1) * sizeof *roles);
    return count - 1;
}

/* Puts in the masks that the text leaves out. */
static void add_implicit(isa_instruction *i, isa_operand *operands, const isa_role *roles, size_t role_count,
                         unsigned wave) {
    if (role_count != (size_t)i->operand_count + 1) {
        return;
    }
    if (roles[role_count - 1].type == 'm' && !roles[role_count - 1].write) {
        operands[i->operand_count++] = named_mask(ISA_VCC, wave);
    } else if (roles[0].type == 'm' && roles[0].write) {
        memmove(operands + 1, operands, i->operand_count * sizeof *operands);
        operands[0] = named_mask(ISA_EXEC, wave);
        i->operand_count++;
    }
}

static bool fits_role(const isa_operand *operand, const isa_role *role) {
    if (role->type == 'x' || (role->type == 'm' && operand->reg == ISA_NULL)) {
        return true;
    }
    if (operand->kind == ISA_OPERAND_CONSTANT || operand->kind == ISA_OPERAND_SCC || operand->reg == ISA_NULL) {
        return !role->write || operand->reg == ISA_NULL;
    }
    return operand->kind != ISA_OPERAND_OFF && operand->count == role->count;
}

static bool is_one_of(char type, const char *types) {
    return strchr(types, type) != NULL;
}

static const char *check_operand(const isa_instruction *i, unsigned at) {
    const isa_operand *operand = &i->operands[at];
    char type = i->roles[at].type;
    bool float_constant = operand->kind == ISA_OPERAND_CONSTANT && operand->is_float;
    if ((operand->sext && (i->form != ISA_FORM_SDWA || !is_one_of(type, "vh"))) ||
        ((operand->neg || operand->abs) && !is_one_of(type, "fkd"))) {
        return "a sign modifier of an operand that is no float is not known";
    }
    if (float_constant && type == 'p') {
        return "a float constant among packed integers is not known";
    }
    if (float_constant && type == 'q' && strncmp(i->row->name, "v_dot2", 6) == 0) {
        return "documents differ on float constants of dot products";
    }
    return NULL;
}

/* A constant among pairs of float32 is a value of its own where both results take the lower one; no document says what
 * stands above it. */
static bool has_high_constant(const isa_instruction *i, unsigned at, unsigned source) {
    return i->roles[at].type == 'g' && i->operands[at].kind != ISA_OPERAND_VGPR &&
           i->operands[at].kind != ISA_OPERAND_SGPR &&
           ((i->op_sel >> source & 1) != 0 || !i->has_op_sel_hi || (i->op_sel_hi >> source & 1) != 0);
}

static const char *check_sdwa(const isa_family *family, const isa_instruction *i) {
    if (!family->takes_sdwa) {
        return "SDWA is not known";
    }
    for (unsigned at = 0; at < i->operand_count; at++) {
        if (i->row->lanes == NULL || !is_one_of(i->roles[at].type, "vfhkm") ||
            (i->roles[at].count != 1 && i->roles[at].type != 'm' &&
             !(i->roles[at].write && i->dest_select == ISA_DWORD))) {
            return "SDWA of it is not known";
        }
    }
    return NULL;
}

/* Only what the engine applies may be asked for. */
static const char *check_modifiers(const isa_family *family, const isa_instruction *i) {
    bool lanes = i->row->lanes != NULL;
    if (i->omod != 0) {
        return "with denormals kept the hardware leaves output factors out";
    }
    if (i->clamp && lanes && strchr(i->row->name, ' ') == NULL && !is_one_of(i->roles[0].type, "fkd")) {
        return "its clamp is not known";
    }
    if (i->form == ISA_FORM_SDWA && check_sdwa(family, i) != NULL) {
        return check_sdwa(family, i);
    }
    if (i->dpp != ISA_DPP_NONE && !lanes) {
        return "DPP of it is not known";
    }
    unsigned source = 0, packed = 0;
    for (unsigned at = 0; lanes && at < i->operand_count; at++) {
        const char *problem = check_operand(i, at);
        if (problem != NULL) {
            return problem;
        }
        if (i->dpp != ISA_DPP_NONE && i->roles[at].count == 2 && i->roles[at].type != 'm') {
            return "DPP has no 64-bit operands";
        }
        if (i->roles[at].read && !i->roles[at].write && i->roles[at].type != 'm') {
            if (has_high_constant(i, at, source)) {
                return "a constant in the high half of a pair of float32 is not known";
            }
            packed |= (unsigned)is_one_of(i->roles[at].type, "pqwg") << source++;
        }
    }
    if (lanes && ((i->neg_lo | i->neg_hi) & ~packed) != 0) {
        return "neg_lo and neg_hi of operands that are not packed are not known";
    }
    return NULL;
}

static bool assign_roles(decoder *d, isa_instruction *i, isa_operand *operands) {
    isa_role roles[ISA_OPERANDS_MAX];
    size_t count = drop_result(i, roles, read_roles(i->row->operands, d->wave, roles));
    if (i->operand_count < ISA_OPERANDS_MAX) {
        add_implicit(i, operands, roles, count, d->wave);
    }
    if (count != i->operand_count) {
        snprintf(d->why, sizeof d->why, "expected %zu operands (%s), got %d", count, i->row->operands,
                 i->operand_count);
        return false;
    }
    for (size_t at = 0; at < count; at++) {
        if (!fits_role(&operands[at], &roles[at])) {
            snprintf(d->why, sizeof d->why, "operand %zu does not fit its role in '%s'", at + 1, i->row->operands);
            return false;
        }
        i->roles[at] = roles[at];
    }
    const char *problem = check_modifiers(d->family, i);
    if (problem != NULL) {
        snprintf(d->why, sizeof d->why, "%s", problem);
        return false;
    }
    return true;
}

/* ---- Instructions ---------------------------------------------------------------------------------------- */

/* What the checks need to know of where results come from. */
static void note_dataflow(isa_instruction *i) {
    static const char *const apart[] = {"v_mad_u64_u32",  "v_mad_i64_i32", "v_lshlrev_b64", "v_mov_b64",
                                        "v_lshl_add_u64", "v_pk_fma_f32",  "v_pk_mul_f32",  "v_pk_add_f32"};
    for (size_t n = 0; n < sizeof apart / sizeof apart[0]; n++) {
        i->words_apart = i->words_apart || strcmp(i->row->name, apart[n]) == 0;
    }
    i->copies = strcmp(i->row->name, "s_mov_b32") == 0 || strcmp(i->row->name, "s_mov_b64") == 0 ||
                strcmp(i->row->name, "v_writelane_b32") == 0;
    i->selects = strncmp(i->row->name, "v_cndmask_", 10) == 0;
}

static bool parse_one(decoder *d, const char *text, isa_instruction *i, isa_operand *operands) {
    if (!isa_parse(d->family, text, i, operands, d->why, sizeof d->why)) {
        return false;
    }
    note_dataflow(i);
    return assign_roles(d, i, operands);
}

static unsigned bank(const isa_operand *operand) {
    return operand->kind == ISA_OPERAND_VGPR ? operand->reg & 3u : 4u;
}

/* What the hardware asks of the two halves (RDNA3 guide, 7.6 Dual Issue VALU, p. 77: "hard rules - the instruction does
 * not function if these rules are broken"). Operands: destination, SRC0, VSRC1. */
static const char *check_dual(const decoder *d, const isa_instruction *x, const isa_instruction *y) {
    if (d->wave != 32) {
        return "two operations at once are for waves of 32";
    }
    if (x->row->lanes == NULL || y->row->lanes == NULL) {
        return "one of its halves is not lane-wise";
    }
    if (x->operands[0].kind != ISA_OPERAND_VGPR || y->operands[0].kind != ISA_OPERAND_VGPR ||
        ((x->operands[0].reg ^ y->operands[0].reg) & 1) == 0) {
        return "of its two destinations one must be even and one odd";
    }
    bool moves = strcmp(x->row->name, "v_mov_b32") == 0 && strcmp(y->row->name, "v_mov_b32") == 0;
    if (bank(&x->operands[1]) == bank(&y->operands[1]) && bank(&x->operands[1]) != 4 &&
        !(moves && d->family->dual_moves_share)) {
        return "its first sources are in one bank of registers";
    }
    /* The second source of v_dual_fmamk is the constant. */
    bool mk = strcmp(x->row->name, "v_fmamk_f32") == 0 || strcmp(y->row->name, "v_fmamk_f32") == 0;
    bool second = x->operand_count > 2 && y->operand_count > 2 && !mk;
    if (second && x->roles[2].type != 'm' && y->roles[2].type != 'm' &&
        bank(&x->operands[2]) == bank(&y->operands[2]) && bank(&x->operands[2]) != 4) {
        return "its second sources are in one bank of registers";
    }
    return NULL;
}

/* "v_dual_x … :: v_dual_y …": both must be lane-wise. */
static bool parse_text(decoder *d, isa_instruction *i, isa_instruction *second, isa_operand *operands) {
    char *middle = strstr(d->text, " :: ");
    if (middle == NULL) {
        return parse_one(d, d->text, i, operands);
    }
    *middle = '\0';
    bool parsed = parse_one(d, d->text, i, operands) && parse_one(d, middle + 4, second, operands + ISA_OPERANDS_MAX);
    *middle = ' ';
    const char *problem = parsed ? check_dual(d, i, second) : NULL;
    if (problem != NULL) {
        snprintf(d->why, sizeof d->why, "%s", problem);
    }
    i->second = second;
    return parsed && problem == NULL;
}

bool isa_decode_line(const char *text, const isa_family *family, unsigned wave, isa_instruction *instruction,
                     isa_instruction *second, isa_operand operands[2 * ISA_OPERANDS_MAX], char *why, size_t why_bytes) {
    decoder d = {.symbol = "", .wave = wave, .family = family};
    snprintf(d.text, sizeof d.text, "%s", text);
    bool parsed = parse_text(&d, instruction, second, operands);
    snprintf(why, why_bytes, "%s", parsed ? "" : d.why);
    return parsed;
}

static fmha_status decode_all(decoder *d, isa_llvm *llvm) {
    size_t at = 0;
    isa_code *out = d->out;
    while (d->bytes - at >= INSTRUCTION_BYTES_MIN) {
        size_t taken = isa_llvm_text(llvm, d->code + at, d->bytes - at, d->text, sizeof d->text);
        uint64_t address = d->address + at;
        if (strncmp(d->text, "s_code_end", 10) == 0) {
            break; /* padding behind the kernel, for the instruction prefetch */
        }
        isa_instruction *i = &out->list[out->count];
        isa_operand *operands = d->store->operands + (size_t)out->count * 2 * ISA_OPERANDS_MAX;
        if (taken == 0 || taken > d->bytes - at) {
            snprintf(d->why, sizeof d->why, "LLVM does not know it");
            return refuse(d, address);
        }
        if (!parse_text(d, i, &d->store->seconds[out->count], operands)) {
            return refuse(d, address);
        }
        char *text = d->store->texts + (size_t)out->count * TEXT_BYTES;
        memcpy(text, d->text, strlen(d->text) + 1);
        i->text = text;
        i->address = address;
        i->bytes = (uint8_t)taken;
        out->count++;
        at += taken;
    }
    return FMHA_OK;
}

/* ---- Branches -------------------------------------------------------------------------------------------- */

/* They stand in the order of their addresses. */
int64_t isa_code_index(const isa_code *code, uint64_t address) {
    size_t low = 0, high = code->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code->list[middle].address < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < code->count && code->list[low].address == address ? (int64_t)low : -1;
}

static fmha_status resolve(decoder *d) {
    isa_code *code = d->out;
    bool *begins = calloc(code->count + 1, sizeof *begins);
    if (begins == NULL) {
        return isa_fail(FMHA_ERROR_MEMORY, "kernel %s: no memory for its basic blocks", d->symbol);
    }
    begins[0] = true;
    fmha_status status = FMHA_OK;
    for (uint32_t n = 0; n < code->count && status == FMHA_OK; n++) {
        isa_instruction *i = &code->list[n];
        if (i->row->class != ISA_CLASS_BRANCH) {
            continue;
        }
        begins[n + 1] = true;
        if (i->operand_count == 0 || i->operands[i->operand_count - 1].kind != ISA_OPERAND_CONSTANT) {
            continue; /* s_endpgm, and jumps to what is in registers */
        }
        int64_t target = isa_code_index(
            code, i->address + 4 + (uint64_t)((int64_t)(int16_t)i->operands[i->operand_count - 1].constant * 4));
        if (target < 0) {
            snprintf(d->text, sizeof d->text, "%s", i->text);
            snprintf(d->why, sizeof d->why, "its target is no instruction of the kernel");
            status = refuse(d, i->address);
        } else {
            i->target = (uint32_t)target;
            begins[target] = true;
        }
    }
    for (uint32_t n = 0; n < code->count; n++) {
        code->block_count += begins[n];
        code->list[n].block = code->block_count - 1;
    }
    free(begins);
    return status;
}

/* ---- Hazards -------------------------------------------------------------------------------------------- */

static bool overlap(const isa_operand *a, const isa_operand *b) {
    return a->kind == ISA_OPERAND_VGPR && b->kind == ISA_OPERAND_VGPR && a->reg < b->reg + b->count &&
           b->reg < a->reg + a->count;
}

/* Between two WMMA of which the second takes the first's D for A or B the hardware wants a vector instruction, v_nop if
 * there is no other (RDNA3 ISA guide, 7.9.1 WMMA Scheduling; compilers have the same of gfx12). Looked for within basic
 * blocks. */
static void note_hazards(isa_code *code) {
    const isa_instruction *last = NULL; /* vector instruction of the block */
    for (uint32_t n = 0; n < code->count; n++) {
        isa_instruction *i = &code->list[n];
        isa_class class = i->row->class;
        last = n > 0 && i->block == code->list[n - 1].block ? last : NULL;
        if (strncmp(i->row->name, "v_wmma_", 7) == 0 && last != NULL && strncmp(last->row->name, "v_wmma_", 7) == 0) {
            i->too_soon = overlap(&last->operands[0], &i->operands[1]) || overlap(&last->operands[0], &i->operands[2]);
        }
        last = class == ISA_CLASS_VALU || class == ISA_CLASS_TRANS || class == ISA_CLASS_MATRIX ? i : last;
    }
}

fmha_status isa_decode(const char *symbol, const char *arch, unsigned wave, const unsigned char *code, size_t bytes,
                       uint64_t address, isa_code *decoded) {
    char cpu[64];
    isa_llvm *llvm;
    *decoded = (isa_code){0};
    snprintf(cpu, sizeof cpu, "%.*s", (int)strcspn(arch, ":"), arch);
    fmha_status status = isa_llvm_open(cpu, wave, &llvm);
    if (status != FMHA_OK) {
        return status;
    }
    size_t most = bytes / INSTRUCTION_BYTES_MIN + 1;
    storage *store = calloc(1, sizeof *store);
    decoded->storage = store;
    decoded->list = calloc(most, sizeof *decoded->list);
    if (store != NULL) {
        store->seconds = calloc(most, sizeof *store->seconds);
        store->operands = calloc(most * 2 * ISA_OPERANDS_MAX, sizeof *store->operands);
        store->texts = calloc(most, TEXT_BYTES);
    }
    if (store == NULL || decoded->list == NULL || store->seconds == NULL || store->operands == NULL ||
        store->texts == NULL) {
        status = isa_fail(FMHA_ERROR_MEMORY, "kernel %s: no memory for its instructions", symbol);
    } else {
        decoder d = {.symbol = symbol,
                     .code = code,
                     .bytes = bytes,
                     .address = address,
                     .wave = wave,
                     .family = isa_family_of(arch),
                     .out = decoded,
                     .store = store};
        status = d.family != NULL ? decode_all(&d, llvm)
                                  : isa_fail(FMHA_ERROR_NO_DEVICE,
                                             "kernel %s: expected a chip that this device runs, got %s", symbol, arch);
        if (status == FMHA_OK) {
            status = resolve(&d);
            note_hazards(decoded);
        }
    }
    isa_llvm_close(llvm);
    if (status != FMHA_OK) {
        isa_code_free(decoded);
    }
    return status;
}

bool isa_code_calls(const isa_code *code) {
    for (uint32_t n = 0; n < code->count; n++) {
        if (strcmp(code->list[n].row->name, "s_swappc_b64") == 0) {
            return true;
        }
    }
    return false;
}

void isa_code_free(isa_code *code) {
    storage *store = code->storage;
    if (store != NULL) {
        free(store->seconds);
        free(store->operands);
        free(store->texts);
    }
    free(store);
    free(code->list);
    *code = (isa_code){0};
}
