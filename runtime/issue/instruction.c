#include "instruction.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const struct mix_name mix_names[MIX_COUNT] = {
#define X(identifier, name, heading) {name, heading},
    MIX_ROWS(X)
#undef X
};

void mix_add(struct mix *to, const struct mix *from) {
    for (int i = 0; i < MIX_COUNT; i++) {
        to->count[i] += from->count[i];
    }
}

/* ---- What an instruction is
 * --------------------------------------------------------------------------------------------- */

enum { LOAD = 1, STORE = 2, MOVE = 4, CONVERSION = 8, CROSS_LANE = 16, PACKED = 32, VOPD = 64, EXCHANGE = 128 };

/* The longest prefix counts. A row of a whole unit ("v_", "s_", "ds_") takes what the rows below it do not. */
static const struct rule {
    const char *prefix;
    enum mix_id unit;
    unsigned flags;
} rules[] = {
    {"v_", MIX_VALU, 0},
    {"v_dual_", MIX_VALU, VOPD},
    {"v_wmma_", MIX_MATRIX, 0},
    {"v_swmmac_", MIX_MATRIX, 0},
    {"v_mfma_", MIX_MATRIX, 0},
    {"v_smfmac_", MIX_MATRIX, 0},
    {"v_exp_", MIX_TRANSCENDENTAL, 0},
    {"v_log_", MIX_TRANSCENDENTAL, 0},
    {"v_rcp_", MIX_TRANSCENDENTAL, 0},
    {"v_rsq_", MIX_TRANSCENDENTAL, 0},
    {"v_sqrt_", MIX_TRANSCENDENTAL, 0},
    {"v_sin_", MIX_TRANSCENDENTAL, 0},
    {"v_cos_", MIX_TRANSCENDENTAL, 0},
    {"v_tanh_", MIX_TRANSCENDENTAL, 0},
    {"v_s_exp_", MIX_TRANSCENDENTAL, 0},
    {"v_s_log_", MIX_TRANSCENDENTAL, 0},
    {"v_s_rcp_", MIX_TRANSCENDENTAL, 0},
    {"v_s_rsq_", MIX_TRANSCENDENTAL, 0},
    {"v_s_sqrt_", MIX_TRANSCENDENTAL, 0},
    {"v_mov_b", MIX_VALU, MOVE},
    {"v_swap_b", MIX_VALU, MOVE},
    {"v_movrel", MIX_VALU, MOVE},
    {"v_accvgpr_", MIX_VALU, MOVE},
    {"v_pk_", MIX_VALU, PACKED},
    {"v_pk_mov_", MIX_VALU, PACKED | MOVE},
    {"v_cvt_", MIX_VALU, CONVERSION},
    {"v_permlane", MIX_VALU, CROSS_LANE},
    {"v_readlane_", MIX_VALU, CROSS_LANE},
    {"v_readfirstlane_", MIX_VALU, CROSS_LANE},
    {"v_writelane_", MIX_VALU, CROSS_LANE},
    {"ds_", MIX_LDS, LOAD | STORE},
    {"ds_load_", MIX_LDS, LOAD},
    {"ds_read", MIX_LDS, LOAD},
    {"ds_store_", MIX_LDS, STORE},
    {"ds_write", MIX_LDS, STORE},
    {"ds_permute_", MIX_LDS, LOAD | CROSS_LANE | EXCHANGE},
    {"ds_bpermute_", MIX_LDS, LOAD | CROSS_LANE | EXCHANGE},
    {"ds_swizzle_", MIX_LDS, LOAD | CROSS_LANE | EXCHANGE},
    {"ds_nop", MIX_HINT, 0},
    {"lds_direct_load", MIX_LDS, LOAD},
    {"lds_param_load", MIX_LDS, LOAD},
    {"global_load_", MIX_GLOBAL, LOAD},
    {"global_store_", MIX_GLOBAL, STORE},
    {"global_atomic_", MIX_GLOBAL, LOAD | STORE},
    {"global_inv", MIX_CACHE, 0},
    {"global_wb", MIX_CACHE, 0},
    {"global_prefetch_", MIX_CACHE, 0},
    {"flat_load_", MIX_GLOBAL, LOAD},
    {"flat_store_", MIX_GLOBAL, STORE},
    {"flat_atomic_", MIX_GLOBAL, LOAD | STORE},
    {"scratch_load_", MIX_SCRATCH, LOAD},
    {"scratch_store_", MIX_SCRATCH, STORE},
    {"buffer_load_", MIX_BUFFER, LOAD},
    {"buffer_store_", MIX_BUFFER, STORE},
    {"buffer_atomic_", MIX_BUFFER, LOAD | STORE},
    {"tbuffer_load_", MIX_BUFFER, LOAD},
    {"tbuffer_store_", MIX_BUFFER, STORE},
    {"buffer_inv", MIX_CACHE, 0},
    {"buffer_gl", MIX_CACHE, 0},
    {"buffer_wb", MIX_CACHE, 0},
    {"s_", MIX_SCALAR, 0},
    {"s_load_", MIX_SCALAR_MEMORY, LOAD},
    {"s_buffer_load_", MIX_SCALAR_MEMORY, LOAD},
    {"s_scratch_load_", MIX_SCALAR_MEMORY, LOAD},
    {"s_store_", MIX_SCALAR_MEMORY, STORE},
    {"s_buffer_store_", MIX_SCALAR_MEMORY, STORE},
    {"s_scratch_store_", MIX_SCALAR_MEMORY, STORE},
    {"s_atomic_", MIX_SCALAR_MEMORY, LOAD | STORE},
    {"s_buffer_atomic_", MIX_SCALAR_MEMORY, LOAD | STORE},
    {"s_memtime", MIX_SCALAR_MEMORY, LOAD},
    {"s_memrealtime", MIX_SCALAR_MEMORY, LOAD},
    {"s_prefetch_", MIX_CACHE, 0},
    {"s_buffer_prefetch_", MIX_CACHE, 0},
    {"s_dcache_", MIX_CACHE, 0},
    {"s_icache_", MIX_CACHE, 0},
    {"s_gl1_inv", MIX_CACHE, 0},
    {"s_branch", MIX_BRANCH, 0},
    {"s_cbranch_", MIX_BRANCH, 0},
    {"s_setpc_", MIX_BRANCH, 0},
    {"s_swappc_", MIX_BRANCH, 0},
    {"s_call_", MIX_BRANCH, 0},
    {"s_endpgm", MIX_BRANCH, 0},
    {"s_wait", MIX_WAIT, 0},
    {"s_barrier", MIX_BARRIER, 0},
    {"s_nop", MIX_HINT, 0},
    {"s_delay_alu", MIX_HINT, 0},
    {"s_clause", MIX_HINT, 0},
    {"s_setprio", MIX_HINT, 0},
    {"s_sleep", MIX_HINT, 0},
    {"s_wakeup", MIX_HINT, 0},
    {"s_inst_prefetch", MIX_HINT, 0},
    {"s_set_inst_prefetch", MIX_HINT, 0},
    {"s_set_vgpr_msb", MIX_HINT, 0},
    {"s_singleuse_vdst", MIX_HINT, 0},
    {"s_sendmsg", MIX_HINT, 0},
    {"s_sethalt", MIX_HINT, 0},
    {"s_trap", MIX_HINT, 0},
    {"s_ttracedata", MIX_HINT, 0},
    {"s_version", MIX_HINT, 0},
    {"s_code_end", MIX_HINT, 0},
};

