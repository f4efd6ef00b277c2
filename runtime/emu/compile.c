/* From HIP text to a shared object of the host. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"
#include "emu.h"
#include "emu_texts.h"
#include "file.h"
#include "hash.h"
#include "lines.h"
#include "module.h"

enum { PATH_BYTES = 512, OPTION_BYTES = 96, COMMAND_WORDS = 96, FLAG_WORDS = 16, FLAG_BYTES = 1024 };

/* The private folder: its path, and room for a file's in it. */
typedef struct folder {
    char path[PATH_BYTES - 64];
    char file[PATH_BYTES];
} folder;

static const char kernel_name[] = "kernel.cpp", object_name[] = "kernel.so";

static const char *in_folder(folder *private_folder, const char *name) {
    snprintf(private_folder->file, sizeof private_folder->file, "%s/%s", private_folder->path, name);
    return private_folder->file;
}

static fmha_status make_folder(folder *private_folder) {
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || parent[0] == '\0') {
        parent = "/tmp";
    }
    int length = snprintf(private_folder->path, sizeof private_folder->path, "%s/fmha_emu_XXXXXX", parent);
    if (length < 0 || (size_t)length >= sizeof private_folder->path) {
        return emu_fail(FMHA_ERROR_IO,
                        "TMPDIR: expected a path of at most %zu bytes, got \"%s\": set TMPDIR to a shorter "
                        "one",
                        sizeof private_folder->path - sizeof "/fmha_emu_XXXXXX", parent);
    }
    if (mkdtemp(private_folder->path) == NULL) {
        return emu_fail(FMHA_ERROR_IO,
                        "emulated device: cannot make a folder in %s (%s): set TMPDIR to a folder that can "
                        "be written",
                        parent, strerror(errno));
    }
    return FMHA_OK;
}

static void remove_folder(folder *private_folder) {
    for (const emu_text *text = emu_texts; text->name != NULL; text++) {
        unlink(in_folder(private_folder, text->name));
    }
    unlink(in_folder(private_folder, kernel_name));
    unlink(in_folder(private_folder, object_name));
    rmdir(private_folder->path);
}

/* The text as it is, under its own name and line numbers, between what it needs before and after. */
static fmha_status write_kernel(folder *private_folder, const fmha_source *source) {
    char name[PATH_BYTES];
    if (source->path != NULL) {
        snprintf(name, sizeof name, "%s", source->path);
    } else {
        snprintf(name, sizeof name, "%s.hip", source->symbol);
    }
    for (char *at = name; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ') {
            *at = '_';
        }
    }
    const char *path = in_folder(private_folder, kernel_name);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return emu_fail(FMHA_ERROR_IO, "%s: cannot be written (%s)", path, strerror(errno));
    }
    fprintf(file, "#include \"emu_kernel.h\"\n#line 1 \"%s\"\n%s\n#line 1 \"emu_entry.h\"\n#include \"emu_entry.h\"\n",
            name, source->text);
    int failed = ferror(file);
    if (fclose(file) != 0 || failed) {
        return emu_fail(FMHA_ERROR_IO, "%s: cannot be written (%s): free space in the folder", path, strerror(errno));
    }
    return FMHA_OK;
}

static fmha_status write_texts(folder *private_folder) {
    for (const emu_text *text = emu_texts; text->name != NULL; text++) {
        fmha_status status = fmha_file_write(in_folder(private_folder, text->name), text->text, strlen(text->text));
        if (status != FMHA_OK) {
            return emu_fail(status, "%s", fmha_last_error());
        }
    }
    return FMHA_OK;
}

/* The address sanitizer's calls before accesses, with bodies of ours (emu_access.h) and without what else it does, and
 * the undefined behaviour sanitizer's comparison of addresses with what their types promise. */
static const char *const check_options[] = {
    "-DFMHA_EMU_CHECKS", "-fsanitize=address,alignment", "-fno-sanitize-recover=alignment",
    "-fno-sanitize-link-runtime", "-mllvm", "-asan-instrumentation-with-call-threshold=0", "-mllvm",
    "-asan-memory-access-callback-prefix=fmha_emu_access_", "-mllvm", "-asan-stack=0", "-mllvm", "-asan-globals=0",
    "-mllvm", "-asan-constructor-kind=none",
    /* A write after a read of the same address is to be seen too. */
    "-mllvm", "-asan-opt-same-temp=0", NULL};

