#include "access.h"

#include <link.h>
#include <string.h>

#include "count.h"
#include "report.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define COLD          __attribute__((noinline, cold))

/* ---- LDS ------------------------------------------------------------------------------------------------------------
 */

static const char other_wave[] = "put an s_barrier between the two accesses, or give each wave LDS of its own";
static const char other_lane[] = "put a wave_barrier, with a fence before and one after it, between the two accesses: "
                                 "the compiler may exchange them";

COLD static void report_lds(emu_lane *lane, emu_lds_fault fault, const emu_lds_detail *detail, size_t place,
                            size_t bytes, bool write, const void *at) {
    char where[EMU_ADDRESS_BYTES];
    const char *verb = write ? "writes" : "reads", *other = detail->other == EMU_LDS_SEVERAL ? "s" : "";
    unsigned number = detail->other - 1u;
    emu_address_text(lane, lane->lds_begin + detail->at, where);
    switch (fault) {
    case EMU_LDS_FINE:
        break;
    case EMU_LDS_OUTSIDE:
        emu_address_text(lane, lane->lds_begin + place, where);
        emu_report_access(lane, "lds-out-of-bounds", at,
                          "check the index against the size that the kernel declares, or declare more",
                          "%s %zu bytes at %s%s", verb, bytes, where, detail->at > place ? ", which end before" : "");
        emu_abandon(lane->wave->worker);
        break;
    case EMU_LDS_UNWRITTEN:
        emu_report_access(lane, "lds-unwritten", at,
                          "write it first, in every lane that should, with a barrier between writing and reading",
                          "reads %s, which nothing in the workgroup has written", where);
        break;
    case EMU_LDS_WAVE_WROTE:
        emu_report_access(lane, "lds-race", at, other_wave, "%s %s, which wave %u has written since the last s_barrier",
                          verb, where, number);
        break;
    case EMU_LDS_WAVE_READ:
        if (*other != '\0') {
            emu_report_access(lane, "lds-race", at, other_wave,
                              "writes %s, which several waves have read since the last s_barrier", where);
        } else {
            emu_report_access(lane, "lds-race", at, other_wave,
                              "writes %s, which wave %u has read since the last s_barrier", where, number);
        }
        break;
    case EMU_LDS_LANE_WROTE:
        emu_report_access(lane, "lds-lane-race", at, other_lane,
                          "%s %s, which lane %u of the same wave has written since the wave's last barrier", verb,
                          where, number);
        break;
    case EMU_LDS_LANE_READ:
        if (*other != '\0') {
            emu_report_access(lane, "lds-lane-race", at, other_lane,
                              "writes %s, which several lanes of the same wave have read since the wave's last barrier",
                              where);
        } else {
            emu_report_access(lane, "lds-lane-race", at, other_lane,
                              "writes %s, which lane %u of the same wave has read since the wave's last barrier", where,
                              number);
        }
        break;
    }
}

COLD static void report_not_arrived(emu_lane *lane, const emu_wave *loader, size_t place, bool write, const void *at) {
    char where[EMU_ADDRESS_BYTES];
    emu_report_access(
        lane, "lds-not-arrived", at,
        "wait in the wave that loads, before the barrier, by __builtin_amdgcn_s_waitcnt(0x0f70), which is "
        "vmcnt(0)",
        "%s %s, which a load of wave %u from memory fills and no wait of that wave has ended",
        write ? "writes" : "reads", emu_address_text(lane, lane->lds_begin + place, where), loader->number);
}

COLD static void report_arriving(emu_lane *lane, unsigned item, size_t place, bool write, const void *at) {
    char where[EMU_ADDRESS_BYTES];
    const emu_lane *copier = &lane->wave->worker->lanes[item];
    emu_report_access(
        lane, "lds-not-arrived", at,
        "wait in the thread that copies, by cp.async.wait_group for the group that it has committed, before "
        "the barrier",
        "%s %s, which a cp.async of wave %u, lane %u, fills and no wait of that thread has ended",
        write ? "writes" : "reads", emu_address_text(lane, lane->lds_begin + place, where), copier->wave->number,
        copier->seen.index);
}

