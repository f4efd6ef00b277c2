/* The words of findings: where, what, and what would cure it. */
#ifndef EMU_REPORT_H
#define EMU_REPORT_H

#include "engine.h"

enum { EMU_WHERE_BYTES = 96, EMU_ADDRESS_BYTES = 256 };

/* "workgroup (1,0,2), wave 3" */
const char *emu_where(const emu_wave *wave, char text[EMU_WHERE_BYTES]);

/* Says what an address is for a lane: "q[0,1,2,3]", "byte 3 of the LDS block of line 7 (64 bytes)", … */
const char *emu_address_text(const emu_lane *lane, uintptr_t address, char text[EMU_ADDRESS_BYTES]);

/* Records a finding at a meeting point in the kernel; the text is "FILE:LINE: " and the formatted words. */
void emu_report(emu_worker *worker, const char *kind, const struct fmha_emu_site *site, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Records a finding about an access; `at` is where the kernel goes on behind it, or the site of an operation that does
 * it in the lane's place. The text is "FILE:LINE: WORDS (workgroup (0,0,0), wave 0, lane 0, called from line 9): CURE".
 */
void emu_report_access(emu_lane *lane, const char *kind, const void *at, const char *cure, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same where file and line are known. */
void emu_report_line(emu_lane *lane, const char *kind, const char *file, int line, const char *cure, const char *format,
                     ...) __attribute__((format(printf, 6, 7)));

/* A launch begins and ends for a worker: what was seen again is added to the findings. */
void emu_report_begin(emu_worker *worker);
void emu_report_end(emu_worker *worker);

#endif
