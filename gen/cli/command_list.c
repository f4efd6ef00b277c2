/* `fmhagen list`: names of instances, what is known of each chip, templates, what is tested. */
#include <cjson/cJSON.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "feature_table.h"
#include "isa_list.h"
#include "json.h"
#include "kernels.h"

struct list_options {
    bool templates, isa, features, json;
};

#define CHIP_LIST_MAX 8

/* One table of templates/arch/. */
struct chip {
    char name[32], family[32];
    int lds_bytes, vgprs_per_simd;
    int waves[CHIP_LIST_MAX], wave_count;
    struct {
        char format[16], name[48];
    } atoms[CHIP_LIST_MAX];
    int atom_count;
};

static void copy_field(lua_State *lua, const char *field, char *to, size_t size) {
    lua_getfield(lua, -1, field);
    snprintf(to, size, "%s", lua_isstring(lua, -1) ? lua_tostring(lua, -1) : "");
    lua_pop(lua, 1);
}

static int number_field(lua_State *lua, const char *field) {
    lua_getfield(lua, -1, field);
    int number = (int)lua_tointeger(lua, -1);
    lua_pop(lua, 1);
    return number;
}

static int compare_atoms(const void *a, const void *b) {
    return strcmp(a, b);
}

/* Reads the chip's table, which is on top of the stack. */
static void read_chip(lua_State *lua, void *context) {
    struct chip *chip = context;
    int table = lua_gettop(lua);
    memset(chip, 0, sizeof *chip);
    copy_field(lua, "name", chip->name, sizeof chip->name);
    copy_field(lua, "family", chip->family, sizeof chip->family);
    chip->lds_bytes = number_field(lua, "lds_bytes");
    chip->vgprs_per_simd = number_field(lua, "vgprs_per_simd");
    if (lua_getfield(lua, table, "waves") != LUA_TNIL)
        for (lua_pushnil(lua); template_table_next(lua, -2) && chip->wave_count < CHIP_LIST_MAX; lua_pop(lua, 1))
            chip->waves[chip->wave_count++] = (int)lua_tointeger(lua, -1);
    lua_settop(lua, table);
    if (lua_getfield(lua, table, "atoms") != LUA_TNIL)
        for (lua_pushnil(lua); template_table_next(lua, -2) && chip->atom_count < CHIP_LIST_MAX; lua_pop(lua, 1)) {
            /* Copies, because turning a key into a string in place would confuse the walk. */
            lua_pushvalue(lua, -2);
            snprintf(chip->atoms[chip->atom_count].format, sizeof chip->atoms->format, "%s",
                     luaL_tolstring(lua, -1, NULL));
            snprintf(chip->atoms[chip->atom_count].name, sizeof chip->atoms->name, "%s", luaL_tolstring(lua, -3, NULL));
            lua_pop(lua, 3);
            chip->atom_count++;
        }
    qsort(chip->atoms, (size_t)chip->atom_count, sizeof *chip->atoms, compare_atoms);
}

/* ---- Chips ----------------------------------------------------------------------------------------------------------
 */

enum { CHIP_COLUMNS = 7 };

/* A column is as wide as its widest cell; numbers stand at its right. */
static const struct {
    const char *heading;
    bool number;
} chip_columns[CHIP_COLUMNS] = {
    {"arch", false},     {"family", false},        {"waves", false}, {"formats", false},
    {"LDS bytes", true}, {"VGPRs per SIMD", true}, {"atoms", false},
};

typedef char chip_cells[CHIP_COLUMNS][160];

static void add_word(char cell[160], const char *word) {
    size_t length = strlen(cell);
    snprintf(cell + length, 160 - length, "%s%s", length ? "," : "", word);
}

static void fill_chip_row(const struct chip *chip, chip_cells cells) {
    memset(cells, 0, sizeof(chip_cells));
    add_word(cells[0], chip->name);
    add_word(cells[1], chip->family);
    for (int i = 0; i < chip->wave_count; i++) {
        char wave[16];
        snprintf(wave, sizeof wave, "%d", chip->waves[i]);
        add_word(cells[2], wave);
    }
    snprintf(cells[4], sizeof cells[4], "%d", chip->lds_bytes);
    snprintf(cells[5], sizeof cells[5], "%d", chip->vgprs_per_simd);
    for (int i = 0; i < chip->atom_count; i++) {
        bool known = false;
        for (int j = 0; j < i; j++)
            known = known || strcmp(chip->atoms[i].name, chip->atoms[j].name) == 0;
        add_word(cells[3], chip->atoms[i].format);
        if (!known)
            add_word(cells[6], chip->atoms[i].name);
    }
}

