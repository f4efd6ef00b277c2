/* The fragments of the atoms against AMD's matrix instruction calculator, element by element; what the drawing
 * shows; atoms whose table is wrong. Error texts are compared whole. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embed.h"
#include "fragments.h"
#include "layout.h"
#include "template.h"

/* matrix: NULL where the chip has one shape. dtype "fp8": that of K and V, multiplied as it is. */
static void resolve(struct template_engine *engine, const char *arch, const char *dtype, const char *wave,
                    const char *matrix, struct spec *spec) {
    struct error error;
    bool fp8 = strcmp(dtype, "fp8") == 0;
    spec_init(spec);
    cr_assert(!fp8 || (spec_set(spec, SPEC_KV_DTYPE, "fp8", &error) && spec_set(spec, SPEC_KV_MATH, "native", &error)),
              "%s", error.text);
    dtype = fp8 ? "f16" : dtype;
    cr_assert(spec_set_arch(spec, engine, arch, &error) && spec_set(spec, SPEC_HEAD_DIM, "128", &error) &&
                  spec_set(spec, SPEC_DTYPE, dtype, &error) && spec_set(spec, SPEC_WAVE, wave, &error) &&
                  (!matrix || spec_set(spec, SPEC_MATRIX, matrix, &error)) && spec_resolve(spec, engine, &error),
              "%s", error.text);
}

static struct layout *read_layout(const char *arch, const char *dtype, const char *wave, const char *matrix) {
    struct error error;
    struct spec spec;
    struct layout *layout = NULL;
    struct template_engine *engine = template_engine_new(NULL, &error);
    cr_assert_not_null(engine, "%s", error.text);
    resolve(engine, arch, dtype, wave, matrix, &spec);
    cr_assert(layout_read(engine, &spec, &layout, &error), "%s", error.text);
    template_engine_free(engine);
    return layout;
}

/* `rows`: an instruction of the table. Returns for how many lanes of elements it has the matrices whose letters are in
 * `wanted`. */
static int compare_rows(const struct layout *layout, const char *of, const char *rows, const char *wanted) {
    struct fragments table;
    int told = 0;
    cr_assert(fragments_open(&table));
    for (struct fragment one; fragments_next(&table, &one);) {
        if (strcmp(one.family, of) != 0 || strcmp(one.instruction, rows) != 0 || (int)one.wave != layout->wave ||
            !strchr(wanted, one.matrix))
            continue;
        const struct layout_matrix *m = one.matrix == 'A' ? &layout->a : one.matrix == 'B' ? &layout->b : &layout->d;
        const struct layout_cell *cell = &m->cell[(int)one.row * m->columns + (int)one.column];
        cr_assert((int)one.row < m->rows && (int)one.column < m->columns);
        cr_assert(cell->lanes >> one.lane & 1, "%s: %c[%u][%u] is not in lane %u", rows, one.matrix, one.row,
                  one.column, one.lane);
        cr_assert_eq(cell->element, (int)one.index, "%s: %c[%u][%u] in lane %u: %d, expected %u", rows, one.matrix,
                     one.row, one.column, one.lane, cell->element, one.index);
        told++;
    }
    return told;
}

struct comparison {
    const char *arch, *dtype, *wave, *matrix, *family, *ab, *d; /* ab, d: instructions of the table */
};

/* bf16 of CDNA1, which the table lacks ("AMD Instinct MI100 Instruction Set Architecture", Matrix Arithmetic
 * Instructions): two elements a lane, from k = 2 (lane div M) on. */
static int compare_pairs(const struct layout *layout) {
    int side = layout->a.rows, depth = 128 / side;
    cr_assert(layout->a.columns == depth && layout->b.rows == depth);
    for (int at = 0; at < side; at++)
        for (int k = 0; k < depth; k++) {
            const struct layout_cell *a = &layout->a.cell[at * depth + k], *b = &layout->b.cell[k * side + at];
            cr_assert(a->lanes == UINT64_C(1) << (at + k / 2 * side) && b->lanes == a->lanes);
            cr_assert(a->element == k % 2 && b->element == k % 2);
        }
    return 2 * side * depth;
}

/* As many lines as the atom has lanes for elements, all alike. */
static void compare_with_calculator(const struct comparison *one) {
    struct layout *layout = read_layout(one->arch, one->dtype, one->wave, one->matrix);
    int told = one->ab ? compare_rows(layout, one->family, one->ab, "AB") : compare_pairs(layout);
    told += compare_rows(layout, one->family, one->d, "D");
    int counted = 0;
    const struct layout_matrix *all[] = {&layout->a, &layout->b, &layout->d};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < all[i]->rows * all[i]->columns; j++)
            counted += __builtin_popcountll(all[i]->cell[j].lanes);
    cr_assert_eq(told, counted, "%s, %s: the table has %d lanes for elements, the atom %d", one->arch, one->dtype, told,
                 counted);
    free(layout);
}