size_t instruction_mnemonic(const char *text) {
    return strcspn(text, " \t");
}

/* Registers of the first operand: 4 for "v[3:6]", 1 for "v3". */
static int first_operand_registers(const char *operands) {
    int first, last;
    operands += strspn(operands, " \t");
    return sscanf(operands, "%*1[va][%d:%d]", &first, &last) == 2 && last >= first ? last - first + 1 : 1;
}

/* Bytes per lane, from the first part of the mnemonic that is a width: "ds_load_2addr_stride64_b64" moves 16. */
static int width(const char *mnemonic, size_t length) {
    static const struct {
        const char *word;
        int bytes;
    } words[] = {
        {"dword", 4}, {"dwordx2", 8}, {"dwordx3", 12}, {"dwordx4", 16}, {"byte", 1}, {"ubyte", 1},
        {"sbyte", 1}, {"short", 2},   {"ushort", 2},   {"sshort", 2},   {"x2", 8},
    };
    static const char *const pairs[] = {"2addr", "read2", "write2", "read2st64", "write2st64", "pk"};
    int factor = 1;
    for (size_t at = 0; at < length;) {
        const char *part = mnemonic + at;
        size_t size = 0;
        while (at + size < length && part[size] != '_') {
            size++;
        }
        at += size + 1;
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
            factor *= strlen(pairs[i]) == size && memcmp(part, pairs[i], size) == 0 ? 2 : 1;
        }
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            if (strlen(words[i].word) == size && memcmp(part, words[i].word, size) == 0) {
                return factor * words[i].bytes;
            }
        }
        size_t letters = size > 1 && part[0] == 'b' && part[1] == 'f' ? 2 : 1, digit = letters;
        int bits = 0;
        while (digit < size && isdigit((unsigned char)part[digit]) && bits < 1000) {
            bits = bits * 10 + (part[digit++] - '0');
        }
        if (digit == size && size > letters && strchr("buif", part[0]) != NULL && bits % 8 == 0) {
            return factor * (bits / 8);
        }
    }
    return 4; /* gfx9's global_atomic_add and others that name no width move one register */
}

