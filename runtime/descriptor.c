#include "descriptor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const fmha_buffer_names[FMHA_BUFFER_COUNT] = {
    [FMHA_BUFFER_Q] = "q",
    [FMHA_BUFFER_K] = "k",
    [FMHA_BUFFER_V] = "v",
    [FMHA_BUFFER_O] = "o",
    [FMHA_BUFFER_LSE] = "lse",
    [FMHA_BUFFER_FROM] = "from",
    [FMHA_BUFFER_TO] = "to",
    [FMHA_BUFFER_O_PARTIAL] = "o_partial",
    [FMHA_BUFFER_LSE_PARTIAL] = "lse_partial",
    [FMHA_BUFFER_KV] = "kv",
    [FMHA_BUFFER_CU_SEQLENS_Q] = "cu_seqlens_q",
    [FMHA_BUFFER_CU_SEQLENS_K] = "cu_seqlens_k",
    [FMHA_BUFFER_SEQLENS_Q] = "seqlens_q",
    [FMHA_BUFFER_SEQLENS_K] = "seqlens_k",
    [FMHA_BUFFER_BLOCK_TABLE] = "block_table",
    [FMHA_BUFFER_PREFIX_LENGTHS] = "prefix_lengths",
    [FMHA_BUFFER_ALIBI_SLOPES] = "alibi_slopes",
    [FMHA_BUFFER_SINK] = "sink",
    [FMHA_BUFFER_HEAD_SCALE] = "head_scale",
    [FMHA_BUFFER_BIAS] = "bias",
    [FMHA_BUFFER_MASK] = "mask",
    [FMHA_BUFFER_BLOCK_MASK] = "block_mask",
    [FMHA_BUFFER_K_SCALE] = "k_scale",
    [FMHA_BUFFER_V_SCALE] = "v_scale",
    [FMHA_BUFFER_KV_SCALE] = "kv_scale",
    [FMHA_BUFFER_K_NEW] = "k_new",
    [FMHA_BUFFER_V_NEW] = "v_new",
    [FMHA_BUFFER_CU_SEQLENS_NEW] = "cu_seqlens_new",
    [FMHA_BUFFER_SEQLENS_NEW] = "seqlens_new",
    [FMHA_BUFFER_ROTARY_COS] = "rotary_cos",
    [FMHA_BUFFER_ROTARY_SIN] = "rotary_sin",
    [FMHA_BUFFER_TO_SCALE] = "to_scale",
    [FMHA_BUFFER_SCALE_PARTIAL] = "scale_partial",
    [FMHA_BUFFER_MODIFIER_0] = "modifier_buffer_0",
    [FMHA_BUFFER_MODIFIER_0 + 1] = "modifier_buffer_1",
    [FMHA_BUFFER_MODIFIER_0 + 2] = "modifier_buffer_2",
    [FMHA_BUFFER_MODIFIER_0 + 3] = "modifier_buffer_3",
};
const char *const fmha_real_names[FMHA_REAL_COUNT] = {
    [FMHA_REAL_SCALE] = "scale",
    [FMHA_REAL_SOFTCAP] = "softcap",
    [FMHA_REAL_DROPOUT] = "dropout",
    [FMHA_REAL_MODIFIER_0] = "modifier_0",
    [FMHA_REAL_MODIFIER_0 + 1] = "modifier_1",
    [FMHA_REAL_MODIFIER_0 + 2] = "modifier_2",
    [FMHA_REAL_MODIFIER_0 + 3] = "modifier_3",
    [FMHA_REAL_MODIFIER_0 + 4] = "modifier_4",
    [FMHA_REAL_MODIFIER_0 + 5] = "modifier_5",
    [FMHA_REAL_MODIFIER_0 + 6] = "modifier_6",
    [FMHA_REAL_MODIFIER_0 + 7] = "modifier_7",
};

void fmha_constraint_simplify(struct fmha_constraint *constraint) {
    bool equals = constraint->relation == FMHA_RELATION_EQUALS;
    int64_t least = constraint->relation == FMHA_RELATION_MAX ? INT64_MIN : constraint->bound;
    int64_t most = constraint->relation == FMHA_RELATION_MIN ? INT64_MAX : constraint->bound;
    constraint->least = (uint64_t)least;
    constraint->span = (uint64_t)most - (uint64_t)least;
    constraint->simple = fmha_expression_is_simple(&constraint->field, &constraint->value, &constraint->mask) &&
                         (constraint->mask == -1 || (equals && constraint->bound == 0));
}

static bool holds(const struct fmha_constraint *constraint, const struct fmha_operands *operands) {
    int64_t value;
    if (constraint->simple) {
        value = operands->value[constraint->value] & constraint->mask;
    } else if (!fmha_expression_evaluate(&constraint->field, operands->value, &value)) {
        return false;
    }
    return (uint64_t)value - constraint->least <= constraint->span;
}

