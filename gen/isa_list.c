#include "isa_list.h"

#include <cjson/cJSON.h>

#include "isa/isa.h"
#include "isa/list.h"
#include "json.h"

static const struct {
    const char *name;
    unsigned bit;
} families[] = {{"gfx9", ISA_GFX9}, {"gfx10", ISA_GFX10}, {"gfx11", ISA_GFX11}, {"gfx12", ISA_GFX12}};

enum { FAMILIES = sizeof families / sizeof families[0] };

static void print_table(struct text *out) {
    text_printf(out, "%-30s %-8s", "opcode", "class");
    for (int k = 0; k < FAMILIES; k++)
        text_printf(out, "%-8s", families[k].name);
    text_printf(out, "source\n");
    for (unsigned long i = 0; i < isa_listed_count; i++) {
        const isa_listed *row = &isa_listed_rows[i];
        text_printf(out, "%-30s %-8s", row->name, row->unit);
        for (int k = 0; k < FAMILIES; k++)
            text_printf(out, "%-8s", (row->tested & families[k].bit) != 0 ? "tested" : "-");
        text_printf(out, "%s\n", row->source);
    }
}

static bool add_row(cJSON *list, const isa_listed *row) {
    cJSON *item = cJSON_CreateObject(), *tested = NULL;
    if (!item || !cJSON_AddItemToArray(list, item)) {
        cJSON_Delete(item);
        return false;
    }
    bool done = cJSON_AddStringToObject(item, "opcode", row->name) &&
                cJSON_AddStringToObject(item, "class", row->unit) &&
                (tested = cJSON_AddArrayToObject(item, "tested")) != NULL &&
                cJSON_AddStringToObject(item, "source", row->source);
    for (int k = 0; done && k < FAMILIES; k++)
        if ((row->tested & families[k].bit) != 0)
            done = cJSON_AddItemToArray(tested, cJSON_CreateString(families[k].name));
    return done;
}

bool isa_list_print(bool json, struct text *out, struct error *error) {
    if (!json) {
        print_table(out);
        return true;
    }
    cJSON *list = cJSON_CreateArray();
    bool done = list != NULL;
    for (unsigned long i = 0; done && i < isa_listed_count; i++)
        done = add_row(list, &isa_listed_rows[i]);
    return json_print(list, done, out) || error_set(error, ERROR_RUN, "--json: out of memory");
}
