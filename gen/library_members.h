/* Which instances a library holds, and which of those that serve one problem is preferred. */
#ifndef GEN_LIBRARY_MEMBERS_H
#define GEN_LIBRARY_MEMBERS_H

#include "spec.h"

/* A choice of instances that is worth a name. Each row is a product of comma lists. */
#define LIBRARY_PRESET_ROWS_MAX 12
struct library_preset {
    const char *name;
    struct library_row {
        const char *field[SPEC_FIELD_COUNT]; /* as on the command line; NULL: the default of the chip or of the spec */
    } rows[LIBRARY_PRESET_ROWS_MAX];
    int row_count;
};
#define LIBRARY_PRESET_COUNT 3
extern const struct library_preset library_presets[LIBRARY_PRESET_COUNT];
extern const char *const library_preset_words[LIBRARY_PRESET_COUNT + 1]; /* their names, NULL-terminated */

/* NULL without one of that name. */
const struct library_preset *library_preset_find(const char *name);

/* The resolved specs of a preset on the chips of `choices`. A field that the preset lists and `choices` too keeps the
 * members that both have; one that it does not list is set from `choices`. Both are about the operations that `choices`
 * lists, or forward when it lists none: members of others then stay as they are. preset NULL: the product of `choices`.
 * The caller frees *specs. */
bool library_members(const struct library_preset *preset, const struct spec_choices *choices,
                     struct template_engine *engine, struct spec **specs, size_t *count, struct error *error);

/* The rank of a resolved spec in an index: -gqa where every other knob has the chip's default, so that the instance
 * which fuses most heads of a group comes first; LIBRARY_RANK_CANDIDATE for all others. */
#define LIBRARY_RANK_CANDIDATE 100
bool library_rank(const struct spec *spec, struct template_engine *engine, int32_t *rank, struct error *error);

#endif
