/* What loads and stores of lanes share: how values lie in memory and in registers, and where addresses lead. */
#ifndef ISA_ACCESS_H
#define ISA_ACCESS_H

#include <string.h>

#include "checks.h"
#include "operand.h"

/* How a value lies in memory and in registers. */
typedef enum isa_shape {
    ISA_WHOLE,
    ISA_BYTE,
    ISA_SIGNED_BYTE,
    ISA_SHORT,
    ISA_SIGNED_SHORT,
    ISA_LOW_HALF, /* of the register; the other half stays */
    ISA_HIGH_HALF,
    ISA_LOW_BYTE, /* widened to that half */
    ISA_LOW_SIGNED_BYTE,
    ISA_HIGH_BYTE,
    ISA_HIGH_SIGNED_BYTE
} isa_shape;

static inline size_t isa_shape_bytes(isa_shape shape, unsigned registers) {
    bool byte = shape == ISA_BYTE || shape == ISA_SIGNED_BYTE || shape >= ISA_LOW_BYTE;
    return shape == ISA_WHOLE ? registers * sizeof(uint32_t) : byte ? 1 : 2;
}

/* True16 registers in a load or store say which half by their name. */
static inline isa_shape isa_with_half(isa_shape shape, const isa_operand *operand) {
    return operand->half == 2 ? ISA_HIGH_HALF : operand->half == 1 && shape == ISA_SHORT ? ISA_LOW_HALF : shape;
}

/* What a register holds after a load of less than 32 bits. */
static inline uint32_t isa_widen(isa_shape shape, const unsigned char *from, uint32_t old) {
    uint16_t word = 0;
    memcpy(&word, from, isa_shape_bytes(shape, 1));
    switch (shape) {
    case ISA_SIGNED_BYTE:
        return (uint32_t)(int32_t)(int8_t)word;
    case ISA_SIGNED_SHORT:
        return (uint32_t)(int32_t)(int16_t)word;
    case ISA_LOW_HALF:
    case ISA_LOW_BYTE:
        return (old & 0xffff0000u) | word;
    case ISA_LOW_SIGNED_BYTE:
        return (old & 0xffff0000u) | (uint16_t)(int8_t)word;
    case ISA_HIGH_HALF:
    case ISA_HIGH_BYTE:
        return (old & 0xffffu) | (uint32_t)word << 16;
    case ISA_HIGH_SIGNED_BYTE:
        return (old & 0xffffu) | (uint32_t)(uint16_t)(int8_t)word << 16;
    default:
        return word;
    }
}

/* Gives a lane what stands at `from`. */
static inline void isa_fill(isa_wave *wave, unsigned reg, unsigned registers, isa_shape shape, int lane,
                            const unsigned char *from) {
    if (shape != ISA_WHOLE) {
        wave->vgpr[reg][lane] = isa_widen(shape, from, wave->vgpr[reg][lane]);
        return;
    }
    for (unsigned n = 0; n < registers; n++) {
        memcpy(&wave->vgpr[reg + n][lane], from + n * sizeof(uint32_t), sizeof(uint32_t));
    }
}

/* Puts at `to` what a lane has. */
static inline void isa_drain(const isa_wave *wave, unsigned reg, unsigned registers, isa_shape shape, int lane,
                             unsigned char *to) {
    uint32_t value = wave->vgpr[reg][lane];
    uint16_t half = (uint16_t)(shape == ISA_HIGH_HALF || shape == ISA_HIGH_BYTE ? value >> 16 : value);
    if (shape != ISA_WHOLE) {
        memcpy(to, &half, isa_shape_bytes(shape, 1)); /* little endian, as every host of this device */
        return;
    }
    for (unsigned n = 0; n < registers; n++) {
        memcpy(to + n * sizeof(uint32_t), &wave->vgpr[reg + n][lane], sizeof(uint32_t));
    }
}

/* False after a finding: data needs so many vector registers, which the kernel has. */
bool isa_has_registers(isa_wave *wave, const isa_operand *operand, unsigned registers);

/* An access begins: what it fills is marked until the wait that covers it; what it stores is read. */
void isa_mark_loaded(isa_wave *wave, const isa_operand *data, unsigned registers, uint64_t mask, isa_queue queue);
void isa_mark_stored(isa_wave *wave, const isa_operand *data, unsigned registers, uint64_t mask, isa_queue queue);

/* Data that is stored as it is, whether anybody wrote it or not: a called function keeps its caller's registers. */
void isa_mark_kept(isa_wave *wave, const isa_operand *data, unsigned registers);

/* Lanes' addresses: vaddr of 64 bits with saddr "off", or a 32-bit offset and a scalar base; and the constant offset.
 */
void isa_global_addresses(isa_wave *wave, const isa_instruction *instruction, const isa_operand *vaddr,
                          const isa_operand *saddr, uint64_t addresses[ISA_LANES_MAX]);

/* Lanes' addresses in LDS with a constant offset added. */
void isa_lds_addresses(isa_wave *wave, const isa_operand *operand, uint32_t offset, uint32_t addresses[ISA_LANES_MAX]);

/* The byte of a lane's scratch, or NULL after a finding; then the workgroup is given up. */
unsigned char *isa_scratch(isa_wave *wave, int lane, uint64_t at, size_t bytes);

/* Whether a generic address is of LDS. */
static inline bool isa_is_shared(uint64_t address) {
    return (address & ~(uint64_t)UINT32_MAX) == ISA_SHARED_BASE;
}

/* The bytes at a generic address, of memory, LDS or scratch. NULL: after a finding, or outside LDS. */
unsigned char *isa_generic(isa_wave *wave, int lane, uint64_t address, size_t bytes, bool write);

#endif
