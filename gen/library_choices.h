/* The choices that a library ships for a chip, out of choices/, of which those go with a library whose instances it
 * has. */
#ifndef GEN_LIBRARY_CHOICES_H
#define GEN_LIBRARY_CHOICES_H

#include "embed.h"
#include "error.h"

/* The files of choices/, as the build embeds them: "gfx1151.choices". */
extern const struct template_file choices_files[]; /* sorted by path */
extern const size_t choices_file_count;

typedef bool (*library_has)(const void *context, const char *instance);

/* Writes fmha.choices beside the index of a processor, or removes it where no choice would be in it. A file there that
 * others made (`fmhagen tune -o`) stays as it is. */
bool library_choices_write(const char *folder, const char *processor, library_has has, const void *context,
                           struct error *error);

/* Whether there is one that fmhagen wrote. */
bool library_choices_mine(const char *folder, const char *processor);

#endif