static void print_chip_rows(chip_cells *rows, size_t count, struct text *out) {
    int width[CHIP_COLUMNS] = {0};
    for (size_t i = 0; i < count; i++)
        for (int column = 0; column < CHIP_COLUMNS; column++) {
            int length = (int)strlen(rows[i][column]);
            width[column] = length > width[column] ? length : width[column];
        }
    for (size_t i = 0; i < count; i++)
        for (int column = 0; column < CHIP_COLUMNS; column++) {
            bool last = column == CHIP_COLUMNS - 1;
            text_printf(out, "%*s%s",
                        last                          ? 0
                        : chip_columns[column].number ? width[column]
                                                      : -width[column],
                        rows[i][column], last ? "\n" : "  ");
        }
}

static bool add_chip_json(const struct chip *chip, cJSON *list) {
    cJSON *item = cJSON_CreateObject();
    if (!item || !cJSON_AddItemToArray(list, item)) {
        cJSON_Delete(item);
        return false;
    }
    cJSON *waves = NULL, *atoms = NULL;
    bool done = cJSON_AddStringToObject(item, "arch", chip->name) &&
                cJSON_AddStringToObject(item, "family", chip->family) &&
                (waves = cJSON_AddArrayToObject(item, "waves")) && (atoms = cJSON_AddObjectToObject(item, "atoms")) &&
                cJSON_AddNumberToObject(item, "lds_bytes", chip->lds_bytes) &&
                cJSON_AddNumberToObject(item, "vgprs_per_simd", chip->vgprs_per_simd);
    for (int i = 0; done && i < chip->wave_count; i++)
        done = cJSON_AddItemToArray(waves, cJSON_CreateNumber(chip->waves[i]));
    for (int i = 0; done && i < chip->atom_count; i++)
        done = cJSON_AddStringToObject(atoms, chip->atoms[i].format, chip->atoms[i].name) != NULL;
    return done;
}

/* Marks the chips that a comma list names ("": all); every member must be known. */
static bool select_chips(struct template_engine *engine, const char *list, const char *const *paths, size_t count,
                         bool *selected, struct error *error) {
    for (const char *part = list; *part;) {
        size_t length = strcspn(part, ",");
        char arch[128], path[SPEC_ARCH_MAX + 16];
        struct spec spec;
        snprintf(arch, sizeof arch, "%.*s", (int)length, part);
        spec_init(&spec);
        if (!spec_set_arch(&spec, engine, arch, error))
            return false;
        spec_arch_path(&spec, path);
        for (size_t i = 0; i < count; i++)
            selected[i] = selected[i] || strcmp(paths[i], path) == 0;
        part += length;
        part += *part == ',';
    }
    for (size_t i = 0; !*list && i < count; i++)
        selected[i] = true;
    return true;
}

static bool list_chips(struct template_engine *engine, const char *arch, bool json, struct text *out,
                       struct error *error) {
    size_t count = 0;
    const char *const *paths = template_chips(engine, &count);
    bool *selected = calloc(count + 1, sizeof *selected);
    chip_cells *rows = calloc(count + 1, sizeof *rows);
    size_t row_count = 1;
    cJSON *list = json ? cJSON_CreateArray() : NULL;
    bool done = selected && rows && (!json || list);
    if (!done)
        error_set(error, ERROR_RUN, "list: out of memory");
    done = done && select_chips(engine, arch, paths, count, selected, error);
    for (int column = 0; done && column < CHIP_COLUMNS; column++)
        add_word(rows[0][column], chip_columns[column].heading);
    for (size_t i = 0; done && i < count; i++) {
        struct chip chip;
        if (!selected[i] || !(done = template_with_table(engine, paths[i], read_chip, &chip, error)))
            continue;
        if (!json)
            fill_chip_row(&chip, rows[row_count++]);
        else if (!add_chip_json(&chip, list))
            done = error_set(error, ERROR_RUN, "--json: out of memory");
    }
    if (json)
        done = json_print(list, done, out) || (done && error_set(error, ERROR_RUN, "--json: out of memory"));
    else if (done)
        print_chip_rows(rows, row_count, out);
    free(rows);
    free(selected);
    return done;
}

