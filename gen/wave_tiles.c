#include "wave_tiles.h"

#include <stdlib.h>
#include <string.h>

#include "native.h"

/* As the template decides. */
static bool leaves_out(const struct spec *spec) {
    if (spec->value[SPEC_OP] != SPEC_OP_FORWARD || strcmp(spec_word(spec, SPEC_MASK), "none") == 0 ||
        strcmp(spec_word(spec, SPEC_ORIENTATION), "kq") != 0 || strcmp(spec_word(spec, SPEC_PAGED), "off") != 0 ||
        spec_number(spec, SPEC_V_WAVES) > 1 || spec->modifier[0] != '\0' || native_is_scaled(spec))
        return false;
    for (int id = SPEC_WINDOW; id <= SPEC_DROPOUT; id++) /* the modifiers */
        if (spec->value[id] != spec_fields[id].neutral)
            return false;
    return true;
}

int64_t wave_tiles_busy(const struct spec *spec, int64_t first, int64_t diagonal, int64_t tile) {
    int64_t waves = spec->value[SPEC_WAVES], busy = 0;
    if (!leaves_out(spec))
        return waves;
    int64_t side = strtol(spec_word(spec, SPEC_MATRIX), NULL, 10), tiles = spec->value[SPEC_BLOCK_M] / side / waves;
    for (int64_t wave = 1; wave <= waves; wave++) {
        int64_t end = first + ((wave * tiles - 1) / spec_number(spec, SPEC_GQA) + 1) * side; /* of its queries */
        busy += tile * spec->value[SPEC_BLOCK_K] < end + diagonal;
    }
    return busy;
}
