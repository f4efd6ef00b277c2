/* What every picture begins and ends with: SVG documents without fonts or files of their own. */
#ifndef GEN_SVG_H
#define GEN_SVG_H

#include "text.h"

/* A page of so many pixels. `rules`: CSS of this picture, whole lines, beside that of "title", "name", "note", "cell",
 * "axis", "middle" and "end". The description, which says how to remake it, is the caller's next. */
void svg_begin(struct text *out, int width, int height);
void svg_style(struct text *out, const char *rules);
void svg_end(struct text *out);

/* Adds text with what is special in XML escaped. */
void svg_escape(struct text *out, const char *words);

#endif
