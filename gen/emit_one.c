/* Emits one instance to standard output: emit_one [-t TEMPLATE_DIR] OPTION=VALUE… ("arch=gfx1151 hd=128
 * causal=bottom-right"). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instance.h"
#include "template.h"

int main(int argc, char **argv) {
    struct error error;
    struct spec_choices choices = {0};
    const char *folder = NULL;
    if (argc > 2 && !strcmp(argv[1], "-t")) {
        folder = argv[2];
        argc -= 2;
        argv += 2;
    }
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (!value)
            return 2;
        *value++ = '\0';
        if (!strcmp(argv[i], "arch"))
            choices.arch = value;
        for (int id = 0; id < SPEC_FIELD_COUNT; id++)
            if (!strcmp(spec_fields[id].option, argv[i]))
                choices.field[id] = value;
    }
    struct spec *specs = NULL;
    size_t count = 0;
    struct template_engine *engine = template_engine_new(folder, &error);
    bool done = engine && spec_product(&choices, engine, &specs, &count, &error);
    for (size_t i = 0; done && i < count; i++) {
        struct instance instance;
        done = instance_emit(engine, &specs[i], &instance, &error);
        if (done) {
            fwrite(instance.text.bytes, 1, instance.text.length, stdout);
            instance_free(&instance);
        }
    }
    if (!done)
        fprintf(stderr, "%s\n", error.text);
    free(specs);
    template_engine_free(engine);
    return done ? 0 : 1;
}