COLD static void report_in_use(emu_lane *lane, size_t place, const void *at) {
    char where[EMU_ADDRESS_BYTES];
    unsigned wave = 0;
    int line = emu_products_find(lane->wave->worker, place, &wave);
    emu_report_access(lane, "lds-in-use", at,
                      "wait in every wave that multiplies, by wgmma.wait_group for the group that it has committed, "
                      "before the barrier",
                      "writes %s, which the product of line %d reads that wave %u has not waited for",
                      emu_address_text(lane, lane->lds_begin + place, where), line, wave);
}

ALWAYS_INLINE void lds_access(emu_lane *lane, size_t place, size_t bytes, bool write, const void *at) {
    emu_lds_detail detail;
    emu_lds_fault fault = write ? emu_lds_write(lane->lds, place, bytes, lane->wave_mark, lane->lane_mark, &detail)
                                : emu_lds_read(lane->lds, place, bytes, lane->wave_mark, lane->lane_mark, &detail);
    if (__builtin_expect(fault != EMU_LDS_FINE, 0)) {
        bool in_use = fault == EMU_LDS_WAVE_READ && lane->lds->in_use[detail.at / EMU_COPY_BYTES] != 0;
        if (!in_use) { /* of which more is said below */
            report_lds(lane, fault, &detail, place, bytes, write, at);
        }
    }
    if (write) {
        emu_lds_note(lane->lds, place, bytes, emu_lds_mark_of(lane->number, lane->shown));
    }
    for (size_t unit = place / EMU_COPY_BYTES; unit * EMU_COPY_BYTES < place + bytes && unit < EMU_LDS_UNITS; unit++) {
        if (__builtin_expect(lane->lds->arriving[unit] != 0, 0)) {
            report_arriving(lane, lane->lds->arriving[unit] - 1u, unit * EMU_COPY_BYTES, write, at);
            break;
        }
        if (__builtin_expect(write && lane->lds->in_use[unit] != 0, 0)) {
            report_in_use(lane, unit * EMU_COPY_BYTES, at);
            break;
        }
    }
    if (__builtin_expect(lane->wave->worker->lds_loads != 0, 0)) {
        const emu_wave *loader = emu_lds_loads_find(lane->wave->worker, place, bytes);
        if (loader != NULL) {
            report_not_arrived(lane, loader, place, write, at);
        }
    }
    if (__builtin_expect(lane->wave->worker->count != NULL, 0)) {
        emu_count_lds(lane, place, bytes, write, at);
    }
}

/* ---- Device memory --------------------------------------------------------------------------------------------------
 */

COLD static void report_outside(emu_lane *lane, uintptr_t address, size_t bytes, bool write, const void *at) {
    char where[EMU_ADDRESS_BYTES];
    emu_report_access(lane, "out-of-bounds", at, "check pointers, strides and bounds", "%s %zu byte%s at %s",
                      write ? "writes" : "reads", bytes, bytes == 1 ? "" : "s", emu_address_text(lane, address, where));
    emu_abandon(lane->wave->worker);
}

/* An access that begins inside an allocation and ends outside. */
COLD static void report_over_end(emu_lane *lane, const emu_allocation *allocation, size_t offset, size_t bytes,
                                 bool write, const void *at) {
    emu_report_access(lane, "out-of-bounds", at, "check pointers, strides and bounds",
                      "%s %zu bytes at byte %zu of \"%s\", which has %zu", write ? "writes" : "reads", bytes, offset,
                      allocation->label, allocation->bytes);
    emu_abandon(lane->wave->worker);
}

COLD static void report_view(emu_lane *lane, const emu_allocation *allocation, size_t offset, size_t bytes, bool write,
                             const void *at) {
    const emu_views *views = &allocation->views;
    unsigned need = write ? FMHA_ACCESS_WRITE : FMHA_ACCESS_READ;
    char where[EMU_ADDRESS_BYTES];
    size_t bad = offset;
    while ((views->list[views->owner[bad]].access & need) != 0) {
        bad++;
    }
    emu_views_describe(views, bad, where, sizeof where);
    if (views->owner[bad] == 0) {
        emu_report_access(lane, "outside-tensor", at,
                          "no tensor has an element there: check lengths, strides and what is done past the last row",
                          "%s %zu byte%s of \"%s\", %s", write ? "writes" : "reads", bytes, bytes == 1 ? "" : "s",
                          allocation->label, where);
    } else if (write) {
        emu_report_access(lane, "wrong-access", at, "write to outputs alone", "writes %s, an input", where);
    } else {
        emu_report_access(lane, "wrong-access", at,
                          "keep what is needed again in registers, or declare the tensor to be read too",
                          "reads %s, an output", where);
    }
}

