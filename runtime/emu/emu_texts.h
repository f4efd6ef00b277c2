/* The headers that a kernel is compiled with, embedded (embed.c). */
#ifndef EMU_TEXTS_H
#define EMU_TEXTS_H

typedef struct emu_text {
    const char *name; /* file name without folder */
    const char *text;
} emu_text;

extern const emu_text emu_texts[]; /* ends with a NULL name */

#endif