/* gfx950's instructions of twice the depth have eight elements a lane, as cdna3's fp8 ones of the same size ("CDNA4
 * Instruction Set Architecture", Dense Matrix Arithmetic). */
Test(layout, agrees_with_the_calculator) {
    static const char f16[] = "v_wmma_f32_16x16x16_f16", bf16[] = "v_wmma_f32_16x16x16_bf16";
    static const char wmma_fp8[] = "v_wmma_f32_16x16x16_fp8_fp8";
    static const char fp8_16[] = "v_mfma_f32_16x16x32_fp8_fp8", fp8_32[] = "v_mfma_f32_32x32x16_fp8_fp8";
    static const char old_16[] = "v_mfma_f32_16x16x16f16", old_32[] = "v_mfma_f32_32x32x8f16";
    static const char f16_16[] = "v_mfma_f32_16x16x16_f16", f16_32[] = "v_mfma_f32_32x32x8_f16";
    static const char bf16_16[] = "v_mfma_f32_16x16x16_bf16", bf16_32[] = "v_mfma_f32_32x32x8_bf16";
    static const struct comparison list[] = {
        {"gfx1151", "f16", "32", NULL, "rdna3", f16, f16},
        {"gfx1151", "f16", "64", NULL, "rdna3", f16, f16},
        {"gfx1151", "bf16", "32", NULL, "rdna3", bf16, bf16},
        {"gfx1151", "bf16", "64", NULL, "rdna3", bf16, bf16},
        {"gfx1201", "f16", "32", NULL, "rdna4", f16, f16},
        {"gfx1201", "f16", "64", NULL, "rdna4", f16, f16},
        {"gfx1201", "bf16", "32", NULL, "rdna4", bf16, bf16},
        {"gfx1201", "bf16", "64", NULL, "rdna4", bf16, bf16},
        {"gfx908", "f16", "64", "16x16", "cdna2", old_16, old_16},
        {"gfx908", "f16", "64", "32x32", "cdna2", old_32, old_32},
        {"gfx908", "bf16", "64", "16x16", "cdna2", NULL, old_16},
        {"gfx908", "bf16", "64", "32x32", "cdna2", NULL, old_32},
        {"gfx90a", "f16", "64", "16x16", "cdna2", old_16, old_16},
        {"gfx90a", "f16", "64", "32x32", "cdna2", old_32, old_32},
        {"gfx90a", "bf16", "64", "16x16", "cdna2", "v_mfma_f32_16x16x16bf16_1k", "v_mfma_f32_16x16x16bf16_1k"},
        {"gfx90a", "bf16", "64", "32x32", "cdna2", "v_mfma_f32_32x32x8bf16_1k", "v_mfma_f32_32x32x8bf16_1k"},
        {"gfx942", "f16", "64", "16x16", "cdna3", f16_16, f16_16},
        {"gfx942", "f16", "64", "32x32", "cdna3", f16_32, f16_32},
        {"gfx942", "bf16", "64", "16x16", "cdna3", bf16_16, bf16_16},
        {"gfx942", "bf16", "64", "32x32", "cdna3", bf16_32, bf16_32},
        {"gfx9-4-generic", "f16", "64", "16x16", "cdna3", f16_16, f16_16},
        {"gfx9-4-generic", "bf16", "64", "32x32", "cdna3", bf16_32, bf16_32},
        {"gfx950", "f16", "64", "16x16", "cdna3", f16_16, f16_16},
        {"gfx950", "f16", "64", "16x16x32", "cdna3", fp8_16, fp8_16},
        {"gfx950", "f16", "64", "32x32", "cdna3", fp8_32, fp8_32},
        {"gfx950", "bf16", "64", "16x16", "cdna3", bf16_16, bf16_16},
        {"gfx950", "bf16", "64", "16x16x32", "cdna3", fp8_16, fp8_16},
        {"gfx950", "bf16", "64", "32x32", "cdna3", fp8_32, fp8_32},
        {"gfx942", "fp8", "64", "16x16x32", "cdna3", fp8_16, fp8_16},
        {"gfx942", "fp8", "64", "32x32", "cdna3", fp8_32, fp8_32},
        {"gfx950", "fp8", "64", "16x16x32", "cdna3", fp8_16, fp8_16},
        {"gfx950", "fp8", "64", "32x32", "cdna3", fp8_32, fp8_32},
        {"gfx1201", "fp8", "32", NULL, "rdna4", wmma_fp8, wmma_fp8},
        {"gfx1201", "fp8", "64", NULL, "rdna4", wmma_fp8, wmma_fp8},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        compare_with_calculator(&list[i]);
}

/* The atom of chips without matrix instructions: element i of a lane's D is the sum over that row of A which the lane
 * holds that the instruction takes it from: number i of the lane's row of sixteen (row_share) or of four (quad_perm).
 */
static void compare_with_lanes(const char *arch, const char *wave, int sharing) {
    struct layout *layout = read_layout(arch, "f16", wave, NULL);
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 16; column++) {
            const struct layout_cell *d = &layout->d.cell[row * 16 + column];
            cr_assert_eq(__builtin_popcountll(d->lanes), 1);
            int lane = __builtin_ctzll(d->lanes), source = lane / sharing * sharing + d->element;
            for (int k = 0; k < 16; k++) {
                const struct layout_cell *a = &layout->a.cell[row * 16 + k], *b = &layout->b.cell[k * 16 + column];
                cr_assert(a->lanes >> source & 1, "A[%d][%d] is not in lane %d, for lane %d", row, k, source, lane);
                cr_assert(b->lanes >> lane & 1, "B[%d][%d] is not in lane %d", k, column, lane);
                cr_assert(a->element == k && b->element == k);
            }
        }
    free(layout);
}

