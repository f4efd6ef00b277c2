/* The layouts of matrix instructions in matrix_layouts.txt, as AMD's matrix instruction calculator gives them: for each
 * matrix a line "family instruction wave matrix bits", then one for each lane, "lane: row,column row,column …", its
 * elements in the order of registers and of bits in them. */
#ifndef TESTS_DATA_FRAGMENTS_H
#define TESTS_DATA_FRAGMENTS_H

#include <stdbool.h>
#include <stdio.h>

/* Where one lane has one element. */
struct fragment {
    char family[16], instruction[64];
    char matrix; /* 'A', 'B', 'D' */
    unsigned wave, bits, row, column, lane;
    unsigned index;    /* of the lane's elements of the matrix; those that are in several lanes come once for each */
    unsigned reg, low; /* the register that holds it, and its lowest bit there */
};

struct fragments {
    FILE *file;
    struct fragment next;
    char line[256];
    const char *rest; /* of the line of a lane */
};

/* False when the file is not there. */
bool fragments_open(struct fragments *fragments);

/* The next one of the whole table; false after the last. The file is closed then. A line of another form fails the
 * process. */
bool fragments_next(struct fragments *fragments, struct fragment *fragment);

#endif
