/* Made by fmhagen %{version}. DO NOT EDIT: `fmhagen vendor .` in this folder makes it anew.
 *
 * The table of what fmha_kernels.S holds. */
#include "embedded.h"

#define KERNELS(DO) \
%{kernels_c}
#define BYTES(symbol) extern __attribute__((visibility("hidden"))) const unsigned char symbol[], symbol##_end[];
#define ROW(symbol, name) {name, symbol, symbol##_end},

#define DECLARE_TEXT(name) BYTES(name##_hip)
#define TEXT(name) ROW(name##_hip, #name ".hip")
#ifdef FMHA_COMPILED_AHEAD
#define DECLARE_OBJECT(name) BYTES(name##_hsaco)
#define OBJECT(name) ROW(name##_hsaco, #name ".hsaco")
#else
#define DECLARE_OBJECT(name)
#define OBJECT(name)
#endif

BYTES(fmha_vendored_index)
KERNELS(DECLARE_TEXT)
KERNELS(DECLARE_OBJECT)

const struct fmha_embedded_file fmha_embedded_files[] = {
    ROW(fmha_vendored_index, "fmha.index") KERNELS(TEXT) KERNELS(OBJECT){NULL, NULL, NULL},
};