static bool has_dpp(const char *text, size_t mnemonic) {
    static const char *const controls[] = {" dpp8:", " quad_perm:", " row_", " wave_"};
    const char *suffix = strstr(text, "_dpp");
    bool found = suffix != NULL && suffix < text + mnemonic;
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
        found = found || strstr(text + mnemonic, controls[i]) != NULL;
    }
    return found;
}

/* Multiply-adds of one lane; halves of a dual-issued pair are not looked at. */
static int multiply_adds(const char *text) {
    static const struct {
        const char *prefix;
        int count;
    } words[] = {
        {"v_fma_f", 1},    {"v_fmac_f", 1},    {"v_fmaak_f", 1}, {"v_fmamk_f", 1}, {"v_fma_mix", 1},
        {"v_mac_f", 1},    {"v_mad_f", 1},     {"v_madak_f", 1}, {"v_madmk_f", 1}, {"v_mad_mix", 1},
        {"v_pk_fma_f", 2}, {"v_pk_fmac_f", 2}, {"v_dot2", 2},    {"v_dot4", 4},    {"v_dot8", 8},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strncmp(text, words[i].prefix, strlen(words[i].prefix)) == 0) {
            return words[i].count;
        }
    }
    return 0;
}

void instruction_classify(const char *text, struct instruction *instruction) {
    size_t length = instruction_mnemonic(text), best = 0;
    enum mix_id unit = MIX_OTHER;
    unsigned flags = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        size_t prefix = strlen(rules[i].prefix);
        if (prefix > best && prefix <= length && memcmp(text, rules[i].prefix, prefix) == 0) {
            best = prefix;
            unit = rules[i].unit;
            flags = rules[i].flags;
        }
    }
    *instruction = (struct instruction){.text = text, .unit = unit};
    instruction->load = (flags & LOAD) != 0;
    instruction->store = (flags & STORE) != 0;
    instruction->conversion = (flags & CONVERSION) != 0;
    instruction->packed = (flags & PACKED) != 0;
    instruction->exchange = (flags & EXCHANGE) != 0;
    instruction->multiply_adds = unit == MIX_VALU ? multiply_adds(text) : 0;
    instruction->vopd = (flags & VOPD) != 0;
    instruction->cross_lane = (flags & CROSS_LANE) != 0 || (unit == MIX_VALU && has_dpp(text, length));
    const char *second = instruction->vopd ? strstr(text, ":: ") : NULL;
    bool both_move =
        second != NULL && strncmp(text, "v_dual_mov_", 11) == 0 && strncmp(second + 3, "v_dual_mov_", 11) == 0;
    instruction->move = (both_move || (flags & MOVE) != 0) && !instruction->cross_lane;
    if ((unit == MIX_LDS && !instruction->exchange) || unit == MIX_GLOBAL || unit == MIX_BUFFER ||
        unit == MIX_SCRATCH) {
        instruction->bytes = width(text, length);
        if (strncmp(text, "global_load_tr_", 15) ==
            0) { /* the name gives wave32's width; wave64 has half in each lane */
            int registers = 4 * first_operand_registers(text + length);
            instruction->bytes = registers < instruction->bytes ? registers : instruction->bytes;
        }
        const char *word = strstr(text, "_lds_");
        size_t whole = strlen(text);
        instruction->lds_direct =
            (unit == MIX_GLOBAL || unit == MIX_BUFFER) && instruction->load &&
            ((word != NULL && word < text + length) || (whole > 4 && strcmp(text + whole - 4, " lds") == 0) ||
             strstr(text, " lds ") != NULL);
    }
}

void instruction_count(const struct instruction *instruction, struct mix *mix) {
    int *count = mix->count;
    count[instruction->unit]++;
    count[MIX_VOPD] += instruction->vopd;
    count[MIX_PACKED] += instruction->packed;
    count[MIX_MULTIPLY_ADD] += instruction->multiply_adds > 0;
    count[MIX_MOVES] += instruction->move;
    count[MIX_CONVERSIONS] += instruction->conversion;
    count[MIX_CROSS_LANE] += instruction->cross_lane;
    switch (instruction->unit) {
    case MIX_LDS:
        count[MIX_LDS_BYTES] += instruction->bytes;
        count[MIX_LDS_EXCHANGES] += instruction->exchange;
        break;
    case MIX_GLOBAL:
    case MIX_BUFFER:
        count[MIX_GLOBAL_BYTES] += instruction->bytes;
        count[MIX_LDS_BYTES] += instruction->lds_direct ? instruction->bytes : 0;
        break;
    case MIX_SCRATCH:
        count[MIX_SCRATCH_BYTES] += instruction->bytes;
        break;
    default:
        break;
    }
}