static bool accepts(const struct fmha_argument *argument, const struct fmha_operands *operands) {
    if (argument->kind == FMHA_ARGUMENT_BUFFER) {
        uintptr_t address = (uintptr_t)operands->buffer[argument->source];
        return (address & (argument->align_bytes - 1u)) == 0 && (address != 0 || argument->optional);
    }
    return argument->kind != FMHA_ARGUMENT_I32 ||
           operands->value[argument->source] == (int32_t)operands->value[argument->source];
}

/* *failed counts the constraints first, then the arguments. */
static bool find_failed(const struct fmha_interface *interface, const struct fmha_operands *operands, int *failed) {
    uint32_t constraint_count = interface->constraint_count, at = 0;
    while (at < constraint_count && holds(&interface->constraints[at], operands)) {
        at++;
    }
    if (at == constraint_count) {
        uint32_t argument = 0;
        while (argument < interface->argument_count && accepts(&interface->arguments[argument], operands)) {
            argument++;
        }
        if (argument == interface->argument_count) {
            return true;
        }
        at += argument;
    }
    *failed = (int)at;
    return false;
}

/* The same by the shortcut, which does not say what fails. */
static bool passes(const struct fmha_interface *interface, const struct fmha_operands *operands) {
    const struct fmha_shortcut *shortcut = &interface->shortcut;
    uint64_t bits = 0, odd = 0; /* two, so that neither waits for the other */
    bool outside = false;
    /* The first are looked at whether they matter or not, in loops whose length the compiler knows; of the others few
     * instances want anything. */
    for (int i = 0; i + 1 < FMHA_VALUE_OF_MODIFIERS; i += 2) {
        bits |= (uint64_t)operands->value[i] & shortcut->value_bits[i];
        odd |= (uint64_t)operands->value[i + 1] & shortcut->value_bits[i + 1];
    }
    for (int i = FMHA_VALUE_OF_MODIFIERS / 2 * 2; i < shortcut->value_end; i++) {
        bits |= (uint64_t)operands->value[i] & shortcut->value_bits[i];
    }
    bits |= odd;
    for (int i = 0; i < FMHA_BUFFER_OF_MODIFIERS; i++) {
        bits |= (uintptr_t)operands->buffer[i] & shortcut->address_bits[i];
    }
    for (int i = FMHA_BUFFER_OF_MODIFIERS; i < shortcut->buffer_end; i++) {
        bits |= (uintptr_t)operands->buffer[i] & shortcut->address_bits[i];
    }
    for (int i = 0; i < shortcut->range_count; i++) {
        uint64_t value = (uint64_t)operands->value[shortcut->ranges[i].value];
        outside |= value - shortcut->ranges[i].least > shortcut->ranges[i].span;
    }
    for (int i = 0; i < shortcut->required_count; i++) {
        outside |= operands->buffer[shortcut->required[i]] == NULL;
    }
    outside |= bits != 0;
    for (int i = 0; i < shortcut->evaluated_count && !outside; i++) {
        uint64_t left = (uint64_t)operands->value[shortcut->evaluated[i].left];
        uint64_t right = (uint64_t)operands->value[shortcut->evaluated[i].right];
        bool quick = shortcut->evaluated[i].multiple && (left | right) >> 32 == 0 && right != 0;
        outside = quick ? (uint32_t)left % (uint32_t)right != 0
                        : !holds(&interface->constraints[shortcut->evaluated[i].constraint], operands);
    }
    return !outside;
}

bool fmha_descriptor_serves(const struct fmha_descriptor *descriptor, const struct fmha_operands *operands,
                            int *failed) {
    const struct fmha_interface *interface = descriptor->interface;
    bool serves = interface->shortcut.checks && passes(interface, operands);
    if (serves || (interface->shortcut.checks && failed == NULL)) {
        return serves;
    }
    return find_failed(interface, operands, failed != NULL ? failed : &(int){0});
}

/* ---- Why not ---- */

static void explain_constraint(const struct fmha_constraint *constraint, const struct fmha_operands *operands,
                               char *text, size_t text_bytes) {
    static const char *const relations[] = {
        [FMHA_RELATION_EQUALS] = "equal to", [FMHA_RELATION_MIN] = "at least", [FMHA_RELATION_MAX] = "at most"};
    const char *relation = relations[constraint->relation];
    const char *field = constraint->text;
    int length = (int)constraint->text_bytes;
    char got[32] = "none in 64 bits";
    int64_t value;
    if (fmha_expression_evaluate(&constraint->field, operands->value, &value)) {
        snprintf(got, sizeof got, "%" PRId64, value);
    }
    int written = snprintf(text, text_bytes, "expected %.*s %s %" PRId64 ", got %s; ", length, field, relation,
                           constraint->bound, got);
    if (written < 0 || (size_t)written >= text_bytes) {
        return;
    }
    const char *percent = memmem(field, constraint->text_bytes, " % ", 3);
    if (percent && constraint->relation == FMHA_RELATION_EQUALS && constraint->bound == 0) {
        int left = (int)(percent - field);
        snprintf(text + written, text_bytes - (size_t)written, "choose %.*s as a multiple of %.*s", left, field,
                 length - left - 3, percent + 3);
    } else {
        snprintf(text + written, text_bytes - (size_t)written, "choose %.*s %s %" PRId64, length, field, relation,
                 constraint->bound);
    }
}