/* Notes who writes; a workgroup must not write what another has written in the same launch. */
static void note_writer(emu_lane *lane, const emu_allocation *allocation, size_t offset, size_t bytes, const void *at) {
    const emu_worker *worker = lane->wave->worker;
    uint32_t launch = (worker->launch->number & 0xffu) << 24;
    uint32_t mine = launch | (uint32_t)(worker->group % 0xfffffeu + 1);
    for (size_t i = offset; i < offset + bytes; i++) {
        _Atomic(uint32_t) *writer = &allocation->views.writer[i];
        uint32_t before = atomic_load_explicit(writer, memory_order_relaxed);
        if (before == mine) {
            continue;
        }
        before = atomic_exchange_explicit(writer, mine, memory_order_relaxed);
        if (before != 0 && before != mine && (before & 0xff000000u) == launch) {
            char where[EMU_ADDRESS_BYTES];
            emu_views_describe(&allocation->views, i, where, sizeof where);
            emu_report_access(lane, "output-race", at,
                              "let one workgroup write each element, or combine the parts in a second kernel",
                              "writes %s, which another workgroup has written in the same launch", where);
            return;
        }
    }
}

static const emu_allocation *find_allocation(emu_worker *worker, uintptr_t address) {
    const emu_allocation *recent = worker->recent;
    if (recent == NULL || address - recent->begin >= recent->bytes) {
        recent = emu_memory_find(worker->launch->memory, (const void *)address, 1);
        if (recent != NULL) {
            worker->recent = recent;
        }
    }
    return recent;
}

typedef struct statics {
    uintptr_t base, begin, end;
} statics;

static int find_statics(struct dl_phdr_info *object, size_t size, void *context) {
    statics *found = context;
    if (size < sizeof *object || object->dlpi_addr != found->base) {
        return 0;
    }
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type == PT_TLS && object->dlpi_tls_data != NULL) {
            found->begin = (uintptr_t)object->dlpi_tls_data;
            found->end = found->begin + object->dlpi_phdr[i].p_memsz;
        }
    }
    return 1;
}

/* Constants and variables of the kernel's text, its arguments; and the engine's own part of a lane, which is reached
 * here when the compiler fills it or copies into it as a whole. */
COLD static bool is_static(emu_worker *worker, uintptr_t address, size_t bytes) {
    const emu_launch *launch = worker->launch;
    uintptr_t arguments = (uintptr_t)launch->arguments, last = address + bytes - 1;
    uintptr_t lanes = (uintptr_t)worker->lanes;
    if ((address >= launch->base && last < launch->end) ||
        (address >= lanes && last < lanes + EMU_LANES_MAX * sizeof *worker->lanes) ||
        (address >= arguments && last < arguments + launch->argument_bytes)) {
        return true;
    }
    if (worker->static_begin == worker->static_end) { /* the loader makes them when a thread first asks for them */
        statics found = {.base = launch->base};
        dl_iterate_phdr(find_statics, &found);
        worker->static_begin = found.begin;
        worker->static_end = found.end;
    }
    return address >= worker->static_begin && last < worker->static_end;
}

/* Whether all bytes belong to views that allow the access. */
ALWAYS_INLINE bool is_allowed(const emu_views *views, size_t offset, size_t bytes, unsigned need) {
    const uint8_t *owner = views->owner + offset;
    uint8_t first = owner[0], unlike = 0;
    for (size_t i = 1; i < bytes; i++) {
        unlike |= owner[i] ^ first;
    }
    if (unlike == 0) {
        return (views->list[first].access & need) != 0;
    }
    for (size_t i = 0; i < bytes; i++) {
        if ((views->list[owner[i]].access & need) == 0) {
            return false;
        }
    }
    return true;
}

