/* libFuzzer over what reads files of strangers: the ELF and MessagePack reader, the metadata text, the assembly parser
 * and the issue model. Built where the compiler is clang:
 *
 *     CC=clang-22 meson setup build-fuzz && ninja -C build-fuzz tests/gen/asm/fuzz_kernels
 *     build-fuzz/tests/gen/asm/fuzz_kernels -max_len=8192 CORPUS_FOLDER tests/gen/asm
 */
#include <stddef.h>
#include <stdint.h>

#include "codeobject.h"
#include "issue_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct resources resources;
    struct assembly assembly;
    struct error error;
    const char *text = (const char *)data;
    codeobject_resources(data, size, NULL, &resources, &error);
    codeobject_resources_assembly(text, size, NULL, &resources, &error);
    if (assembly_parse(text, size, NULL, &assembly, &error)) {
        for (int i = 0; i < assembly.loop_count; i++) {
            struct issue_loop loop;
            if (issue_loop_analyse(&assembly, &assembly.loops[i], i % 2 == 0 ? "gfx1151" : "gfx942", 32, &loop,
                                   &error)) {
                issue_loop_free(&loop);
            }
        }
        assembly_free(&assembly);
    }
    return 0;
}
