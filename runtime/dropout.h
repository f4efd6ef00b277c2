/* The random words of dropout. */
#ifndef FMHA_DROPOUT_H
#define FMHA_DROPOUT_H

#include <stdint.h>

/* Philox4x32-10: four words of a counter and a key. */
void fmha_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t words[4]);

#endif
