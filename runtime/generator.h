/* fmhagen as the last library: when none has an instance for a problem and the program is on this machine, it is asked
 * for the text of one. What it makes is an instance library in the user's cache, found there from then on. */
#ifndef FMHA_GENERATOR_H
#define FMHA_GENERATOR_H

#include "fmha.h"
#include "key.h"
#include "log.h"

/* What helps where no library has an instance of this key: the command that makes one, or, as fmhagen makes none of
 * such head dimensions, others. */
#define FMHA_GENERATOR_CURE_BYTES 768
void fmha_generator_cure(const struct fmha_key *key, const char *arch, char text[FMHA_GENERATOR_CURE_BYTES]);

/* The options that describe an instance of this key to fmhagen: "--arch gfx1151 --dtype f16 --hd 128 --causal"; all
 * that it takes but a modifier from outside. */
void fmha_generator_options(const struct fmha_key *key, const char *arch, char *text, size_t text_bytes);

/* Makes sure that a folder of instances for the key exists and stores its malloc'ed path in *folder. The program is
 * $FMHA_GENERATOR ("off": none), or fmhagen beside libfmha or in the bin folder of its installation, or on PATH.
 * FMHA_ERROR_NO_INSTANCE: no kernel has such head dimensions, it has a modifier from outside, there is no such program,
 * no cache to write to, or it refuses; the text says which. */
fmha_status fmha_generator_folder(const struct fmha_key *key, const char *arch, const struct fmha_log *log,
                                  char **folder);

#endif
