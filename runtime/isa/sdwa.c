#include "sdwa.h"

#include "operand.h"

/* First bit and bits of a selection. */
static unsigned shift_of(uint8_t selection) {
    return selection <= ISA_BYTE_3 ? 8u * selection : selection == ISA_WORD_1 ? 16 : 0;
}

static unsigned bits_of(uint8_t selection) {
    return selection <= ISA_BYTE_3 ? 8 : selection == ISA_DWORD ? 32 : 16;
}

const uint32_t *isa_sdwa_source(const isa_wave *wave, const isa_instruction *i, unsigned source,
                                const isa_operand *operand, char type, const uint32_t *values,
                                uint32_t room[ISA_LANES_MAX]) {
    uint8_t selection = source < 2 ? i->source_select[source] : ISA_DWORD;
    unsigned shift = shift_of(selection), unused = 32 - bits_of(selection);
    bool half = type == 'h' || type == 'k', is_float = type == 'f' || type == 'k';
    uint32_t sign = half ? 0x8000u : 0x80000000u;
    uint32_t keep = is_float && operand->abs ? ~sign : UINT32_MAX, flip = is_float && operand->neg ? sign : 0;
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        uint32_t top = values[lane] >> shift << unused;
        uint32_t value = operand->sext ? (uint32_t)((int32_t)top >> unused) : top >> unused;
        value = (value & keep) ^ flip;
        room[lane] = half ? value & 0xffffu : value;
    }
    return room;
}

void isa_sdwa_write(isa_wave *wave, const isa_instruction *i, const isa_operand *operand, char type, uint64_t mask,
                    const uint32_t values[ISA_LANES_MAX]) {
    uint32_t written[ISA_LANES_MAX], room[ISA_LANES_MAX];
    unsigned shift = shift_of(i->dest_select), bits = bits_of(i->dest_select);
    uint32_t part = bits == 32 ? UINT32_MAX : ((1u << bits) - 1) << shift;
    bool keeps = i->dest_unused == ISA_UNUSED_PRESERVE && bits != 32;
    const uint32_t *old = keeps ? isa_read_lanes(wave, operand, 0, mask, room) : NULL;
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        uint32_t value = type == 'h' || type == 'k' ? values[lane] & 0xffffu : values[lane];
        uint32_t placed = value << shift & part;
        bool negative = (placed >> (shift + bits - 1) & 1) != 0;
        uint32_t above = ~part & ~(((1u << shift) - 1) & ~part); /* bits over the part */
        uint32_t rest = keeps                                                        ? old[lane] & ~part
                        : i->dest_unused == ISA_UNUSED_SEXT && negative && bits < 32 ? above
                                                                                     : 0;
        written[lane] = placed | rest;
    }
    isa_write_lanes(wave, operand, 0, mask, written);
}
