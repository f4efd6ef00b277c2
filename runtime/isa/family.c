/* What families share, and which family a chip is of. */
#include "family.h"

#include <string.h>

#include "image.h"

const isa_family *const isa_families[] = {
    &isa_family_gfx906, &isa_family_gfx908, &isa_family_gfx90a, &isa_family_gfx942,
    &isa_family_gfx950, &isa_family_gfx103, &isa_family_gfx11,  &isa_family_gfx12,
};
const size_t isa_family_count = sizeof isa_families / sizeof isa_families[0];
_Static_assert(sizeof isa_families / sizeof isa_families[0] <= ISA_FAMILIES_MAX, "room for every family's names");

const isa_scalar isa_scalar_null[] = {{"null", ISA_NULL, 1}, {NULL, 0, 0}};

uint32_t isa_mode_gfx6_to_gfx11(uint32_t rsrc1) {
    return (rsrc1 >> 12 & 0xffu) | (rsrc1 >> 21 & 1u) << 8 | (rsrc1 >> 23 & 1u) << 9 | (rsrc1 >> 26 & 1u) << 23;
}

uint32_t isa_vgprs_gfx10_to_gfx12(uint32_t rsrc1, uint32_t rsrc3, uint32_t wave) {
    (void)rsrc3;
    return ((rsrc1 & 0x3fu) + 1) * (wave == 32 ? 8 : 4);
}

const isa_family *isa_family_of(const char *arch) {
    const isa_family *found = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < isa_family_count; i++) {
        const char *generic = isa_families[i]->generic;
        size_t length = strlen(isa_families[i]->target);
        if (generic != NULL && strncmp(arch, generic, strlen(generic)) == 0) {
            return isa_families[i];
        }
        if (length > longest && strncmp(arch, isa_families[i]->target, length) == 0) {
            found = isa_families[i];
            longest = length;
        }
    }
    return found;
}
