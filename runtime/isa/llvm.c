#include "llvm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../library.h"
#include "isa.h"

/* From llvm-c/Disassembler.h and llvm-c/Target.h, which have been the same since LLVM 3. */
typedef void *(*create_function)(const char *triple, const char *cpu, const char *features, void *info, int tag,
                                 void *get_info, void *look_up);
typedef size_t (*text_function)(void *disassembler, const uint8_t *bytes, uint64_t count, uint64_t address, char *text,
                                size_t text_bytes);
typedef void (*dispose_function)(void *disassembler);
typedef void (*initialize_function)(void);
typedef void (*version_function)(unsigned *major, unsigned *minor, unsigned *patch);

enum { MAJOR_MIN = 19, MAJOR_MAX = 40 };

struct isa_llvm {
    void *disassembler;
};

static struct {
    pthread_mutex_t lock;
    void *library;
    unsigned major;
    create_function create;
    text_function text;
    dispose_function dispose;
} llvm = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool take(void *library) {
    static const char *const initializers[] = {"LLVMInitializeAMDGPUTargetInfo", "LLVMInitializeAMDGPUTargetMC",
                                               "LLVMInitializeAMDGPUDisassembler"};
    initialize_function initialize[3];
    version_function version;
    for (int i = 0; i < 3; i++) {
        *(void **)&initialize[i] = dlsym(library, initializers[i]);
        if (initialize[i] == NULL) {
            return false;
        }
    }
    *(void **)&llvm.create = dlsym(library, "LLVMCreateDisasmCPUFeatures");
    *(void **)&llvm.text = dlsym(library, "LLVMDisasmInstruction");
    *(void **)&llvm.dispose = dlsym(library, "LLVMDisasmDispose");
    *(void **)&version = dlsym(library, "LLVMGetVersion");
    if (llvm.create == NULL || llvm.text == NULL || llvm.dispose == NULL || version == NULL) {
        return false;
    }
    unsigned minor, patch;
    version(&llvm.major, &minor, &patch);
    if (llvm.major < MAJOR_MIN) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        initialize[i]();
    }
    llvm.library = library;
    return true;
}

static bool try_library(library_search *search, const char *name) {
    void *library = fmha_library_open(search, name);
    if (library == NULL) {
        return false;
    }
    if (take(library)) {
        return true;
    }
    fmha_library_note(search, name, "has no AMDGPU disassembler of LLVM 19 or later");
    fmha_library_close(library);
    return false;
}

/* The lock is held. */
static fmha_status open_library(void) {
    if (llvm.library != NULL) {
        return FMHA_OK;
    }
    library_search *search = calloc(1, sizeof *search);
    if (search == NULL) {
        return isa_fail(FMHA_ERROR_MEMORY, "isa: no memory to look for libLLVM");
    }
    const char *chosen = getenv("FMHA_LLVM_LIBRARY");
    bool found = false, decided = chosen != NULL && chosen[0] != '\0';
    char name[64];
    if (decided) {
        found = try_library(search, chosen);
    }
    for (int major = MAJOR_MAX; major >= MAJOR_MIN && !found && !decided; major--) {
        static const char *const forms[] = {"/usr/lib/llvm-%d/lib/libLLVM.so.1", "libLLVM-%d.so", "libLLVM.so.%d.1"};
        for (size_t i = 0; i < sizeof forms / sizeof forms[0] && !found; i++) {
            snprintf(name, sizeof name, forms[i], major);
            size_t length = search->length;
            found = try_library(search, name);
            const char *note = search->places + length;
            if (!found &&
                (strstr(note, "cannot open shared object") != NULL || strstr(note, "nothing there") != NULL)) {
                search->length = length; /* the error says once for all where nothing was */
                search->places[length] = '\0';
            }
        }
    }
    if (!found) {
        isa_fail(FMHA_ERROR_NO_DRIVER,
                 "isa: expected LLVM's shared library of version %d or later, to decode instructions; looked for "
                 "libLLVM-N.so in /usr/lib/llvm-N/lib and the system's library folders%s\ninstall it (Debian: "
                 "libllvm22), or set FMHA_LLVM_LIBRARY to the file",
                 MAJOR_MIN, search->places);
    }
    free(search);
    return found ? FMHA_OK : FMHA_ERROR_NO_DRIVER;
}

fmha_status isa_llvm_version(char version[32]) {
    pthread_mutex_lock(&llvm.lock);
    fmha_status status = open_library();
    snprintf(version, 32, "%u", llvm.major);
    pthread_mutex_unlock(&llvm.lock);
    return status;
}

fmha_status isa_llvm_open(const char *cpu, unsigned wave, isa_llvm **opened) {
    *opened = NULL;
    pthread_mutex_lock(&llvm.lock);
    fmha_status status = open_library();
    pthread_mutex_unlock(&llvm.lock);
    if (status != FMHA_OK) {
        return status;
    }
    isa_llvm *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return isa_fail(FMHA_ERROR_MEMORY, "isa: no memory for a disassembler");
    }
    made->disassembler = llvm.create("amdgcn-amd-amdhsa", cpu, wave == 64 ? "+wavefrontsize64" : "+wavefrontsize32",
                                     NULL, 0, NULL, NULL);
    if (made->disassembler == NULL) {
        free(made);
        return isa_fail(FMHA_ERROR_UNSUPPORTED, "isa: LLVM %u does not know the chip %s; install a newer one",
                        llvm.major, cpu);
    }
    *opened = made;
    return FMHA_OK;
}

void isa_llvm_close(isa_llvm *closed) {
    if (closed != NULL) {
        llvm.dispose(closed->disassembler);
        free(closed);
    }
}

size_t isa_llvm_text(isa_llvm *opened, const unsigned char *code, size_t bytes, char *text, size_t text_bytes) {
    char line[512] = "";
    size_t taken = llvm.text(opened->disassembler, code, bytes, 0, line, sizeof line);
    const char *begin = line + strspn(line, " \t");
    size_t length = strlen(begin);
    while (length > 0 && (begin[length - 1] == ' ' || begin[length - 1] == '\t' || begin[length - 1] == '\n')) {
        length--;
    }
    snprintf(text, text_bytes, "%.*s", (int)length, begin);
    return taken;
}