Test(layout, dot_products_find_their_rows) {
    compare_with_lanes("gfx1030", "32", 16);
    compare_with_lanes("gfx906", "64", 4);
}

static void expect_text(const struct text *svg, const char *part) {
    cr_assert_not_null(strstr(svg->bytes, part), "expected in the drawing: %s", part);
}

Test(layout, drawing_shows_lanes_elements_and_copies) {
    struct layout *layout = read_layout("gfx1151", "bf16", "64", NULL);
    struct text svg = {0};
    layout_svg(layout, &svg);
    cr_assert(!svg.failed);
    expect_text(&svg, "<desc>Made by fmhagen report --layout --arch gfx1151 --dtype bf16 --wave 64</desc>");
    expect_text(&svg, ">wmma_gfx11, bf16, wave64 on gfx1151: D = A B + C</text>");
    expect_text(&svg, "16 x 16, 16 elements a lane; the same stands in lane + 16, + 32, + 48<");
    expect_text(&svg, "16 x 16, 4 elements a lane<");
    expect_text(&svg, ">63:3</tspan></text>");
    text_free(&svg);
    free(layout);
}

/* Reads an atom of one line that begins with a correct 16 x 16 table. */
static void expect_error(const char *lua, const char *expected) {
    static const char chip[] =
        "return { name = 'gfx1151', atoms = { f16 = 'tiny' }, waves = { 32 }, lds_bytes = 1024, features = {},\n"
        "         defaults = { forward = { orientation = 'kq', kq = { wave32 = { [256] = { block_m = 16, block_k = "
        "16,\n"
        "         waves = 1 } } } } } }\n";
    char atom[1024];
    snprintf(atom, sizeof atom,
             "//%% atom = { m = 16, n = 16, k = 16, operand_length = 16, acc_length = 8,\n"
             "//%%     a = function(l, i) return l %% 16, i end, b = function(l, i) return i, l %% 16 end,\n"
             "//%%     d = function(l, i) return 2 * i + l // 16, l %% 16 end }\n"
             "//%% %s\n",
             lua);
    const struct template_file files[] = {{"arch/gfx1151.lua", chip, sizeof chip - 1},
                                          {"atoms/tiny.hip", atom, strlen(atom)},
                                          {"ops/forward.hip", "x\n", 2}};
    struct error error;
    struct spec spec;
    struct layout *layout;
    struct template_engine *engine = template_engine_new_from(files, 3, NULL, &error);
    cr_assert_not_null(engine, "%s", error.text);
    resolve(engine, "gfx1151", "f16", "32", NULL, &spec);
    bool done = layout_read(engine, &spec, &layout, &error);
    cr_assert_eq(done, *expected == '\0', "%s: %s", lua, done ? "no error" : error.text);
    if (!done) {
        cr_assert_eq(error.kind, ERROR_RUN);
        cr_assert_str_eq(error.text, expected);
        cr_assert_null(layout);
    }
    free(layout);
    template_engine_free(engine);
}

Test(layout, wrong_atoms_are_refused) {
    expect_error("", "");
    expect_error("atom = nil", "templates/atoms/tiny.hip: expected a table 'atom', got nil");
    expect_error("atom.k = '16'", "templates/atoms/tiny.hip: expected a number from 1 to 128 as atom.k, got string");
    expect_error("atom.m = 129", "templates/atoms/tiny.hip: expected a number from 1 to 128 as atom.m, got 129");
    expect_error("atom.d = nil", "templates/atoms/tiny.hip: expected a function as atom.d, got nil");
    expect_error("atom.b = function(l, i) return l, i end",
                 "templates/atoms/tiny.hip: expected a row below 16 and a column below 16 from atom.b(16, 0), got "
                 "others");
    expect_error("atom.a = function(l, i) return l % 16, (i + l // 16) % 16 end",
                 "templates/atoms/tiny.hip: expected one element number for row 0, column 1 of atom.a, got 1 and 0");
    expect_error("atom.d = function(l, i) return i, l % 16 end",
                 "templates/atoms/tiny.hip: expected a lane for row 8, column 0 of atom.d, got none");
    expect_error("atom.a = function() error('no idea', 0) end", "templates/atoms/tiny.hip: no idea");
    expect_error("error('not today')", "templates/atoms/tiny.hip:4: not today\n//% error('not today')");
}