/* The compiler's command line: what is the same for every kernel, then what is added. */
typedef struct command {
    const char *words[COMMAND_WORDS]; /* ends with NULL */
    size_t count;
    char arch[OPTION_BYTES], chip_macro[OPTION_BYTES], family_macro[OPTION_BYTES], wave[OPTION_BYTES];
    char linker[PATH_MAX + OPTION_BYTES]; /* "" where the compiler looks for the system's */
    char flags[FLAG_BYTES];
} command;

static void add_words(command *built, const char *const *words) {
    for (; *words != NULL; words++) {
        built->words[built->count++] = *words;
    }
    built->words[built->count] = NULL;
}

/* Appends the words of $FMHA_EMU_CXXFLAGS, which the command holds from then on. */
static fmha_status add_flags(command *built) {
    const char *flags = getenv("FMHA_EMU_CXXFLAGS");
    int length = snprintf(built->flags, FLAG_BYTES, "%s", flags != NULL ? flags : ""), count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(built->flags, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (++count <= FLAG_WORDS) {
            add_words(built, (const char *const[]){word, NULL});
        }
    }
    if (length < 0 || length >= FLAG_BYTES || count > FLAG_WORDS) {
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "FMHA_EMU_CXXFLAGS: expected at most %d words in %d characters, got more: use fewer",
                        FLAG_WORDS, FLAG_BYTES - 1);
    }
    return FMHA_OK;
}

