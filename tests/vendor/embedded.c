/* embedded [NAME]: prints the bytes of the file of that name which is linked into this program, or all names. */
#include <stdio.h>
#include <string.h>

#include "embedded.h"

int main(int argc, char **argv) {
    for (const struct fmha_embedded_file *file = fmha_embedded_files; file->name; file++) {
        size_t count = (size_t)(file->end - file->begin);
        if (argc < 2)
            puts(file->name);
        else if (strcmp(file->name, argv[1]) == 0)
            return fwrite(file->begin, 1, count, stdout) == count ? 0 : 1;
    }
    return argc < 2 ? 0 : 1;
}
