#include "layout.h"

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "svg.h"
#include "template.h"

/* ---- Reading ---- */

/* One run of an atom's file, whose text is of no interest here. */
struct reading {
    struct template_engine *engine;
    const struct spec *spec;
    struct layout *layout;
    char arch_path[SPEC_ARCH_MAX + 16];
    char atom_path[96];
    int environment; /* reference to the run's names */
};

/* Gives the atom its `spec` and `arch`, and keeps hold of the names that it will define. */
static void prepare(lua_State *L, void *context) {
    struct reading *reading = context;
    int env = lua_gettop(L);
    const struct spec *spec = reading->spec;
    lua_newtable(L);
    for (int id = 0; id < SPEC_FIELD_COUNT; id++) {
        if (!spec_has(spec, (enum spec_field_id)id))
            continue;
        if (spec_fields[id].words)
            lua_pushstring(L, spec_fields[id].words[spec->value[id]]);
        else
            lua_pushinteger(L, spec->value[id]);
        lua_setfield(L, -2, spec_fields[id].name);
    }
    lua_setfield(L, env, "spec");
    struct error error;
    if (!template_load_table(reading->engine, reading->arch_path, &error))
        luaL_error(L, "%s", error.text);
    lua_setfield(L, env, "arch");
    lua_pushvalue(L, env);
    reading->environment = luaL_ref(L, LUA_REGISTRYINDEX);
}

static void find_atom(lua_State *L, void *context) {
    struct reading *reading = context;
    struct layout *layout = reading->layout;
    lua_getfield(L, -1, "atoms");
    if (lua_getfield(L, -1, layout->dtype) != LUA_TSTRING)
        luaL_error(L, "templates/%s: expected the name of an atom as atoms.%s, got %s", reading->arch_path,
                   layout->dtype, luaL_typename(L, -1));
    snprintf(layout->atom, sizeof layout->atom, "%s", lua_tostring(L, -1));
    snprintf(reading->atom_path, sizeof reading->atom_path, "atoms/%s.hip", layout->atom);
    if (lua_getfield(L, -3, "matrix") == LUA_TTABLE)
        layout->matrix = spec_fields[SPEC_MATRIX].words[reading->spec->value[SPEC_MATRIX]];
    lua_pop(L, 3);
}

static int get_count(lua_State *L, int atom, const char *name) {
    lua_getfield(L, atom, name);
    lua_Integer count = lua_tointeger(L, -1);
    if (!lua_isinteger(L, -1) || count < 1 || count > LAYOUT_SIDE_MAX)
        luaL_error(L, "expected a number from 1 to %d as atom.%s, got %s", LAYOUT_SIDE_MAX, name,
                   lua_isinteger(L, -1) ? lua_tostring(L, -1) : luaL_typename(L, -1));
    lua_pop(L, 1);
    return (int)count;
}

/* Asks the function atom.NAME where each element of each lane stands. */
static void read_matrix(lua_State *L, int atom, const char *name, int wave, struct layout_matrix *matrix) {
    if (lua_getfield(L, atom, name) != LUA_TFUNCTION)
        luaL_error(L, "expected a function as atom.%s, got %s", name, luaL_typename(L, -1));
    for (int lane = 0; lane < wave; lane++) {
        for (int i = 0; i < matrix->elements; i++) {
            lua_pushvalue(L, -1);
            lua_pushinteger(L, lane);
            lua_pushinteger(L, i);
            lua_call(L, 2, 2);
            lua_Integer row = lua_tointeger(L, -2), column = lua_tointeger(L, -1);
            if (!lua_isinteger(L, -2) || !lua_isinteger(L, -1) || row < 0 || row >= matrix->rows || column < 0 ||
                column >= matrix->columns)
                luaL_error(L, "expected a row below %d and a column below %d from atom.%s(%d, %d), got others",
                           matrix->rows, matrix->columns, name, lane, i);
            struct layout_cell *cell = &matrix->cell[row * matrix->columns + column];
            if (cell->lanes && cell->element != i)
                luaL_error(L, "expected one element number for row %d, column %d of atom.%s, got %d and %d", (int)row,
                           (int)column, name, cell->element, i);
            cell->lanes |= UINT64_C(1) << lane;
            cell->element = i;
            lua_pop(L, 2);
        }
    }
    for (int i = 0; i < matrix->rows * matrix->columns; i++)
        if (!matrix->cell[i].lanes)
            luaL_error(L, "expected a lane for row %d, column %d of atom.%s, got none", i / matrix->columns,
                       i % matrix->columns, name);
    lua_pop(L, 1);
}

