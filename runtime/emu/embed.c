/* Build tool: writes the files that a kernel is compiled with as one C source. embed OUTPUT FILE… */
#include <stdio.h>
#include <string.h>

static int embed(FILE *out, const char *path) {
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        fprintf(stderr, "embed: cannot read %s\n", path);
        return 1;
    }
    const char *slash = strrchr(path, '/');
    fprintf(out, "    {\"%s\", (const char[]){", slash != NULL ? slash + 1 : path);
    int byte;
    for (int column = 0; (byte = getc(in)) != EOF; column++) {
        fprintf(out, "%s%d,", column % 24 == 0 ? "\n" : "", byte < 128 ? byte : byte - 256);
    }
    fprintf(out, "\n0}},\n");
    int failed = ferror(in);
    return fclose(in) != 0 || failed;
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: embed OUTPUT FILE...\n");
        return 2;
    }
    FILE *out = fopen(arguments[1], "w");
    if (out == NULL) {
        fprintf(stderr, "embed: cannot write %s\n", arguments[1]);
        return 1;
    }
    int failed = 0;
    fprintf(out, "#include \"emu_texts.h\"\n\nconst emu_text emu_texts[] = {\n");
    for (int i = 2; i < count && failed == 0; i++) {
        failed = embed(out, arguments[i]);
    }
    fprintf(out, "    {0, 0},\n};\n");
    return fclose(out) != 0 || failed;
}
