/* Which waves of a workgroup multiply a tile of keys. */
#ifndef GEN_WAVE_TILES_H
#define GEN_WAVE_TILES_H

#include "spec.h"

/* How many waves of the workgroup whose queries begin at `first` multiply a tile that some of its rows see. Query i
 * sees the keys up to i + diagonal. All do, but under a causal mask alone a wave leaves out those of which its rows see
 * nothing (templates/ops/forward.hip, forward.idles). */
int64_t wave_tiles_busy(const struct spec *spec, int64_t first, int64_t diagonal, int64_t tile);

#endif