/* Called with the reading as light userdata. */
static int read_atom(lua_State *L) {
    struct reading *reading = lua_touserdata(L, 1);
    struct layout *layout = reading->layout;
    lua_rawgeti(L, LUA_REGISTRYINDEX, reading->environment);
    lua_pushliteral(L, "atom");
    if (lua_rawget(L, -2) != LUA_TTABLE)
        return luaL_error(L, "expected a table 'atom', got %s", luaL_typename(L, -1));
    int atom = lua_gettop(L);
    int m = get_count(L, atom, "m"), n = get_count(L, atom, "n"), k = get_count(L, atom, "k");
    int operand = get_count(L, atom, "operand_length"), accumulator = get_count(L, atom, "acc_length");
    layout->a.rows = layout->d.rows = m;
    layout->a.columns = layout->b.rows = k;
    layout->b.columns = layout->d.columns = n;
    layout->a.elements = layout->b.elements = operand;
    layout->d.elements = accumulator;
    read_matrix(L, atom, "a", layout->wave, &layout->a);
    read_matrix(L, atom, "b", layout->wave, &layout->b);
    read_matrix(L, atom, "d", layout->wave, &layout->d);
    return 0;
}

static bool run_atom(struct reading *reading, struct error *error) {
    struct text ignored = {0};
    lua_State *L = template_engine_lua(reading->engine);
    bool done = template_render(reading->engine, reading->atom_path, prepare, reading, &ignored, error);
    text_free(&ignored);
    if (done && !lua_checkstack(L, 4))
        done = error_set(error, ERROR_RUN, "out of memory");
    if (done) {
        lua_pushcfunction(L, read_atom);
        lua_pushlightuserdata(L, reading);
        if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
            const char *message = lua_tostring(L, -1);
            done = error_set(error, ERROR_RUN, "templates/%s: %s", reading->atom_path,
                             message ? message : "expected a string as error, got another value");
            lua_pop(L, 1);
        }
    }
    luaL_unref(L, LUA_REGISTRYINDEX, reading->environment);
    return done;
}

bool layout_read(struct template_engine *engine, const struct spec *spec, struct layout **layout, struct error *error) {
    struct reading reading = {.engine = engine, .spec = spec, .environment = LUA_NOREF};
    *layout = NULL;
    reading.layout = calloc(1, sizeof *reading.layout);
    if (!reading.layout)
        return error_set(error, ERROR_RUN, "out of memory");
    memcpy(reading.layout->arch, spec->arch, sizeof spec->arch);
    reading.layout->dtype = spec_fields[SPEC_DTYPE].words[spec->value[SPEC_DTYPE]];
    reading.layout->wave = spec->value[SPEC_WAVE];
    spec_arch_path(spec, reading.arch_path);
    if (!template_with_table(engine, reading.arch_path, find_atom, &reading, error) || !run_atom(&reading, error)) {
        free(reading.layout);
        return false;
    }
    *layout = reading.layout;
    return true;
}

/* ---- Drawing ---- */

enum { CELL_WIDTH = 34, CELL_HEIGHT = 17, MARGIN = 76, GAP = 56, HEAD = 92, SHOWN_LANE = 5 };

static int lowest_lane(uint64_t lanes) {
    int lane = 0;
    while (!(lanes >> lane & 1))
        lane++;
    return lane;
}

/* The lanes that hold an element, counted from the lowest, when they are the same for every element; else 0. */
static uint64_t common_copies(const struct layout_matrix *matrix) {
    uint64_t copies = 0;
    for (int i = 0; i < matrix->rows * matrix->columns; i++) {
        uint64_t lanes = matrix->cell[i].lanes, own = lanes >> lowest_lane(lanes);
        if (i > 0 && own != copies)
            return 0;
        copies = own;
    }
    return copies;
}

/* "A  16 x 16, 16 elements a lane; the same stands in lane + 16" */
static void add_title(const struct layout_matrix *matrix, const char *name, int x, int y, struct text *out) {
    uint64_t copies = common_copies(matrix);
    text_printf(out,
                "<text class=\"name\" x=\"%d\" y=\"%d\">%s<tspan class=\"note\" dx=\"8\">%d x %d, %d elements a lane",
                x, y, name, matrix->rows, matrix->columns, matrix->elements);
    if (!copies)
        text_puts(out, "; the lowest of its lanes is shown");
    else if (copies != 1)
        text_puts(out, "; the same stands in lane");
    bool first = true;
    for (int lane = 1; copies != 1 && lane < 64; lane++)
        if (copies >> lane & 1) {
            text_printf(out, "%s + %d", first ? "" : ",", lane);
            first = false;
        }
    text_puts(out, "</tspan></text>\n");
}

/* The colour of a cell: that of the shown lane, or of the group of the first lane that holds it. */
static char cell_class(const struct layout_cell *cell, int group_lanes) {
    static const char groups[] = "pqrt";
    return cell->lanes >> SHOWN_LANE & 1 ? 's' : groups[lowest_lane(cell->lanes) / group_lanes % 4];
}

