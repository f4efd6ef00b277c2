/* `fmhagen list`: names of instances, what is known of each chip, templates. */
#include <cjson/cJSON.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "isa_list.h"
#include "kernels.h"

struct list_options {
    bool templates, isa, json;
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

static void add_chip_row(const struct chip *chip, struct text *out) {
    char waves[48] = "", formats[96] = "", atoms[160] = "";
    for (int i = 0; i < chip->wave_count; i++)
        snprintf(waves + strlen(waves), sizeof waves - strlen(waves), "%s%d", i ? "," : "", chip->waves[i]);
    for (int i = 0; i < chip->atom_count; i++) {
        snprintf(formats + strlen(formats), sizeof formats - strlen(formats), "%s%s", i ? "," : "",
                 chip->atoms[i].format);
        bool known = false;
        for (int j = 0; j < i; j++)
            known = known || strcmp(chip->atoms[i].name, chip->atoms[j].name) == 0;
        if (!known)
            snprintf(atoms + strlen(atoms), sizeof atoms - strlen(atoms), "%s%s", i ? "," : "", chip->atoms[i].name);
    }
    text_printf(out, "%-9s %-8s %-7s %-10s %10d %15d  %s\n", chip->name, chip->family, waves, formats, chip->lds_bytes,
                chip->vgprs_per_simd, atoms);
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

static bool add_printed(const cJSON *json, struct text *out, struct error *error) {
    char *printed = json ? cJSON_Print(json) : NULL;
    if (!printed)
        return error_set(error, ERROR_RUN, "--json: out of memory");
    text_printf(out, "%s\n", printed);
    free(printed);
    return true;
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
    const char *const *paths = template_list(engine, "arch/gfx", &count);
    bool *selected = calloc(count + 1, sizeof *selected);
    cJSON *list = json ? cJSON_CreateArray() : NULL;
    bool done = selected && (!json || list);
    if (!done)
        error_set(error, ERROR_RUN, "list: out of memory");
    done = done && select_chips(engine, arch, paths, count, selected, error);
    if (done && !json)
        text_printf(out, "%-9s %-8s %-7s %-10s %10s %15s  %s\n", "arch", "family", "waves", "formats", "LDS bytes",
                    "VGPRs per SIMD", "atoms");
    for (size_t i = 0; done && i < count; i++) {
        struct chip chip;
        if (!selected[i] || !(done = template_with_table(engine, paths[i], read_chip, &chip, error)))
            continue;
        if (!json)
            add_chip_row(&chip, out);
        else if (!add_chip_json(&chip, list))
            done = error_set(error, ERROR_RUN, "--json: out of memory");
    }
    if (done && json)
        done = add_printed(list, out, error);
    cJSON_Delete(list);
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
    bool done = add_printed(list, out, error);
    cJSON_Delete(list);
    return done;
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

/* Whether any option but --arch and --template-dir describes a kernel. */
static bool describes_kernel(const struct kernel_options *options) {
    bool any = options->set.count > 0;
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
    if (kernel_given && !own->templates && !own->isa) {
        done = list_instances(kernel, own->json, &text, &error);
    } else if ((own->templates || own->isa) && (kernel_given || kernel->arch)) {
        done = error_set(&error, ERROR_USAGE, "--%s: expected no options of a kernel beside it, got some",
                         own->isa ? "isa" : "templates");
    } else if (own->isa) {
        done = isa_list_print(own->json, &text, &error);
    } else {
        struct template_engine *engine = template_engine_new(kernel->template_dir, &error);
        size_t count = 0;
        done = engine != NULL;
        if (done && own->templates) {
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
