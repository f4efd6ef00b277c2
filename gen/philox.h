/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3; SC 2011), in plain C. It
 * shares nothing with the kernels'. */
#ifndef GEN_PHILOX_H
#define GEN_PHILOX_H

#include <stdint.h>

/* Four random words for a counter and a key. */
void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t words[4]);

#endif