static void explain_argument(const struct fmha_argument *argument, const struct fmha_operands *operands, char *text,
                             size_t text_bytes) {
    if (argument->kind == FMHA_ARGUMENT_BUFFER) {
        const char *name = fmha_buffer_names[argument->source];
        uintptr_t address = (uintptr_t)operands->buffer[argument->source];
        if (address == 0) {
            snprintf(text, text_bytes, "expected an address as %s, got NULL; give the problem its %s", name, name);
        } else {
            snprintf(text, text_bytes,
                     "expected an address that is a multiple of %u bytes as %s, got 0x%" PRIxPTR
                     "; align %s to %u bytes",
                     argument->align_bytes, name, address, name, argument->align_bytes);
        }
        return;
    }
    const char *name = fmha_value_names[argument->source];
    int64_t value = operands->value[argument->source];
    const char *relation = value > 0 ? "at most" : "at least";
    int32_t bound = value > 0 ? INT32_MAX : INT32_MIN;
    snprintf(text, text_bytes, "expected %s %s %" PRId32 ", got %" PRId64 "; choose %s %s %" PRId32, name, relation,
             bound, value, name, relation, bound);
}

void fmha_descriptor_explain(const struct fmha_descriptor *descriptor, const struct fmha_operands *operands, int failed,
                             char *text, size_t text_bytes) {
    const struct fmha_interface *interface = descriptor->interface;
    uint32_t at = (uint32_t)failed;
    if (at < interface->constraint_count) {
        explain_constraint(&interface->constraints[at], operands, text, text_bytes);
    } else {
        explain_argument(&interface->arguments[at - interface->constraint_count], operands, text, text_bytes);
    }
}

/* ---- Launching ---- */

static void pack_shortly(const struct fmha_shortcut *shortcut, const struct fmha_operands *operands,
                         unsigned char *block) {
    const unsigned char *values = (const unsigned char *)operands;
    for (int i = 0; i < shortcut->eight_count; i++) {
        unsigned char *to = block + shortcut->eights[i].to;
        const unsigned char *from = values + shortcut->eights[i].from;
        for (int j = shortcut->eights[i].count; j > 0; j--, to += 8, from += 8) {
            memcpy(to, from, 8);
        }
    }
    for (int i = 0; i < shortcut->four_count; i++) {
        memcpy(block + shortcut->fours[i].to, values + shortcut->fours[i].from, 4);
    }
    for (int i = 0; i < shortcut->zero_count; i++) {
        memset(block + shortcut->zeros[i], 0, 4);
    }
}

void fmha_descriptor_pack(const struct fmha_descriptor *descriptor, const struct fmha_operands *operands, void *block) {
    const struct fmha_interface *interface = descriptor->interface;
    if (interface->shortcut.packs) {
        pack_shortly(&interface->shortcut, operands, block);
        return;
    }
    memset(block, 0, interface->argument_bytes);
    for (uint32_t i = 0; i < interface->argument_count; i++) {
        const struct fmha_argument *argument = &interface->arguments[i];
        unsigned char *to = (unsigned char *)block + argument->offset_bytes;
        switch ((enum fmha_argument_kind)argument->kind) {
        case FMHA_ARGUMENT_BUFFER:
            memcpy(to, &operands->buffer[argument->source], sizeof(void *));
            break;
        case FMHA_ARGUMENT_I32:
            memcpy(to, &(int32_t){(int32_t)operands->value[argument->source]}, sizeof(int32_t));
            break;
        case FMHA_ARGUMENT_I64:
            memcpy(to, &operands->value[argument->source], sizeof(int64_t));
            break;
        case FMHA_ARGUMENT_F32:
            memcpy(to, &operands->real[argument->source], sizeof(float));
            break;
        }
    }
}

bool fmha_descriptor_grid(const struct fmha_descriptor *descriptor, const struct fmha_operands *operands,
                          uint32_t grid[3], bool *empty, int *failed) {
    *empty = false;
    for (int axis = 0; axis < 3; axis++) {
        uint32_t divisor = descriptor->tiles[axis].divisor;
        int64_t value = operands->value[descriptor->tiles[axis].value], size;
        if (divisor != 0 && value >= 0 && value <= INT32_MAX) {
            size = divisor == 1 ? value : ((uint32_t)value + (divisor - 1)) / divisor;
        } else if (!fmha_expression_evaluate(&descriptor->grid[axis], operands->value, &size) || size < 0 ||
                   size > UINT32_MAX) {
            *failed = axis;
            return false;
        }
        grid[axis] = (uint32_t)size;
        *empty = *empty || size == 0;
    }
    return true;
}
