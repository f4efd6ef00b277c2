#include "dispatch_support.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "index.h"

fake_driver_record *fake;
char folder[256];

void dispatch_set_up(void) {
    static const char *const unset[] = {"FMHA_LIBRARY_PATH", "FMHA_LOG", "FMHA_DUMP", "FMHA_TUNE", "FMHA_CHOICES"};
    char cache[300];
    for (size_t i = 0; i < sizeof unset / sizeof unset[0]; i++) {
        unsetenv(unset[i]);
    }
    support_make_folder(folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("FMHA_CACHE_DIR", cache, 1);
    setenv("FMHA_GENERATOR", "off", 1);
    setenv("FMHA_DRIVER_DIR", FAKE_DRIVER_DIR, 1);
    void *library = dlopen(FAKE_DRIVER_DIR "/libfmha_emu.so", RTLD_NOW);
    cr_assert_not_null(library, "%s", dlerror());
    fake = dlsym(library, "fake_driver_state");
    cr_assert_not_null(fake);
}

void dispatch_tear_down(void) {
    cr_assert_eq(fake->devices, 0);
    cr_assert_eq(fake->modules, 0);
    support_remove_folder(folder);
    support_assert_clean();
}

fmha_device *dispatch_open(void) {
    fmha_device *device;
    cr_assert_eq(fmha_device_open("emu:gfx1151", &device), FMHA_OK, "%s", fmha_last_error());
    return device;
}

/* ---- Libraries ------------------------------------------------------------------------------------------- */

struct index_text {
    char *bytes;
    size_t count, room;
};

static void add(struct index_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct index_text *text, const char *format, ...) {
    va_list arguments;
    if (text->room - text->count < 2048) {
        text->room = text->room * 2 + 8192;
        text->bytes = realloc(text->bytes, text->room);
        cr_assert_not_null(text->bytes);
    }
    va_start(arguments, format);
    int more = vsnprintf(text->bytes + text->count, text->room - text->count, format, arguments);
    va_end(arguments);
    cr_assert_lt(more, 2048);
    text->count += (size_t)more;
}

/* Every value of the public struct is an argument. */
static void add_interface(struct index_text *text, int number, int align, const char *constraint,
                          const char *arguments) {
    static const char *const buffers[] = {"q", "k", "v", "o"};
    static const char *const strides[] = {"batch", "head", "row"};
    static const char *const numbers[] = {"batch", "heads_q", "heads_k", "seqlen_q", "seqlen_k"};
    int offset = 0;
    add(text, "interface %d %d\n", number, arguments != NULL ? 1024 : 160);
    for (int i = 0; i < 4; i++, offset += 8) {
        add(text, "argument buffer %s %d align %d\n", buffers[i], offset, align);
    }
    for (int i = 0; i < 12; i++, offset += 8) {
        add(text, "argument i64 stride_%s_%s %d\n", buffers[i / 3], strides[i % 3], offset);
    }
    add(text, "argument buffer lse %d align 4 optional\n", offset);
    offset += 8;
    for (int i = 0; i < 5; i++, offset += 4) {
        add(text, "argument i32 %s %d\n", numbers[i], offset);
    }
    add(text, "argument f32 scale %d\n", offset);
    add(text, "%s", arguments != NULL ? arguments : "");
    add(text, "constraint equals 0 heads_q %% heads_k\nconstraint %s\n",
        constraint != NULL ? constraint : "max 1048576 seqlen_q");
}

static void add_file(struct index_text *text, const char *chip_folder, const char *name, const char *word,
                     const char *suffix, const char *content) {
    char path[1024];
    if (content != NULL) {
        snprintf(path, sizeof path, "%s/%s%s", chip_folder, name, suffix);
        support_write(path, content, 0644);
        add(text, "%s %zu %016llx %s%s\n", word, strlen(content),
            (unsigned long long)fmha_index_hash(content, strlen(content)), name, suffix);
    }
}

static int compare_names(const void *left, const void *right) {
    const struct test_instance *a = left, *b = right;
    return strcmp(a->name, b->name);
}

static const char * or (const char *given, const char *usual) {
    return given != NULL ? given : usual;
}

void dispatch_write(const char *name, const struct test_instance *instances, size_t count, char path[512]) {
    struct index_text text = {0};
    char chip_folder[600], index_path[700];
    struct test_instance *sorted = malloc((count + 1) * sizeof *sorted);
    cr_assert_not_null(sorted);
    memcpy(sorted, instances, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_names);
    snprintf(path, 512, "%s/%s", folder, name);
    snprintf(chip_folder, sizeof chip_folder, "%s/gfx1151", path);
    snprintf(index_path, sizeof index_path, "%s/fmha.index", chip_folder);
    mkdir(path, 0777);
    mkdir(chip_folder, 0777);
    add(&text, "fmha-index 1\nabi %d\nmade-by a test\n", FMHA_ABI_VERSION);
    for (size_t i = 0; i < count; i++) {
        const struct test_instance *instance = &sorted[i];
        int head_dim = instance->head_dim != 0 ? instance->head_dim : 128;
        int align = instance->align != 0 ? instance->align : 16;
        add_interface(&text, (int)i, align, instance->constraint, instance->arguments);
        add(&text, "instance %s\ntarget %s\n", instance->name, or (instance->target, "gfx1151"));
        const char *operation = or (instance->operation, "forward");
        add(&text, "key operation=%s dtype=%s", operation, or (instance->dtype, "f16"));
        if (strcmp(operation, "merge") != 0) {
            add(&text, " head_dim=%d head_dim_v=%d mask=%s v_layout=%s", head_dim, head_dim,
                or (instance->mask, "none"), or (instance->v_layout, "row"));
        }
        add(&text, " align=%d%s%s\n", align, instance->modifiers != NULL ? " " : "", or (instance->modifiers, ""));
        add(&text, "launch wave=32 workgroup=128 lds=1024\nrank %d\nuses %zu\n", instance->rank, i);
        add(&text, "grid %s\ngrid heads_q\ngrid batch\n", or (instance->grid, "ceil_div(seqlen_q, 64)"));
        add_file(&text, chip_folder, instance->name, "object", ".hsaco", instance->object);
        add_file(&text, chip_folder, instance->name, "source", ".hip", instance->source);
    }
    add(&text, "end %zu %016llx\n", count, (unsigned long long)fmha_index_hash(text.bytes, text.count));
    support_write(index_path, text.bytes, 0644);
    free(text.bytes);
    free(sorted);
}

void dispatch_library(const char *name, const struct test_instance *instances, size_t count) {
    char path[512], list[4096];
    const char *before = getenv("FMHA_LIBRARY_PATH");
    dispatch_write(name, instances, count, path);
    snprintf(list, sizeof list, "%s%s%s", before != NULL ? before : "", before != NULL ? ":" : "", path);
    setenv("FMHA_LIBRARY_PATH", list, 1);
}

/* ---- Problems -------------------------------------------------------------------------------------------- */

fmha_forward_problem dispatch_problem(void) {
    fmha_forward_problem problem = FMHA_FORWARD_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_F16;
    problem.head_dim = 128;
    problem.scale = 0.0883883461356163024902F;
    problem.batch = 1;
    problem.heads_q = 2;
    problem.heads_k = 1;
    problem.seqlen_q = 100;
    problem.seqlen_k = 70;
    problem.q = (fmha_tensor){(void *)0x10000, 25600, 12800, 128};
    problem.k = (fmha_tensor){(void *)0x20000, 8960, 8960, 128};
    problem.v = (fmha_tensor){(void *)0x30000, 8960, 8960, 128};
    problem.o = (fmha_tensor){(void *)0x40000, 25600, 12800, 128};
    return problem;
}

/* ---- Texts ----------------------------------------------------------------------------------------------- */

/* Puts "$" for every mention of the folder. */
static void shorten(char *text) {
    size_t length = strlen(folder);
    for (char *at = strstr(text, folder); at != NULL; at = strstr(at, folder)) {
        *at++ = '$';
        memmove(at, at + length - 1, strlen(at + length - 1) + 1);
    }
}

static char told[65536];

static void tell(void *context, const fmha_consideration *consideration) {
    (void)context;
    if (strncmp(consideration->library, folder, strlen(folder)) != 0) {
        return; /* what is installed on the machine */
    }
    size_t length = strlen(told);
    snprintf(told + length, sizeof told - length, "%s/%s%s %s\n", consideration->library, consideration->instance,
             consideration->taken ? " *" : "", consideration->verdict);
}

const char *dispatch_explain(fmha_device *device, const fmha_forward_problem *problem, fmha_status *status) {
    told[0] = '\0';
    *status = fmha_forward_explain(device, problem, tell, NULL);
    shorten(told);
    return told;
}

const char *dispatch_error(void) {
    static char text[20000];
    snprintf(text, sizeof text, "%s", fmha_last_error());
    shorten(text);
    return text;
}

void dispatch_expect(fmha_status got, fmha_status expected, const char *text) {
    cr_assert_eq(got, expected, "expected %s, got %s: %s", fmha_status_name(expected), fmha_status_name(got),
                 fmha_last_error());
    cr_assert_str_eq(dispatch_error(), text);
}

char *dispatch_read(const char *path) {
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    char *text = calloc(1, 1 << 20);
    cr_assert_not_null(text);
    size_t count = fread(text, 1, (1 << 20) - 1, file);
    text[count] = '\0';
    fclose(file);
    return text;
}
