/* What is sold with a chip: how many compute units, how fast, and the rate of its memory. */
#ifndef GEN_PRODUCT_H
#define GEN_PRODUCT_H

struct product {
    const char *arch, *name;
    int compute_units;
    double clock_ghz;     /* the highest that the vendor states */
    double bandwidth_gbs; /* of its memory, 10^9 bytes a second, the vendor's peak */
};

/* The product of "gfx1151", also with feature suffixes; NULL: none is known, or products differ too much. */
const struct product *product_of(const char *target);

#endif