/* Neighbouring cells of a row that look the same are one rectangle. */
static void add_cells(const struct layout_matrix *matrix, int x, int y, int group_lanes, struct text *out) {
    for (int row = 0; row < matrix->rows; row++) {
        const struct layout_cell *cells = &matrix->cell[row * matrix->columns];
        for (int column = 0, end; column < matrix->columns; column = end) {
            char class = cell_class(&cells[column], group_lanes);
            for (end = column + 1; end < matrix->columns && cell_class(&cells[end], group_lanes) == class;)
                end++;
            text_printf(out, "<rect class=\"%c\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", class,
                        x + column * CELL_WIDTH, y + row * CELL_HEIGHT, (end - column) * CELL_WIDTH, CELL_HEIGHT);
        }
    }
    text_puts(out, "<path class=\"grid\" d=\"");
    for (int row = 0; row <= matrix->rows; row++)
        text_printf(out, "M%d %dh%d", x, y + row * CELL_HEIGHT, matrix->columns * CELL_WIDTH);
    for (int column = 0; column <= matrix->columns; column++)
        text_printf(out, "M%d %dv%d", x + column * CELL_WIDTH, y, matrix->rows * CELL_HEIGHT);
    text_puts(out, "\"/>\n");
    for (int row = 0; row < matrix->rows; row++) {
        text_printf(out, "<text class=\"cell\" y=\"%d\">", y + row * CELL_HEIGHT + 12);
        for (int column = 0; column < matrix->columns; column++) {
            const struct layout_cell *cell = &matrix->cell[row * matrix->columns + column];
            text_printf(out, "<tspan x=\"%d\">%d:%d</tspan>", x + column * CELL_WIDTH + CELL_WIDTH / 2,
                        lowest_lane(cell->lanes), cell->element);
        }
        text_puts(out, "</text>\n");
    }
}

static void add_row_numbers(const struct layout_matrix *matrix, int x, int y, struct text *out) {
    for (int row = 0; row < matrix->rows; row++)
        text_printf(out, "<text class=\"axis end\" x=\"%d\" y=\"%d\">%d</text>\n", x - 5, y + row * CELL_HEIGHT + 12,
                    row);
}

static void add_column_numbers(const struct layout_matrix *matrix, int x, int y, struct text *out) {
    for (int column = 0; column < matrix->columns; column++)
        text_printf(out, "<text class=\"axis middle\" x=\"%d\" y=\"%d\">%d</text>\n",
                    x + column * CELL_WIDTH + CELL_WIDTH / 2, y - 4, column);
}

/* Beside D: the number that makes a lane's elements neighbours, for those who hand out the rows of A in that order. */
static void add_natural(const struct layout *layout, int x, int y, struct text *out) {
    const struct layout_matrix *d = &layout->d;
    text_printf(out, "<text class=\"axis\" x=\"%d\" y=\"%d\">natural</text>\n", x + 5, y - 4);
    for (int row = 0; row < d->rows; row++) {
        const struct layout_cell *cell = &d->cell[row * d->columns];
        text_printf(out, "<text class=\"axis\" x=\"%d\" y=\"%d\">%d</text>\n", x + 5, y + row * CELL_HEIGHT + 12,
                    lowest_lane(cell->lanes) / d->columns * d->elements + cell->element);
    }
}

void layout_svg(const struct layout *layout, struct text *out) {
    const struct layout_matrix *a = &layout->a, *b = &layout->b, *d = &layout->d;
    int left = MARGIN, top = HEAD, right = left + a->columns * CELL_WIDTH + GAP;
    int middle = top + b->rows * CELL_HEIGHT + GAP;
    int width = right + d->columns * CELL_WIDTH + MARGIN, height = middle + d->rows * CELL_HEIGHT + 20;
    svg_begin(out, width, height);
    text_printf(out, "<desc>Made by fmhagen report --layout --arch %s --dtype %s --wave %d%s%s</desc>\n", layout->arch,
                layout->dtype, layout->wave, layout->matrix ? " --matrix " : "", layout->matrix ? layout->matrix : "");
    svg_style(out, ".p { fill: #dbe9f6 } .q { fill: #fdf0d5 } .r { fill: #e2f0d9 } .t { fill: #f3e1ee }\n"
                   ".s { fill: #f4a582 } .grid { stroke: #888; stroke-width: 0.5; fill: none }\n");
    text_printf(out, "<text class=\"title\" x=\"%d\" y=\"30\">%s%s%s, %s, wave%d on %s: D = A B + C</text>\n", left,
                layout->atom, layout->matrix ? " " : "", layout->matrix ? layout->matrix : "", layout->dtype,
                layout->wave, layout->arch);
    text_printf(out,
                "<text x=\"%d\" y=\"50\">A cell shows lane:element. Colours tell the groups of %d lanes; what lane %d "
                "holds is red.</text>\n"
                "<text x=\"%d\" y=\"66\">natural: the number that a row has when a lane's elements of D are to be "
                "neighbours.</text>\n",
                left, d->columns, SHOWN_LANE, left);
    add_title(b, "B", right, top - 22, out);
    add_column_numbers(b, right, top, out);
    add_row_numbers(b, right, top, out);
    add_cells(b, right, top, d->columns, out);
    add_title(a, "A", left, middle - 22, out);
    add_column_numbers(a, left, middle, out);
    add_row_numbers(a, left, middle, out);
    add_cells(a, left, middle, d->columns, out);
    add_title(d, "C, D", right, middle - 22, out);
    add_column_numbers(d, right, middle, out);
    add_row_numbers(d, right, middle, out);
    add_cells(d, right, middle, d->columns, out);
    add_natural(layout, right + d->columns * CELL_WIDTH, middle, out);
    svg_end(out);
}
