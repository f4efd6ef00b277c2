/* CP.ASYNC: copies of 16 bytes from memory into LDS that a lane has begun; they are there when that lane has waited for
 * the group that it made of them. */
#ifndef EMU_COPIES_H
#define EMU_COPIES_H

#include <stddef.h>
#include <stdint.h>

#include "emu_abi.h"

typedef struct emu_lane emu_lane;

enum { EMU_COPIES_MAX = 256, EMU_COPY_BYTES = 16 }; /* of a lane; of more the oldest has ended */

/* The oldest first; `place` in the area of LDS. */
typedef struct emu_copies {
    struct {
        uint32_t place, group;
    } list[EMU_COPIES_MAX];
    unsigned count, groups; /* groups: that were committed */
} emu_copies;

/* Copies `bytes`, 16 or fewer, and zeros for the rest. */
void emu_copy_begin(struct fmha_emu_lane *lane, const struct fmha_emu_site *site, unsigned long to, unsigned long from,
                    unsigned bytes);
/* Makes a group of what the lane has begun since the last one. */
void emu_copy_commit(struct fmha_emu_lane *lane);
/* The lane waits until at most `left` of its groups, the last ones, are under way. */
void emu_copy_wait(struct fmha_emu_lane *lane, unsigned left);

#endif
