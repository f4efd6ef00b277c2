/* The report as a picture: how busy a pass through the body keeps each pipe, and problems under the chip's roofs. */
#ifndef GEN_REPORT_SVG_H
#define GEN_REPORT_SVG_H

#include "report.h"

/* Draws it as an SVG document. Without the rates of the chip, or without a problem, the roofline says what it lacks.
 * ERROR_USAGE: the kernel has no loop whose bound is known. */
bool report_svg(const struct report *report, struct text *out, struct error *error);

#endif
