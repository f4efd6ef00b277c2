/* Values of options that several commands have: shapes and devices. */
#ifndef GEN_CLI_WORDS_H
#define GEN_CLI_WORDS_H

#include "verify_report.h"

/* "1,32,8,512,512", of pack "1,8,512,128", of merge "3,1,8,512,128". */
bool words_shape(const char *text, struct verify_shape *shape, struct error *error);
bool words_pack_shape(const char *text, struct verify_pack_shape *shape, struct error *error);
bool words_append_shape(const char *text, struct verify_append_shape *shape, struct error *error);
bool words_quantize_shape(const char *text, struct verify_quantize_shape *shape, struct error *error);
bool words_merge_shape(const char *text, struct verify_merge_shape *shape, struct error *error);

/* "8,2": query heads and key heads of a shape whose other lengths are given in lists; the rest is 0. */
bool words_heads(const char *text, struct verify_shape *shape, struct error *error);

/* "5,0,33" of --OPTION. The caller frees *lengths. */
bool words_lengths(const char *option, const char *text, int64_t **lengths, int64_t *count, struct error *error);

/* Whether it may name a device: "emu" or "isa", alone or with ":" and a chip, "hip", "hip:" and a number. */
bool words_device(const char *device, struct error *error);

#endif