/* A program that calls itself clang and ends well may still have written nothing. */
static fmha_status check_object(const fmha_compiler *compiler, const char *object) {
    static const char magic[] = {0x7f, 'E', 'L', 'F'};
    char begin[sizeof magic] = {0};
    FILE *file = fopen(object, "rb");
    size_t length = file != NULL ? fread(begin, 1, sizeof begin, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    if (length == sizeof begin && memcmp(begin, magic, sizeof magic) == 0) {
        return FMHA_OK;
    }
    return emu_fail(FMHA_ERROR_COMPILE,
                    "emulated device: expected %s to write a shared object, it ended well and wrote %s: name another "
                    "compiler with FMHA_HOST_CXX",
                    compiler->path, length > 0 ? "something else" : "nothing");
}

/* "--ld-path=" and the lld that belongs to the compiler, so that linking needs neither PATH nor another package; ""
 * where there is none and the compiler looks for the system's ld. */
static void find_linker(const fmha_compiler *compiler, char option[PATH_MAX + OPTION_BYTES]) {
    char real[PATH_MAX];
    option[0] = '\0';
    if (realpath(compiler->path, real) == NULL) {
        return;
    }
    *strrchr(real, '/') = '\0';
    snprintf(option, PATH_MAX + OPTION_BYTES, "--ld-path=%s/ld.lld", real);
    if (access(strchr(option, '/'), X_OK) != 0) {
        option[0] = '\0';
    }
}

/* Whether the compiler itself knows of no ld; asked when it failed. */
static bool lacks_linker(const fmha_compiler *compiler, int limit_seconds) {
    const char *asking[] = {compiler->path, "-print-prog-name=ld", NULL};
    char *words = NULL;
    int exit_code = 0;
    bool lacks = fmha_process_run(asking, limit_seconds, &words, &exit_code) == FMHA_OK && exit_code == 0 &&
                 words != NULL && strchr(words, '/') == NULL;
    free(words);
    return lacks;
}

/* All but the kernel's own words: its symbol and its files. */
static fmha_status build_command(const fmha_compiler *compiler, const emu_chip *chip, int wave, bool checks,
                                 command *built) {
    static const char *const always[] = {
        "-x",
        "c++",
        "-std=c++17",
        "-O2",
        "-fPIC",
        "-shared",
        "-ffp-contract=off",
        "-w",
    /* The object runs on the machine that makes it. None of this changes a result: contraction is off, and half
     * precision is rounded after every operation whether or not the processor has it. */
#if defined(__x86_64__)
        "-march=native",
        "-Xclang",
        "-ffloat16-excess-precision=none",
#elif defined(__aarch64__)
        "-mcpu=native",
#endif
        "-fno-exceptions",
        "-fno-rtti",
        "-nostdlib++",
        "-fvisibility=hidden",
        "-fno-threadsafe-statics",
        /* What would fault must fault: a null pointer is an address, and a large frame touches the guard below it. */
        "-fno-delete-null-pointer-checks",
        "-fstack-clash-protection",
        /* Lines for findings; the file's name is the text's own. */
        "-gline-tables-only",
        "-fdebug-compilation-dir=.",
        NULL,
    };
    built->count = 0;
    snprintf(built->wave, sizeof built->wave, "-DFMHA_EMU_WAVE=%d", wave);
    snprintf(built->arch, sizeof built->arch, "-DFMHA_EMU_ARCH=%s", chip->arch);
    snprintf(built->chip_macro, sizeof built->chip_macro, "-D__%s__=1", chip->arch);
    for (char *at = built->chip_macro + strlen("-D"); *at != '\0'; at++) {
        *at = *at == '-' ? '_' : *at;
    }
    if (chip->family == EMU_NVIDIA) {
        snprintf(built->family_macro, sizeof built->family_macro, "-DFMHA_EMU_NVIDIA=1");
    } else {
        snprintf(built->family_macro, sizeof built->family_macro, "-D__GFX%u__=1", chip->major);
    }
    add_words(built, (const char *const[]){compiler->path, NULL});
    add_words(built, always);
    add_words(built, (const char *const[]){built->wave, built->arch, built->chip_macro, built->family_macro, NULL});
    if (checks) {
        add_words(built, check_options);
    }
    find_linker(compiler, built->linker);
    if (built->linker[0] != '\0') {
        add_words(built, (const char *const[]){built->linker, NULL});
    }
    return add_flags(built);
}

static fmha_status find_compiler(fmha_compiler *compiler) {
    fmha_status status = fmha_compiler_find_host(compiler);
    return status == FMHA_OK ? status : emu_fail(status, "%s", fmha_last_error());
}

static fmha_status run_compiler(folder *private_folder, const emu_chip *chip, const fmha_source *source, bool checks) {
    fmha_compiler compiler;
    command built;
    int limit_seconds, exit_code = 0;
    fmha_status status = find_compiler(&compiler);
    if (status == FMHA_OK) {
        status = build_command(&compiler, chip, source->wave, checks, &built);
    }
    if (status == FMHA_OK && fmha_compile_limit(&limit_seconds) != FMHA_OK) {
        status = emu_fail(FMHA_ERROR_ARGUMENT, "%s", fmha_last_error());
    }
    if (status != FMHA_OK) {
        return status;
    }
    char symbol[512], kernel[PATH_BYTES], object[PATH_BYTES], *output = NULL;
    snprintf(symbol, sizeof symbol, "-DFMHA_EMU_SYMBOL=%s", source->symbol);
    snprintf(kernel, sizeof kernel, "%s", in_folder(private_folder, kernel_name));
    snprintf(object, sizeof object, "%s", in_folder(private_folder, object_name));
    add_words(&built, (const char *const[]){symbol, kernel, "-o", object, "-lm", NULL});
    status = fmha_process_run(built.words, limit_seconds, &output, &exit_code);
    if (status != FMHA_OK) {
        status = emu_fail(status, "%s", fmha_last_error());
    } else if (exit_code != 0 && built.linker[0] == '\0' && lacks_linker(&compiler, limit_seconds)) {
        status = emu_fail(FMHA_ERROR_COMPILE,
                          "emulated device: expected a linker beside %s or on PATH, found neither ld.lld nor ld: "
                          "install the lld of the compiler's version (Debian: lld-%d), or binutils",
                          compiler.path, compiler.clang_major);
    } else if (exit_code != 0) {
        status = emu_fail(FMHA_ERROR_COMPILE, "it does not compile for the emulated device with %s:\n%s", compiler.path,
                          output != NULL ? output : "");
    } else {
        status = check_object(&compiler, object);
    }
    free(output);
    return status;
}

/* ---- Identity -------------------------------------------------------------------------------------------- */

/* Hash of what the kernel is compiled with beside its own text. */
static uint64_t hash_texts(void) {
    uint64_t hash = 0;
    for (const emu_text *text = emu_texts; text->name != NULL; text++) {
        hash = fmha_hash(hash, text->name, strlen(text->name));
        hash = fmha_hash(hash, text->text, strlen(text->text));
    }
    return hash;
}

/* What makes -march=native mean one thing or another: the lines of the first processor in /proc/cpuinfo, without those
 * that change by themselves. 0 where there is no such file. */
static uint64_t hash_processor(void) {
    static const char *const telling[] = {"vendor_id", "cpu family", "model", "stepping", "flags", "CPU ", "Features"};
    char text[8192]; /* has room for the first */
    size_t length = 0;
    ssize_t got = 0;
    int file = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        do {
            got = read(file, text + length, sizeof text - 1 - length);
            length += got > 0 ? (size_t)got : 0;
        } while (got > 0);
        close(file);
    }
    text[length] = '\0';
    uint64_t hash = 0;
    const char *line = text;
    while (*line != '\0' && *line != '\n') { /* an empty line ends a processor */
        size_t line_bytes = strcspn(line, "\n");
        for (size_t i = 0; i < sizeof telling / sizeof telling[0]; i++) {
            if (strncmp(line, telling[i], strlen(telling[i])) == 0) {
                hash = fmha_hash(hash, line, line_bytes);
                break;
            }
        }
        line += line_bytes + (line[line_bytes] != '\0');
    }
    return hash;
}