ALWAYS_INLINE void memory_access(emu_lane *lane, uintptr_t address, size_t bytes, bool write, const void *at) {
    emu_worker *worker = lane->wave->worker;
    const emu_allocation *allocation = find_allocation(worker, address);
    if (allocation == NULL) {
        if (!is_static(worker, address, bytes)) {
            report_outside(lane, address, bytes, write, at);
        }
        return;
    }
    size_t offset = address - allocation->begin;
    if (bytes > allocation->bytes - offset) {
        report_over_end(lane, allocation, offset, bytes, write, at);
    }
    if (!is_allowed(&allocation->views, offset, bytes, write ? FMHA_ACCESS_WRITE : FMHA_ACCESS_READ)) {
        report_view(lane, allocation, offset, bytes, write, at);
    }
    if (write && allocation->views.writer != NULL) {
        note_writer(lane, allocation, offset, bytes, at);
    }
    if (__builtin_expect(worker->count != NULL, 0)) {
        emu_traffic_touch(&allocation->views, offset, bytes, write);
        if (!write) {
            emu_count_read(lane, &allocation->views, offset, bytes, at);
        }
    }
}

/* ---- What kernels call ----------------------------------------------------------------------------------------------
 */

/* Most accesses are to the lane's own stack, which its block tells, and to LDS. */
ALWAYS_INLINE void check(uintptr_t address, size_t bytes, bool write, const void *at) {
    uintptr_t block = (uintptr_t)__builtin_frame_address(0) & ~(EMU_STACK_BLOCK - 1);
    if ((address & ~(EMU_STACK_BLOCK - 1)) == block || bytes == 0) {
        return;
    }
    emu_lane *lane = *(emu_lane **)(block + EMU_STACK_GUARD);
    size_t place = address - lane->lds_begin;
    if (place < EMU_LDS_AREA_BYTES) {
        lds_access(lane, place, bytes, write, at);
    } else {
        memory_access(lane, address, bytes, write, at);
    }
}

#define CHECKED(bytes)                                                                                                 \
    static void read_##bytes(unsigned long address) {                                                                  \
        check(address, bytes, false, __builtin_return_address(0));                                                     \
    }                                                                                                                  \
    static void write_##bytes(unsigned long address) {                                                                 \
        check(address, bytes, true, __builtin_return_address(0));                                                      \
    }
CHECKED(1)
CHECKED(2)
CHECKED(4)
CHECKED(8)
CHECKED(16)

void (*const emu_access_read[5])(unsigned long) = {read_1, read_2, read_4, read_8, read_16};
void (*const emu_access_write[5])(unsigned long) = {write_1, write_2, write_4, write_8, write_16};

void emu_access_read_bytes(unsigned long address, unsigned long bytes) {
    check(address, bytes, false, __builtin_return_address(0));
}

void emu_access_write_bytes(unsigned long address, unsigned long bytes) {
    check(address, bytes, true, __builtin_return_address(0));
}

void *emu_access_copy(void *to, const void *from, unsigned long bytes) {
    check((uintptr_t)from, bytes, false, __builtin_return_address(0));
    check((uintptr_t)to, bytes, true, __builtin_return_address(0));
    return memmove(to, from, bytes);
}

void *emu_access_fill(void *to, int byte, unsigned long bytes) {
    check((uintptr_t)to, bytes, true, __builtin_return_address(0));
    return memset(to, byte, bytes);
}

void emu_access_memory_at(emu_lane *lane, const struct fmha_emu_site *site, uintptr_t address, size_t bytes) {
    memory_access(lane, address, bytes, false, site);
}

void emu_access_lds_at(emu_lane *lane, const struct fmha_emu_site *site, uintptr_t address, size_t bytes, bool write) {
    size_t place = address - lane->lds_begin;
    if (place >= EMU_LDS_AREA_BYTES) {
        report_lds(lane, EMU_LDS_OUTSIDE, &(emu_lds_detail){.at = place}, place, bytes, write, site);
    }
    lds_access(lane, place, bytes, write, site);
}

void emu_access_misaligned(const struct fmha_emu_misaligned *access) {
    emu_lane *lane = emu_current;
    char where[EMU_ADDRESS_BYTES];
    emu_address_text(lane, access->address, where);
    if (access->type != NULL) {
        emu_report_line(lane, "misaligned-access", access->file, (int)access->line,
                        "align rows and offsets, or access it by a type of smaller alignment",
                        "%s is accessed as type %s, which needs a multiple of %lu bytes; the address is %lu past one",
                        where, access->type, access->alignment, access->address % access->alignment);
    } else {
        emu_report_line(lane, "misaligned-access", access->file, (int)access->line,
                        "align rows and offsets, or promise less",
                        "%s is promised to stand at a multiple of %lu bytes; the address is %lu past one", where,
                        access->alignment, access->address % access->alignment);
    }
    emu_abandon(lane->wave->worker);
}
