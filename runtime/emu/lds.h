/* The local data share of a workgroup: its blocks, and for each byte who touched it since waves and lanes last met. */
#ifndef EMU_LDS_H
#define EMU_LDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu_abi.h"

enum {
    EMU_LDS_BLOCKS_MAX = 32,
    EMU_LDS_AREA_BYTES = 256 * 1024, /* more than any chip has, with the gaps; inaccessible memory stands around it */
    EMU_LDS_UNITS = EMU_LDS_AREA_BYTES / 16, /* that copies fill */
    EMU_LDS_GAP_BYTES = 256,                 /* between blocks, so that what runs over the end of one meets no other */
    EMU_LDS_TAIL_BYTES = 64                  /* a load of a shadow's last word may read so much behind it */
};

/* Of emu_lds.state. */
enum { EMU_LDS_ALLOCATED = 1, EMU_LDS_WRITTEN = 2 };
enum { EMU_LDS_SEVERAL = 0xff }; /* in place of a wave or a lane: more than one */

typedef struct emu_lds_block {
    const struct fmha_emu_site *site;
    size_t offset; /* as the chip counts: blocks one after another, each at a multiple of 16 */
    size_t place;  /* in the area */
    size_t bytes;
} emu_lds_block;

/* Shadows hold one byte for each byte of the area. Waves and lanes count from 1, 0 is none. */
typedef struct emu_lds {
    unsigned char *area;
    uint8_t state[EMU_LDS_AREA_BYTES + EMU_LDS_TAIL_BYTES];
    uint8_t wave_wrote[EMU_LDS_AREA_BYTES + EMU_LDS_TAIL_BYTES]; /* since the last s_barrier */
    uint8_t wave_read[EMU_LDS_AREA_BYTES + EMU_LDS_TAIL_BYTES];
    uint8_t lane_wrote[EMU_LDS_AREA_BYTES + EMU_LDS_TAIL_BYTES]; /* of the running wave, since it last met */
    uint8_t lane_read[EMU_LDS_AREA_BYTES + EMU_LDS_TAIL_BYTES];
    uint32_t wrote[EMU_LDS_UNITS];    /* of each 16 bytes: emu_lds_mark_of the work item that wrote last, or 0 */
    uint16_t arriving[EMU_LDS_UNITS]; /* of each 16 bytes: 1 + the work item whose copy is under way, or 0 */
    uint16_t in_use[EMU_LDS_UNITS];   /* of each 16 bytes: how many tiles of products under way have it (products.h) */
    uint32_t met;                     /* how often all waves have met */
    emu_lds_block blocks[EMU_LDS_BLOCKS_MAX];
    unsigned block_count;
    size_t used;  /* as the chip counts */
    size_t place; /* where the next block may begin */
} emu_lds;

/* A work item, and how often it had shown what it wrote to those who read LDS past its caches' order (products.h). */
static inline uint32_t emu_lds_mark_of(unsigned item, unsigned shown) {
    return (uint32_t)shown << 16 | (item + 1u);
}

static inline unsigned emu_lds_writer(uint32_t mark) {
    return (mark & 0xffffu) - 1u;
}

static inline void emu_lds_note(emu_lds *lds, size_t at, size_t bytes, uint32_t mark) {
    for (size_t unit = at / 16; unit * 16 < at + bytes && unit < EMU_LDS_UNITS; unit++) {
        lds->wrote[unit] = mark;
    }
}

/* A workgroup begins: no blocks, nothing written. */
void emu_lds_begin(emu_lds *lds);
/* The block of a place in the text, or NULL. */
const emu_lds_block *emu_lds_find(const emu_lds *lds, const struct fmha_emu_site *site, size_t bytes);
/* Adds a block, filled with 0xff bytes. There must be room. */
const emu_lds_block *emu_lds_add(emu_lds *lds, const struct fmha_emu_site *site, size_t bytes);

/* All waves have met at s_barrier; a wave's lanes have met. */
void emu_lds_waves_met(emu_lds *lds);
void emu_lds_lanes_met(emu_lds *lds);

/* Says where an offset in the area is: "byte 12 of the LDS block of k.hip:7 (4096 bytes)". */
void emu_lds_describe(const emu_lds *lds, size_t at, char *text, size_t text_bytes);

/* What is wrong with an access. */
typedef enum emu_lds_fault {
    EMU_LDS_FINE,
    EMU_LDS_OUTSIDE,
    EMU_LDS_UNWRITTEN,  /* read before it was written */
    EMU_LDS_WAVE_WROTE, /* another wave has written there since the last s_barrier */
    EMU_LDS_WAVE_READ,  /* this one writes where another has read */
    EMU_LDS_LANE_WROTE, /* the same of another lane of the wave since the wave last met */
    EMU_LDS_LANE_READ
} emu_lds_fault;
/* The first bad byte, and the wave or lane that was there before (counting from 1; EMU_LDS_SEVERAL). */
typedef struct emu_lds_detail {
    size_t at;
    uint8_t other;
} emu_lds_detail;

emu_lds_fault emu_lds_read(emu_lds *lds, size_t at, size_t bytes, uint8_t wave, uint8_t lane, emu_lds_detail *detail);
emu_lds_fault emu_lds_write(emu_lds *lds, size_t at, size_t bytes, uint8_t wave, uint8_t lane, emu_lds_detail *detail);

#endif