fmha_status emu_compile_identity(const emu_chip *chip, int wave, bool checks, char **text) {
    fmha_compiler compiler;
    command built;
    char *compiler_lines = NULL;
    *text = NULL;
    fmha_status status = find_compiler(&compiler);
    if (status == FMHA_OK) {
        status = build_command(&compiler, chip, wave, checks, &built);
    }
    if (status == FMHA_OK && (status = fmha_compiler_identity(&compiler, NULL, 0, &compiler_lines)) != FMHA_OK) {
        emu_fail(status, "%s", fmha_last_error());
    }
    if (status != FMHA_OK) {
        return status;
    }
    fmha_lines lines = {0};
    fmha_lines_add(&lines, "%s", compiler_lines);
    free(compiler_lines);
    for (size_t i = 1; i < built.count; i++) {
        fmha_lines_add(&lines, "flag %s\n", built.words[i]);
    }
    fmha_lines_add(&lines, "headers %016" PRIx64 "\nprocessor %016" PRIx64 "\n", hash_texts(), hash_processor());
    *text = fmha_lines_take(&lines);
    return *text != NULL ? FMHA_OK : emu_fail(FMHA_ERROR_MEMORY, "emu: out of memory for what identifies the compiler");
}

/* ---- Compilation ----------------------------------------------------------------------------------------- */

fmha_status emu_compile(const emu_chip *chip, const fmha_source *source, bool checks, void **image,
                        size_t *image_bytes) {
    *image = NULL;
    *image_bytes = 0;
    if (strstr(source->text, source->symbol) == NULL) {
        return emu_fail(FMHA_ERROR_ARGUMENT,
                        "source: expected a text with the kernel \"%s\", got one without that word: "
                        "check text and symbol",
                        source->symbol);
    }
    folder private_folder;
    fmha_status status = make_folder(&private_folder);
    if (status != FMHA_OK) {
        return status;
    }
    status = write_texts(&private_folder);
    if (status == FMHA_OK) {
        status = write_kernel(&private_folder, source);
    }
    if (status == FMHA_OK) {
        status = run_compiler(&private_folder, chip, source, checks);
    }
    if (status == FMHA_OK) {
        status = fmha_file_read(in_folder(&private_folder, object_name), image, image_bytes);
        if (status != FMHA_OK) {
            status = emu_fail(status, "%s", fmha_last_error());
        }
    }
    remove_folder(&private_folder);
    return status;
}
