#include "initial.h"

#include "checks.h"
#include "family.h"
#include "image.h"

static void set_sgpr(isa_wave *wave, unsigned reg, uint32_t value) {
    wave->sgpr[reg] = value;
    if (wave->checks != NULL) {
        wave->checks->sgpr_written[reg] = true;
    }
}

static void set_sgpr_pair(isa_wave *wave, unsigned *reg, uint64_t value) {
    set_sgpr(wave, (*reg)++, (uint32_t)value);
    set_sgpr(wave, (*reg)++, (uint32_t)(value >> 32));
}

static bool asks_for_group(const isa_wave *wave, unsigned dimension) {
    return (wave->group->launch->kernel->rsrc2 & (uint32_t)ISA_RSRC2_GROUP_X << dimension) != 0;
}

void isa_place_in_sgprs(isa_wave *wave, unsigned reg) {
    for (unsigned dimension = 0; dimension < 3; dimension++) {
        if (asks_for_group(wave, dimension)) {
            set_sgpr(wave, reg++, wave->group->at[dimension]);
        }
    }
}

void isa_place_with_scratch(isa_wave *wave, unsigned reg) {
    const isa_kernel *kernel = wave->group->launch->kernel;
    isa_place_in_sgprs(wave, reg);
    for (unsigned dimension = 0; dimension < 3; dimension++) {
        reg += asks_for_group(wave, dimension);
    }
    if ((kernel->rsrc2 & ISA_RSRC2_SCRATCH) != 0 || (kernel->rsrc_properties & ISA_USER_PRIVATE_BUFFER) != 0) {
        set_sgpr(wave, reg, (uint32_t)(wave->number * (size_t)wave->lanes * kernel->scratch_bytes));
    }
}

void isa_place_in_ttmps(isa_wave *wave, unsigned reg) {
    const unsigned *at = wave->group->at;
    (void)reg;
    if (asks_for_group(wave, 0)) {
        set_sgpr(wave, ISA_TTMP + 9, at[0]);
    }
    if (asks_for_group(wave, 1) || asks_for_group(wave, 2)) {
        set_sgpr(wave, ISA_TTMP + 7,
                 (asks_for_group(wave, 1) ? at[1] : 0) | (asks_for_group(wave, 2) ? at[2] << 16 : 0));
    }
}

void isa_items_packed(isa_wave *wave) {
    const isa_launch *launch = wave->group->launch;
    unsigned asked = launch->kernel->rsrc2 >> ISA_RSRC2_ITEM_SHIFT & 3u;
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        unsigned item = wave->number * wave->lanes + lane;
        uint32_t packed = item % launch->workgroup[0];
        if (asked >= 1) {
            packed |= item / launch->workgroup[0] % launch->workgroup[1] << 10;
        }
        if (asked >= 2) {
            packed |= item / launch->workgroup[0] / launch->workgroup[1] << 20;
        }
        if ((wave->present >> lane & 1) != 0) {
            wave->vgpr[0][lane] = packed;
        }
    }
    if (wave->checks != NULL) {
        wave->checks->vgpr_written[0] = wave->present;
    }
}

void isa_items_apart(isa_wave *wave) {
    const isa_launch *launch = wave->group->launch;
    unsigned asked = launch->kernel->rsrc2 >> ISA_RSRC2_ITEM_SHIFT & 3u;
    for (unsigned lane = 0; lane < wave->lanes; lane++) {
        unsigned item = wave->number * wave->lanes + lane, row = item / launch->workgroup[0];
        uint32_t ids[3] = {item % launch->workgroup[0], row % launch->workgroup[1], row / launch->workgroup[1]};
        for (unsigned n = 0; n <= asked && n < 3 && (wave->present >> lane & 1) != 0; n++) {
            wave->vgpr[n][lane] = ids[n];
        }
    }
    for (unsigned n = 0; wave->checks != NULL && n <= asked && n < 3; n++) {
        wave->checks->vgpr_written[n] = wave->present;
    }
}

/* In the guide's order: what the kernel asked for from s0 on, then the workgroup's place behind all user SGPRs (of
 * which a kernel may have more than it asked for, to pass by a fault of the first gfx11 chips). */
void isa_initial_registers(isa_wave *wave) {
    const isa_launch *launch = wave->group->launch;
    const isa_kernel *kernel = launch->kernel;
    unsigned reg = 0;
    if ((kernel->rsrc_properties & ISA_USER_PRIVATE_BUFFER) != 0) {
        set_sgpr_pair(wave, &reg, ISA_PRIVATE_BUFFER);
        set_sgpr_pair(wave, &reg, ISA_PRIVATE_BUFFER_REST);
    }
    if ((kernel->rsrc_properties & ISA_USER_DISPATCH_PTR) != 0) {
        set_sgpr_pair(wave, &reg, (uint64_t)(uintptr_t)launch->dispatch_packet);
    }
    if ((kernel->rsrc_properties & ISA_USER_KERNARG_PTR) != 0) {
        set_sgpr_pair(wave, &reg, (uint64_t)(uintptr_t)launch->kernarg);
    }
    if ((kernel->rsrc_properties & ISA_USER_DISPATCH_ID) != 0) {
        set_sgpr_pair(wave, &reg, launch->number);
    }
    if ((kernel->rsrc_properties & ISA_USER_FLAT_SCRATCH) != 0) {
        set_sgpr_pair(wave, &reg, ISA_PRIVATE_BUFFER);
    }
    if ((kernel->rsrc_properties & ISA_USER_PRIVATE_BYTES) != 0) {
        set_sgpr(wave, reg, kernel->scratch_bytes);
    }
    kernel->family->place(wave, kernel->user_sgprs);
    set_sgpr(wave, ISA_EXEC, (uint32_t)wave->present);
    set_sgpr(wave, ISA_EXEC + 1, (uint32_t)(wave->present >> 32));
    kernel->family->items(wave);
}
