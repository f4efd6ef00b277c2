/* What constraints and arguments come to all together. */
#include <string.h>

#include "descriptor.h"

struct bounds { /* of one value, both included */
    int64_t least, most;
};

static void narrow(struct bounds *bounds, int64_t least, int64_t most) {
    bounds->least = least > bounds->least ? least : bounds->least;
    bounds->most = most < bounds->most ? most : bounds->most;
}

/* False when there is no room, or when no value would do. */
static bool shorten_checks(const struct fmha_interface *interface, struct fmha_shortcut *shortcut) {
    struct bounds bounds[FMHA_VALUE_COUNT];
    bool required[FMHA_BUFFER_COUNT] = {false};
    for (int i = 0; i < FMHA_VALUE_COUNT; i++) {
        bounds[i] = (struct bounds){INT64_MIN, INT64_MAX};
    }
    for (uint32_t i = 0; i < interface->constraint_count; i++) {
        const struct fmha_constraint *constraint = &interface->constraints[i];
        if (constraint->simple && constraint->mask == -1) {
            narrow(&bounds[constraint->value], (int64_t)constraint->least,
                   (int64_t)(constraint->least + constraint->span));
        } else if (constraint->simple) {
            shortcut->value_bits[constraint->value] |= (uint64_t)constraint->mask;
        } else if (shortcut->evaluated_count < FMHA_SHORTCUT_EVALUATED_MAX) {
            uint8_t at = shortcut->evaluated_count++, left = 0, right = 0;
            shortcut->evaluated[at].multiple = constraint->relation == FMHA_RELATION_EQUALS && constraint->bound == 0 &&
                                               fmha_expression_is_remainder(&constraint->field, &left, &right);
            shortcut->evaluated[at].constraint = (uint16_t)i;
            shortcut->evaluated[at].left = left;
            shortcut->evaluated[at].right = right;
        } else {
            return false;
        }
    }
    for (uint32_t i = 0; i < interface->argument_count; i++) {
        const struct fmha_argument *argument = &interface->arguments[i];
        if (argument->kind == FMHA_ARGUMENT_BUFFER) {
            shortcut->address_bits[argument->source] |= argument->align_bytes - 1u;
            required[argument->source] = required[argument->source] || !argument->optional;
        } else if (argument->kind == FMHA_ARGUMENT_I32) {
            narrow(&bounds[argument->source], INT32_MIN, INT32_MAX);
        }
    }
    for (uint8_t i = 0; i < FMHA_VALUE_COUNT; i++) {
        if (bounds[i].least > bounds[i].most) {
            return false;
        }
        shortcut->value_end = shortcut->value_bits[i] != 0 ? i + 1 : shortcut->value_end;
        if (bounds[i].least != INT64_MIN || bounds[i].most != INT64_MAX) {
            uint64_t least = (uint64_t)bounds[i].least, span = (uint64_t)bounds[i].most - least;
            shortcut->ranges[shortcut->range_count].least = least;
            shortcut->ranges[shortcut->range_count].span = span;
            shortcut->ranges[shortcut->range_count++].value = i;
        }
    }
    for (uint8_t i = 0; i < FMHA_BUFFER_COUNT; i++) {
        shortcut->buffer_end = shortcut->address_bits[i] != 0 ? i + 1 : shortcut->buffer_end;
        if (required[i]) {
            shortcut->required[shortcut->required_count++] = i;
        }
    }
    return interface->constraint_count <= UINT16_MAX;
}

static size_t place_of(const struct fmha_argument *argument) {
    const size_t low_half = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;
    switch ((enum fmha_argument_kind)argument->kind) {
    case FMHA_ARGUMENT_BUFFER:
        return offsetof(struct fmha_operands, buffer) + argument->source * sizeof(void *);
    case FMHA_ARGUMENT_I64:
        return offsetof(struct fmha_operands, value) + argument->source * sizeof(int64_t);
    case FMHA_ARGUMENT_I32:
        return offsetof(struct fmha_operands, value) + argument->source * sizeof(int64_t) + low_half;
    default:
        return offsetof(struct fmha_operands, real) + argument->source * sizeof(float);
    }
}

/* Adds a copy, to the last one where both go on from there. */
static bool add_copy(struct fmha_copy *copies, uint8_t *count, size_t element_bytes, size_t to, size_t from) {
    struct fmha_copy *last = *count > 0 ? &copies[*count - 1] : NULL;
    if (last != NULL && element_bytes == 8 && last->to + 8u * last->count == to &&
        last->from + 8u * last->count == from) {
        last->count++;
        return true;
    }
    if (*count == FMHA_SHORTCUT_COPIES_MAX) {
        return false;
    }
    copies[(*count)++] = (struct fmha_copy){(uint16_t)to, (uint16_t)from, 1};
    return true;
}

/* The bytes from `begin` to `end` belong to no argument. */
static bool add_zeros(struct fmha_shortcut *shortcut, size_t begin, size_t end) {
    for (; begin < end; begin += 4) {
        if (shortcut->zero_count == FMHA_SHORTCUT_COPIES_MAX || end - begin < 4) {
            return false;
        }
        shortcut->zeros[shortcut->zero_count++] = (uint16_t)begin;
    }
    return true;
}

static bool shorten_packing(const struct fmha_interface *interface, struct fmha_shortcut *shortcut) {
    size_t end = 0;
    bool fits = sizeof(void *) == 8;
    for (uint32_t i = 0; i < interface->argument_count && fits; i++) {
        const struct fmha_argument *argument = &interface->arguments[i];
        bool eight = argument->kind == FMHA_ARGUMENT_BUFFER || argument->kind == FMHA_ARGUMENT_I64;
        size_t to = argument->offset_bytes, from = place_of(argument);
        fits = to >= end && add_zeros(shortcut, end, to) &&
               (eight ? add_copy(shortcut->eights, &shortcut->eight_count, 8, to, from)
                      : add_copy(shortcut->fours, &shortcut->four_count, 4, to, from));
        end = to + (eight ? 8 : 4);
    }
    return fits && add_zeros(shortcut, end, interface->argument_bytes);
}

void fmha_interface_shorten(struct fmha_interface *interface) {
    struct fmha_shortcut *shortcut = &interface->shortcut;
    memset(shortcut, 0, sizeof *shortcut);
    shortcut->checks = shorten_checks(interface, shortcut);
    shortcut->packs = shorten_packing(interface, shortcut);
}
