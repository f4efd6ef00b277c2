#include "access.h"

#include "memory.h"

bool isa_has_registers(isa_wave *wave, const isa_operand *operand, unsigned registers) {
    const isa_kernel *kernel = wave->group->launch->kernel;
    bool accumulates = operand->kind == ISA_OPERAND_VGPR && operand->reg >= ISA_AGPR;
    uint32_t first = accumulates ? ISA_AGPR : 0, most = accumulates ? kernel->agprs : kernel->vgprs;
    if (operand->kind == ISA_OPERAND_VGPR && operand->count == registers && operand->reg - first + registers <= most) {
        return true;
    }
    isa_give_up(wave, "register-outside", "expected %u vector registers below %c%u for its data", registers,
                accumulates ? 'a' : 'v', most);
    return false;
}

void isa_mark_loaded(isa_wave *wave, const isa_operand *data, unsigned registers, uint64_t mask, isa_queue queue) {
    if (wave->checks == NULL) {
        return;
    }
    uint32_t ticket = isa_check_issue(wave, queue);
    for (unsigned n = 0; n < registers; n++) {
        isa_check_vgpr_load(wave, data->reg + n, mask, queue, ticket);
    }
}

void isa_mark_stored(isa_wave *wave, const isa_operand *data, unsigned registers, uint64_t mask, isa_queue queue) {
    if (wave->checks == NULL) {
        return;
    }
    isa_check_issue(wave, queue);
    for (unsigned n = 0; n < registers; n++) {
        isa_check_vgpr_read(wave, data->reg + n, mask);
    }
}

void isa_mark_kept(isa_wave *wave, const isa_operand *data, unsigned registers) {
    isa_check_collect(wave);
    isa_mark_stored(wave, data, registers, isa_exec(wave), ISA_QUEUE_STORE);
    isa_check_collected(wave);
}

void isa_global_addresses(isa_wave *wave, const isa_instruction *i, const isa_operand *vaddr, const isa_operand *saddr,
                          uint64_t addresses[ISA_LANES_MAX]) {
    uint32_t low_room[ISA_LANES_MAX], high_room[ISA_LANES_MAX];
    uint64_t exec = isa_exec(wave), base = (uint64_t)(int64_t)i->offset;
    const uint32_t *low = isa_read_lanes(wave, vaddr, 0, exec, low_room), *high = NULL;
    if (saddr->kind == ISA_OPERAND_OFF) {
        high = isa_read_lanes(wave, vaddr, 1, exec, high_room);
    } else {
        base += isa_read_scalar64(wave, saddr);
    }
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        addresses[lane] = base + low[lane] + (high != NULL ? (uint64_t)high[lane] << 32 : 0);
    }
}

void isa_lds_addresses(isa_wave *wave, const isa_operand *operand, uint32_t offset, uint32_t addresses[ISA_LANES_MAX]) {
    uint32_t room[ISA_LANES_MAX];
    const uint32_t *values = isa_read_lanes(wave, operand, 0, isa_exec(wave), room);
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        addresses[lane] = values[lane] + offset;
    }
}

unsigned char *isa_scratch(isa_wave *wave, int lane, uint64_t at, size_t bytes) {
    const isa_group *group = wave->group;
    if (at >= group->scratch_bytes_lane || bytes > group->scratch_bytes_lane - at) {
        isa_report(wave, lane, "scratch-out-of-bounds", "touches byte %llu of scratch, of which a lane has %zu",
                   (unsigned long long)at, group->scratch_bytes_lane);
        wave->failed = true;
        return NULL;
    }
    return group->scratch + (wave->number * (size_t)wave->lanes + (unsigned)lane) * group->scratch_bytes_lane + at;
}

unsigned char *isa_generic(isa_wave *wave, int lane, uint64_t address, size_t bytes, bool write) {
    uint32_t low = (uint32_t)address;
    if (isa_is_shared(address)) {
        return isa_lds_check(wave, lane, low, bytes, write) ? wave->group->lds + low : NULL;
    }
    if ((address & ~(uint64_t)UINT32_MAX) == ISA_PRIVATE_BASE) {
        return isa_scratch(wave, lane, low, bytes);
    }
    return isa_global(wave, lane, address, bytes, write);
}
