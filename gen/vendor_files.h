/* What a vendored folder is made from, as gen/vendor_embed.c wrote it into the binary: "LICENSE", "fmha.h",
 * "src/NAME.c", "src/NAME.h" as they go into the folder, and "text/NAME", a file of gen/vendor/. */
#ifndef GEN_VENDOR_FILES_H
#define GEN_VENDOR_FILES_H

#include "embed.h"

extern const struct template_file vendor_files[];
extern const size_t vendor_file_count;

#endif