/* ---- Instances and templates
 * ----------------------------------------------------------------------------------------- */

static bool list_strings(const char *const *strings, size_t count, bool json, struct text *out, struct error *error) {
    for (size_t i = 0; !json && i < count; i++)
        text_printf(out, "%s\n", strings[i]);
    if (!json)
        return true;
    cJSON *list = cJSON_CreateStringArray(strings, (int)count);
    return json_print(list, list != NULL, out) || error_set(error, ERROR_RUN, "--json: out of memory");
}

static bool list_instances(const struct kernel_options *options, bool json, struct text *out, struct error *error) {
    struct kernels kernels;
    bool done = kernels_open(options, &kernels, error) && kernels_check(&kernels, error);
    char(*names)[SPEC_NAME_MAX] = done ? calloc(kernels.count, sizeof *names) : NULL;
    const char **strings = done ? calloc(kernels.count, sizeof *strings) : NULL;
    if (done && (!names || !strings)) {
        error_set(error, ERROR_RUN, "list: out of memory");
        done = false;
    }
    for (size_t i = 0; done && i < kernels.count; i++) {
        spec_name(&kernels.specs[i], names[i]);
        strings[i] = names[i];
    }
    done = done && list_strings(strings, kernels.count, json, out, error);
    free(names);
    free(strings);
    kernels_free(&kernels);
    return done;
}

static bool list_features(struct template_engine *engine, bool json, struct text *out, struct error *error) {
    struct feature_table table;
    bool done = feature_table_make(engine, &table, error);
    if (done) {
        done = feature_table_print(&table, json, out, error);
        feature_table_free(&table);
    }
    return done;
}

/* Whether any option but --arch and --template-dir describes a kernel. */
static bool describes_kernel(const struct kernel_options *options) {
    bool any = options->set.count > 0 || options->modifier;
    for (int i = 0; i < SPEC_FIELD_COUNT; i++)
        any = any || options->field[i];
    return any;
}

static int run(const struct arguments *arguments) {
    const struct list_options *own = arguments->own;
    const struct kernel_options *kernel = &arguments->kernel;
    struct error error;
    struct text text = {0};
    bool kernel_given = describes_kernel(kernel), done;
    const char *asked = own->isa ? "isa" : own->features ? "features" : own->templates ? "templates" : NULL;
    if (kernel_given && !asked) {
        done = list_instances(kernel, own->json, &text, &error);
    } else if (asked && (kernel_given || kernel->arch)) {
        done = error_set(&error, ERROR_USAGE, "--%s: expected no options of a kernel beside it, got some", asked);
    } else if (own->isa) {
        done = isa_list_print(own->json, &text, &error);
    } else {
        struct template_engine *engine = template_engine_new(kernel->template_dir, &error);
        size_t count = 0;
        done = engine != NULL;
        if (done && own->features) {
            done = list_features(engine, own->json, &text, &error);
        } else if (done && own->templates) {
            const char *const *paths = template_list(engine, "", &count);
            done = list_strings(paths, count, own->json, &text, &error);
        } else if (done) {
            done = list_chips(engine, kernel->arch ? kernel->arch : "", own->json, &text, &error);
        }
        template_engine_free(engine);
    }
    done = done && cli_print(&text, &error);
    text_free(&text);
    return done ? 0 : cli_fail(&error);
}

static const struct option_row options[] = {
    {.name = "templates",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct list_options, templates),
     .help = "list the templates instead"},
    {.name = "features",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct list_options, features),
     .help = "list the features of forward attention by family of chips and format, with what is tested and refused"},
    {.name = "isa",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct list_options, isa),
     .help = "list the instructions that the device isa executes, with what is tested"},
    {.name = "json",
     .kind = OPTION_FLAG,
     .offset = offsetof(struct list_options, json),
     .help = "print JSON instead of a table"},
    {0},
};

const struct command command_list = {
    .name = "list",
    .summary = "name instances, chips or templates",
    .details =
        "Prints the names of the instances that the options describe. With --arch alone, or with nothing, it prints "
        "what is known of the chips: limits, waves, formats and the matrix instructions (atoms) that serve them.",
    .kernel = true,
    .arch_alone = true,
    .options = options,
    .options_bytes = sizeof(struct list_options),
    .run = run,
};
