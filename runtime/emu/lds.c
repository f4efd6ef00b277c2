#include "lds.h"

#include <stdio.h>
#include <string.h>

enum { ALIGNMENT = 16 };

/* ---- Blocks ---------------------------------------------------------------------------------------------------------
 */

void emu_lds_begin(emu_lds *lds) {
    memset(lds->state, 0, lds->place);
    memset(lds->arriving, 0, (lds->place + 15) / 16 * sizeof lds->arriving[0]);
    memset(lds->wrote, 0, (lds->place + 15) / 16 * sizeof lds->wrote[0]);
    memset(lds->in_use, 0, (lds->place + 15) / 16 * sizeof lds->in_use[0]);
    emu_lds_waves_met(lds);
    lds->block_count = 0;
    lds->used = 0;
    lds->place = EMU_LDS_GAP_BYTES;
}

const emu_lds_block *emu_lds_find(const emu_lds *lds, const struct fmha_emu_site *site, size_t bytes) {
    for (unsigned i = 0; i < lds->block_count; i++) {
        if (lds->blocks[i].site == site && lds->blocks[i].bytes == bytes) {
            return &lds->blocks[i];
        }
    }
    return NULL;
}

const emu_lds_block *emu_lds_add(emu_lds *lds, const struct fmha_emu_site *site, size_t bytes) {
    emu_lds_block *block = &lds->blocks[lds->block_count++];
    *block = (emu_lds_block){.site = site,
                             .offset = (lds->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT,
                             .place = lds->place,
                             .bytes = bytes};
    lds->used = block->offset + bytes;
    lds->place = (block->place + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + EMU_LDS_GAP_BYTES;
    memset(lds->area + block->place, 0xff, bytes); /* NaN in every float format: what a workgroup finds is undefined */
    memset(lds->state + block->place, EMU_LDS_ALLOCATED, bytes);
    return block;
}

void emu_lds_waves_met(emu_lds *lds) {
    lds->met++;
    memset(lds->wave_wrote, 0, lds->place);
    memset(lds->wave_read, 0, lds->place);
    emu_lds_lanes_met(lds);
}

void emu_lds_lanes_met(emu_lds *lds) {
    memset(lds->lane_wrote, 0, lds->place);
    memset(lds->lane_read, 0, lds->place);
}

void emu_lds_describe(const emu_lds *lds, size_t at, char *text, size_t text_bytes) {
    const emu_lds_block *nearest = NULL;
    size_t least = SIZE_MAX;
    for (unsigned i = 0; i < lds->block_count; i++) {
        const emu_lds_block *block = &lds->blocks[i];
        size_t apart = at < block->place                   ? block->place - at
                       : at >= block->place + block->bytes ? at - block->place - block->bytes
                                                           : 0;
        if (apart < least) {
            least = apart;
            nearest = block;
        }
    }
    if (nearest == NULL) {
        snprintf(text, text_bytes, "LDS, of which the kernel has declared none");
    } else if (at < nearest->place) {
        snprintf(text, text_bytes, "%zu bytes before the LDS block of line %d (%zu bytes)", nearest->place - at,
                 nearest->site->line, nearest->bytes);
    } else if (at >= nearest->place + nearest->bytes) {
        snprintf(text, text_bytes, "%zu bytes past the end of the LDS block of line %d (%zu bytes)",
                 at - nearest->place - nearest->bytes, nearest->site->line, nearest->bytes);
    } else {
        snprintf(text, text_bytes, "byte %zu of the LDS block of line %d (%zu bytes)", at - nearest->place,
                 nearest->site->line, nearest->bytes);
    }
}

/* ---- Accesses -------------------------------------------------------------------------------------------------------
 */

static bool by_other(uint8_t shadow, uint8_t mine, uint8_t *other) {
    *other = shadow;
    return shadow != 0 && shadow != mine;
}

/* Byte by byte: always right. */
static emu_lds_fault read_byte(emu_lds *lds, size_t at, uint8_t wave, uint8_t lane, uint8_t *other) {
    emu_lds_fault fault = EMU_LDS_FINE;
    if ((lds->state[at] & EMU_LDS_ALLOCATED) == 0) {
        return EMU_LDS_OUTSIDE;
    }
    if ((lds->state[at] & EMU_LDS_WRITTEN) == 0) {
        fault = EMU_LDS_UNWRITTEN;
    } else if (by_other(lds->wave_wrote[at], wave, other)) {
        fault = EMU_LDS_WAVE_WROTE;
    } else if (by_other(lds->lane_wrote[at], lane, other)) {
        fault = EMU_LDS_LANE_WROTE;
    }
    lds->wave_read[at] = lds->wave_read[at] == 0 || lds->wave_read[at] == wave ? wave : EMU_LDS_SEVERAL;
    lds->lane_read[at] = lds->lane_read[at] == 0 || lds->lane_read[at] == lane ? lane : EMU_LDS_SEVERAL;
    return fault;
}

static emu_lds_fault write_byte(emu_lds *lds, size_t at, uint8_t wave, uint8_t lane, uint8_t *other) {
    emu_lds_fault fault = EMU_LDS_FINE;
    if ((lds->state[at] & EMU_LDS_ALLOCATED) == 0) {
        return EMU_LDS_OUTSIDE;
    }
    if (by_other(lds->wave_wrote[at], wave, other)) {
        fault = EMU_LDS_WAVE_WROTE;
    } else if (by_other(lds->wave_read[at], wave, other)) {
        fault = EMU_LDS_WAVE_READ;
    } else if (by_other(lds->lane_wrote[at], lane, other)) {
        fault = EMU_LDS_LANE_WROTE;
    } else if (by_other(lds->lane_read[at], lane, other)) {
        fault = EMU_LDS_LANE_READ;
    }
    lds->state[at] |= EMU_LDS_WRITTEN;
    lds->wave_wrote[at] = wave;
    lds->lane_wrote[at] = lane;
    return fault;
}

static __attribute__((noinline)) emu_lds_fault each_byte(emu_lds *lds, size_t at, size_t bytes, uint8_t wave,
                                                         uint8_t lane, bool write, emu_lds_detail *detail) {
    emu_lds_fault first = EMU_LDS_FINE;
    for (size_t i = at; i < at + bytes; i++) {
        uint8_t other = 0;
        emu_lds_fault fault = i >= EMU_LDS_AREA_BYTES ? EMU_LDS_OUTSIDE
                              : write                 ? write_byte(lds, i, wave, lane, &other)
                                                      : read_byte(lds, i, wave, lane, &other);
        if (fault != EMU_LDS_FINE && first == EMU_LDS_FINE) {
            first = fault;
            *detail = (emu_lds_detail){.at = i, .other = other};
        }
        if (fault == EMU_LDS_OUTSIDE) {
            break;
        }
    }
    return first;
}

/* Whole words, where all bytes of a word have the same history, which is the rule. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE uint64_t load(const uint8_t *from, size_t bytes) {
    uint64_t word = 0;
    memcpy(&word, from, bytes);
    return word;
}

ALWAYS_INLINE uint64_t spread(uint8_t byte, size_t bytes) {
    return byte * (0x0101010101010101u >> (64 - 8 * bytes));
}

/* Every byte of the shadow is 0 or `mine`, all alike. */
ALWAYS_INLINE bool is_mine(uint64_t shadow, uint64_t mine) {
    return shadow == 0 || shadow == mine;
}

/* What becomes of readers when one more reads; `shadow` all alike. */
ALWAYS_INLINE bool join(uint8_t *shadow, uint64_t mine, uint64_t several, size_t bytes) {
    uint64_t seen = load(shadow, bytes);
    if (seen == mine || seen == several) {
        return true;
    }
    if (seen == 0) {
        memcpy(shadow, &mine, bytes);
        return true;
    }
    if (seen == spread((uint8_t)seen, bytes)) {
        memcpy(shadow, &several, bytes);
        return true;
    }
    return false;
}

ALWAYS_INLINE bool read_word(emu_lds *lds, size_t at, size_t bytes, uint8_t wave, uint8_t lane) {
    const uint64_t my_wave = spread(wave, bytes), my_lane = spread(lane, bytes);
    const uint64_t several = spread(EMU_LDS_SEVERAL, bytes);
    return load(lds->state + at, bytes) == spread(EMU_LDS_ALLOCATED | EMU_LDS_WRITTEN, bytes) &&
           is_mine(load(lds->wave_wrote + at, bytes), my_wave) && is_mine(load(lds->lane_wrote + at, bytes), my_lane) &&
           join(lds->wave_read + at, my_wave, several, bytes) && join(lds->lane_read + at, my_lane, several, bytes);
}

ALWAYS_INLINE bool write_word(emu_lds *lds, size_t at, size_t bytes, uint8_t wave, uint8_t lane) {
    const uint64_t my_wave = spread(wave, bytes), my_lane = spread(lane, bytes);
    const uint64_t allocated = spread(EMU_LDS_ALLOCATED, bytes), written = allocated | spread(EMU_LDS_WRITTEN, bytes);
    if ((load(lds->state + at, bytes) & allocated) != allocated ||
        !is_mine(load(lds->wave_wrote + at, bytes), my_wave) || !is_mine(load(lds->wave_read + at, bytes), my_wave) ||
        !is_mine(load(lds->lane_wrote + at, bytes), my_lane) || !is_mine(load(lds->lane_read + at, bytes), my_lane)) {
        return false;
    }
    memcpy(lds->state + at, &written, bytes);
    memcpy(lds->wave_wrote + at, &my_wave, bytes);
    memcpy(lds->lane_wrote + at, &my_lane, bytes);
    return true;
}

#define WORDS(call)                                                                                                    \
    switch (bytes) {                                                                                                   \
    case 1:                                                                                                            \
        return call(lds, at, 1, wave, lane);                                                                           \
    case 2:                                                                                                            \
        return call(lds, at, 2, wave, lane);                                                                           \
    case 4:                                                                                                            \
        return call(lds, at, 4, wave, lane);                                                                           \
    case 8:                                                                                                            \
        return call(lds, at, 8, wave, lane);                                                                           \
    case 16:                                                                                                           \
        return call(lds, at, 8, wave, lane) && call(lds, at + 8, 8, wave, lane);                                       \
    case 32:                                                                                                           \
        return call(lds, at, 8, wave, lane) && call(lds, at + 8, 8, wave, lane) &&                                     \
               call(lds, at + 16, 8, wave, lane) && call(lds, at + 24, 8, wave, lane);                                 \
    default:                                                                                                           \
        return false;                                                                                                  \
    }

ALWAYS_INLINE bool read_words(emu_lds *lds, size_t at, size_t bytes, uint8_t wave, uint8_t lane){WORDS(read_word)}

ALWAYS_INLINE bool write_words(emu_lds *lds, size_t at, size_t bytes, uint8_t wave, uint8_t lane){WORDS(write_word)}

emu_lds_fault emu_lds_read(emu_lds *lds, size_t at, size_t bytes, uint8_t wave, uint8_t lane, emu_lds_detail *detail) {
    return read_words(lds, at, bytes, wave, lane) ? EMU_LDS_FINE : each_byte(lds, at, bytes, wave, lane, false, detail);
}

emu_lds_fault emu_lds_write(emu_lds *lds, size_t at, size_t bytes, uint8_t wave, uint8_t lane, emu_lds_detail *detail) {
    return write_words(lds, at, bytes, wave, lane) ? EMU_LDS_FINE : each_byte(lds, at, bytes, wave, lane, true, detail);
}
