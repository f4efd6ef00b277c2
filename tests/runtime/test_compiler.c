/* The search for compilers, over stand-ins in a folder of the test's own, and real compilation. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler.h"
#include "file.h"
#include "image.h"
#include "support.h"

/* A kernel that needs no header. */
#define KERNEL                                                                                                         \
    "extern \"C\" __attribute__((global)) void twice(float *p) { p[__builtin_amdgcn_workitem_id_x()] *= 2.0f; }\n"

static char folder[256];

static void set_up(void) {
    support_make_folder(folder);
    unsetenv("FMHA_HIPCC");
    unsetenv("FMHA_HOST_CXX");
    unsetenv("FMHA_NVCC");
    unsetenv("CUDA_HOME");
    unsetenv("ROCM_PATH");
    unsetenv("TMPDIR");
}

static void tear_down(void) {
    support_remove_folder(folder);
}

TestSuite(compiler, .init = set_up, .fini = tear_down);

/* Puts a stand-in NAME into the folder: it answers --version with `version` and knows gfx1151 and sm_90 alone. */
static const char *stand_in(const char *name, const char *version) {
    static char path[400];
    char script[1400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(script, sizeof script,
             "#!/bin/sh\n"
             "case \"$*\" in\n"
             "--version) printf '%s' ;;\n"
             "-print-prog-name=lld) echo '%s/lld' ;;\n"
             "*--offload-arch=gfx1151* | *-arch=sm_90*) exit 0 ;;\n"
             "*) echo 'error: invalid target ID' >&2; exit 1 ;;\n"
             "esac\n",
             version, folder);
    support_write(path, script, 0755);
    const struct timespec always_the_same[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    utimensat(AT_FDCWD, path, always_the_same, 0);
    return path;
}

static void stand_in_lld(const char *version) {
    char path[400], script[200];
    snprintf(path, sizeof path, "%s/lld", folder);
    snprintf(script, sizeof script, "#!/bin/sh\necho '%s (compatible with GNU linkers)'\n", version);
    support_write(path, script, 0755);
}

#define HIPCC_7   "HIP version: 7.0.51831-0\\nDebian clang version 21.1.8 (13)\\nTarget: x86_64-pc-linux-gnu\\n"
#define HIPCC_5_2 "HIP version: 5.2.21153-0\\nDebian clang version 15.0.6\\nTarget: x86_64-pc-linux-gnu\\n"
#define CLANG_40  "clang version 40.1.2 (https://example.org 0123)\\nTarget: x86_64-pc-linux-gnu\\n"

Test(compiler, hipcc_of_the_variable_comes_first) {
    fmha_compiler compiler;
    const char *path = stand_in("my hipcc", HIPCC_7);
    setenv("FMHA_HIPCC", path, 1);
    cr_assert_eq(fmha_compiler_find("gfx1151", &compiler), FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(compiler.path, path);
    cr_assert_str_eq(compiler.version, "HIP version: 7.0.51831-0, Debian clang version 21.1.8 (13)");
    cr_assert_eq(compiler.clang_major, 21);
    cr_assert(compiler.is_hipcc);
    support_assert_clean();
}

Test(compiler, variable_may_name_a_word_on_path_or_a_clang) {
    fmha_compiler compiler;
    stand_in("hipcc-here", HIPCC_7);
    setenv("PATH", folder, 1);
    setenv("FMHA_HIPCC", "hipcc-here", 1);
    cr_assert_eq(fmha_compiler_find("gfx1151", &compiler), FMHA_OK, "%s", fmha_last_error());
    cr_assert(compiler.is_hipcc);

    stand_in_lld("LLD 40.1.2");
    setenv("FMHA_HIPCC", stand_in("some clang", CLANG_40), 1);
    cr_assert_eq(fmha_compiler_find("gfx1151", &compiler), FMHA_OK, "%s", fmha_last_error());
    cr_assert_not(compiler.is_hipcc);
    cr_assert_eq(compiler.clang_major, 40);
    cr_assert_str_eq(compiler.version, "clang version 40.1.2 (https://example.org 0123)");
}

static void expect_refusal(const char *arch, const char *found, const char *why) {
    fmha_compiler compiler;
    char text[2000];
    snprintf(
        text, sizeof text,
        "$FMHA_HIPCC cannot serve: expected hipcc of ROCm 6 or later, or clang++ 19 or later with its lld, that knows "
        "%s; looked at\n"
        "  $FMHA_HIPCC: %s: %s\n"
        "unset FMHA_HIPCC or let it name such a compiler",
        arch, found, why);
    cr_assert_eq(fmha_compiler_find(arch, &compiler), FMHA_ERROR_NO_COMPILER);
    cr_assert_str_eq(fmha_last_error(), text);
}

/* Debian 12's own hipcc takes gfx1100 and then crashes on WMMA. */
Test(compiler, variable_that_cannot_serve_is_an_error_of_its_own) {
    char found[600], why[900];
    const char *path = stand_in("old", HIPCC_5_2);
    setenv("FMHA_HIPCC", path, 1);
    snprintf(found, sizeof found, "%s: HIP version: 5.2.21153-0, Debian clang version 15.0.6", path);
    expect_refusal("gfx1151", found, "older than ROCm 6");

    setenv("FMHA_HIPCC", path = stand_in("new", HIPCC_7), 1);
    snprintf(found, sizeof found, "%s: HIP version: 7.0.51831-0, Debian clang version 21.1.8 (13)", path);
    expect_refusal("gfx1100", found, "does not know gfx1100; it said: error: invalid target ID");
    expect_refusal("navi31", found, "'navi31' is no target");

    setenv("FMHA_HIPCC", "/nowhere/hipcc", 1);
    expect_refusal("gfx1151", "/nowhere/hipcc", "no executable file is there");

    setenv("FMHA_HIPCC", path = stand_in("cat", "cat (GNU coreutils) 9.1\\n"), 1);
    expect_refusal("gfx1151", path, "no clang: its --version says 'cat (GNU coreutils) 9.1'");

    setenv("FMHA_HIPCC", path = stand_in("clang 18", "clang version 18.1.0\\n"), 1);
    snprintf(found, sizeof found, "%s: clang version 18.1.0", path);
    expect_refusal("gfx1151", found, "older than clang 19");

    char broken[400];
    snprintf(broken, sizeof broken, "%s/broken", folder);
    support_write(broken, "#!/bin/sh\necho 'no perl here'; exit 2\n", 0755);
    setenv("FMHA_HIPCC", broken, 1);
    expect_refusal("gfx1151", broken, "--version ended with exit status 2 and said: no perl here");

    support_write(broken, "#!/nowhere/perl\n", 0755);
    snprintf(why, sizeof why, "does not run: %s: cannot be started: No such file or directory", broken);
    expect_refusal("gfx1151", broken, why);
}

Test(compiler, clang_needs_the_linker_of_its_version) {
    char found[600], why[900];
    const char *path = stand_in("clang++-40", CLANG_40);
    setenv("FMHA_HIPCC", path, 1);
    snprintf(found, sizeof found, "%s: clang version 40.1.2 (https://example.org 0123)", path);
    expect_refusal("gfx1151", found, "its linker lld is missing; install lld-40");

    stand_in_lld("Debian LLD 14.0.6");
    path = stand_in("clang++-40 ", CLANG_40);
    setenv("FMHA_HIPCC", path, 1);
    snprintf(found, sizeof found, "%s: clang version 40.1.2 (https://example.org 0123)", path);
    snprintf(why, sizeof why,
             "its linker %s/lld is of another version, Debian LLD 14.0.6 (compatible with GNU linkers); install lld-40",
             folder);
    expect_refusal("gfx1151", found, why);
}

Test(compiler, hipcc_on_path_then_rocm_then_newest_clang) {
    fmha_compiler compiler;
    char rocm[300], bin[320], hipcc[340];
    snprintf(rocm, sizeof rocm, "%s/rocm 7", folder);
    snprintf(bin, sizeof bin, "%s/bin", rocm);
    snprintf(hipcc, sizeof hipcc, "%s/hipcc", bin);
    mkdir(rocm, 0755);
    mkdir(bin, 0755);
    support_write(hipcc, "#!/bin/sh\necho 'HIP version: 6.3.1'; echo 'AMD clang version 18.0.0git'\n", 0755);
    setenv("ROCM_PATH", rocm, 1);
    setenv("PATH", folder, 1);
    stand_in_lld("LLD 40.1.2");
    stand_in("clang++-40", CLANG_40);

    stand_in("hipcc", HIPCC_7);
    cr_assert_eq(fmha_compiler_find("gfx1151", &compiler), FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(compiler.version, "HIP version: 7.0.51831-0, Debian clang version 21.1.8 (13)");

    stand_in("hipcc", HIPCC_5_2 "#"); /* nothing but its size tells that it is another */
    cr_assert_eq(fmha_compiler_find("gfx1151", &compiler), FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(compiler.path, hipcc);
    cr_assert_str_eq(compiler.version, "HIP version: 6.3.1, AMD clang version 18.0.0git");

    unlink(hipcc);
    cr_assert_eq(fmha_compiler_find("gfx1151", &compiler), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(compiler.clang_major, 40, "%s", compiler.path);
}

#define NVCC(version)                                                                                                  \
    "nvcc: NVIDIA (R) Cuda compiler driver\\nCuda compilation tools, release " version "\\nBuild cuda_0.0\\n"

static void expect_no_nvcc(const char *arch, const char *places) {
    fmha_compiler compiler;
    cr_assert_eq(fmha_compiler_find(arch, &compiler), FMHA_ERROR_NO_COMPILER);
    cr_assert_str_eq(fmha_last_error(), places);
}

Test(compiler, nvcc_is_for_chips_of_nvidia) {
    fmha_compiler compiler;
    char home[300], bin[320], text[1200];
    const char *path = stand_in("nvcc", NVCC("13.0, V13.0.88"));
    setenv("PATH", folder, 1);
    cr_assert_eq(fmha_compiler_find("sm_90", &compiler), FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(compiler.path, path);
    cr_assert_str_eq(compiler.version, "nvcc release 13.0, V13.0.88");
    cr_assert(compiler.is_nvcc);
    cr_assert_not(compiler.is_hipcc);

    setenv("FMHA_NVCC", path, 1);
    snprintf(text, sizeof text,
             "$FMHA_NVCC cannot serve: expected nvcc of CUDA 12 or later that knows sm_100; looked at\n"
             "  $FMHA_NVCC: %s: nvcc release 13.0, V13.0.88: does not know sm_100; it said: error: invalid target ID\n"
             "unset FMHA_NVCC or let it name such a compiler",
             path);
    expect_no_nvcc("sm_100", text);
    unsetenv("FMHA_NVCC");

    snprintf(home, sizeof home, "%s/cuda", folder);
    snprintf(bin, sizeof bin, "%s/bin", home);
    mkdir(home, 0755);
    mkdir(bin, 0755);
    path = stand_in("nvcc", NVCC("11.8, V11.8.89, another"));
    stand_in("cuda/bin/nvcc", NVCC("12.4, V12.4.99"));
    setenv("CUDA_HOME", home, 1);
    cr_assert_eq(fmha_compiler_find("sm_90", &compiler), FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(compiler.version, "nvcc release 12.4, V12.4.99");
    unsetenv("CUDA_HOME");
    if (access("/usr/local/cuda/bin/nvcc", F_OK) == 0) {
        return; /* a real one comes last */
    }
    snprintf(text, sizeof text,
             "no compiler: expected nvcc of CUDA 12 or later that knows sm_90; looked at\n"
             "  $FMHA_NVCC: not set\n"
             "  nvcc on PATH: %s/nvcc: nvcc release 11.8, V11.8.89, another: older than CUDA 12\n"
             "  $CUDA_HOME/bin/nvcc: CUDA_HOME is not set\n"
             "  /usr/local/cuda/bin/nvcc: nothing there\n"
             "install the CUDA toolkit, or set FMHA_NVCC to its path",
             folder);
    expect_no_nvcc("sm_90", text);
}

/* What a real nvcc makes of a kernel. */
Test(compiler, nvcc_compiles_a_cubin) {
    static const fmha_source source = {
        .text = "extern \"C\" __attribute__((global)) void twice(float *p) { p[threadIdx.x] *= 2.0f; }\n",
        .symbol = "twice",
        .wave = 32};
    fmha_compiler compiler;
    void *image;
    size_t count;
    char target[FMHA_TARGET_BYTES];
    if (fmha_compiler_find("sm_90", &compiler) != FMHA_OK) {
        cr_skip_test("no nvcc is installed here");
    }
    cr_assert_eq(fmha_compiler_compile_source(&compiler, "sm_90", &source, &image, &count), FMHA_OK, "%s",
                 fmha_last_error());
    cr_assert_eq(fmha_image_target("image", image, count, target), FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(target, "sm_90"); /* so CUDA 13 marks what is for sm_90a */
    free(image);
    char *text;
    cr_assert_eq(fmha_compiler_identity(&compiler, "sm_90", 32, &text), FMHA_OK, "%s", fmha_last_error());
    cr_assert_not_null(strstr(text, "ptxas"), "%s", text);
    cr_assert_not_null(strstr(text, "flag -x\nflag cu\nflag -cubin\nflag -O3\nflag -std=c++17\nflag --fmad=false\n"
                                    "flag -arch=sm_90a\n"),
                       "%s", text);
    free(text);
    support_assert_clean();
}

typedef struct visited {
    char text[4000];
} visited;

static void visit(void *context, const char *place, const char *found, const char *verdict) {
    visited *v = context;
    size_t length = strlen(v->text);
    snprintf(v->text + length, sizeof v->text - length, "%s|%s|%s\n", place, found, verdict);
}

Test(compiler, newest_clang_is_told_by_version_not_by_name) {
    static const char *const newest_first[] = {"clang++-9: clang version 41.0.0", "clang++: clang version 40.9.9",
                                               "clang++-40: clang version 40.9.8", "clang++-8: clang version 40.8.9",
                                               "clang++-7: clang version 39.9.9"};
    fmha_compiler compiler;
    visited v = {{0}};
    setenv("PATH", folder, 1);
    stand_in("clang++-7", "clang version 39.9.9\\n");
    stand_in("clang++-8", "clang version 40.8.9\\n");
    stand_in("clang++-40", "clang version 40.9.8\\n");
    stand_in("clang++", "clang version 40.9.9\\n");
    stand_in("clang++-9", "clang version 41.0.0\\n");
    cr_assert_eq(fmha_compiler_find_host(&compiler), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(compiler.clang_major, 41);
    fmha_compiler_list(NULL, visit, &v);
    const char *at = v.text;
    for (size_t i = 0; i < sizeof newest_first / sizeof newest_first[0]; i++) {
        at = strstr(at, newest_first[i]);
        cr_assert_not_null(at, "%s in %s", newest_first[i], v.text);
    }
}

Test(compiler, host_variable_comes_first) {
    fmha_compiler compiler;
    const char *path = stand_in("host c++", CLANG_40);
    setenv("FMHA_HOST_CXX", path, 1);
    cr_assert_eq(fmha_compiler_find_host(&compiler), FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(compiler.path, path);

    char text[1000];
    path = stand_in("host c++ 14", "Debian clang version 14.0.6\\n");
    setenv("FMHA_HOST_CXX", path, 1);
    cr_assert_eq(fmha_compiler_find_host(&compiler), FMHA_ERROR_NO_COMPILER);
    snprintf(text, sizeof text,
             "$FMHA_HOST_CXX cannot serve: expected clang++ 19 or later for this machine; looked at\n"
             "  $FMHA_HOST_CXX: %s: Debian clang version 14.0.6: older than clang 19\n"
             "unset FMHA_HOST_CXX or let it name such a compiler",
             path);
    cr_assert_str_eq(fmha_last_error(), text);
}

/* No stand-in can hide /usr/lib/llvm-N, but no clang knows this chip. */
Test(compiler, failure_lists_every_place) {
    fmha_compiler compiler;
    setenv("PATH", folder, 1);
    cr_assert_eq(fmha_compiler_find("gfx1fff", &compiler), FMHA_ERROR_NO_COMPILER);
    const char *text = fmha_last_error();
    const char *head =
        "no compiler: expected hipcc of ROCm 6 or later, or clang++ 19 or later with its lld, that knows "
        "gfx1fff; looked at\n"
        "  $FMHA_HIPCC: not set\n"
        "  hipcc on PATH: nothing there\n"
        "  $ROCM_PATH/bin/hipcc: ROCM_PATH is not set\n"
        "  /opt/rocm/bin/hipcc: ";
    const char *tail = "\ninstall one of them, or set FMHA_HIPCC to its path";
    cr_assert_eq(strncmp(text, head, strlen(head)), 0, "%s", text);
    cr_assert_str_eq(text + strlen(text) - strlen(tail), tail);
}

Test(compiler, list_goes_on_after_the_first_that_serves) {
    char expected[1400];
    visited v = {{0}};
    setenv("PATH", folder, 1);
    stand_in_lld("LLD 40.1.2");
    stand_in("clang++-40", CLANG_40);
    stand_in("hipcc", HIPCC_7);
    fmha_compiler_list("gfx1151", visit, &v);
    snprintf(expected, sizeof expected,
             "$FMHA_HIPCC||not set\n"
             "hipcc on PATH|%s/hipcc: HIP version: 7.0.51831-0, Debian clang version 21.1.8 (13)|taken\n"
             "$ROCM_PATH/bin/hipcc||ROCM_PATH is not set\n",
             folder);
    cr_assert_eq(strncmp(v.text, expected, strlen(expected)), 0, "%s", v.text);
    snprintf(expected, sizeof expected,
             "clang++|%s/clang++-40: clang version 40.1.2 (https://example.org 0123)|would serve\n", folder);
    cr_assert_not_null(strstr(v.text, expected), "%s", v.text);

    v.text[0] = '\0';
    setenv("FMHA_HIPCC", "/nowhere/hipcc", 1);
    fmha_compiler_list("gfx1151", visit, &v);
    cr_assert_null(strstr(v.text, "|taken"), "a set variable that cannot serve decides: %s", v.text);
}

/* ---- Real compilation ------------------------------------------------------------------------------------ */

static void join_flags(const char *arch, int wave, char text[600]) {
    char storage[256];
    const char *flags[FMHA_COMPILER_FLAGS_MAX];
    int count = fmha_compiler_flags(NULL, arch, wave, storage, flags);
    cr_assert_gt(count, 0);
    cr_assert_null(flags[count]);
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        size_t length = strlen(text);
        snprintf(text + length, 600 - length, "%s%s", i > 0 ? " " : "", flags[i]);
    }
}

Test(compiler, flags) {
    char text[600], storage[256];
    const char *flags[FMHA_COMPILER_FLAGS_MAX];
    join_flags("gfx1151", 32, text);
    cr_assert_str_eq(
        text, "-x hip -nogpuinc -nogpulib --offload-device-only --no-gpu-bundle-output -O3 -std=c++17 -fuse-cuid=none "
              "-mcode-object-version=5 --offload-arch=gfx1151");
    join_flags("gfx1151", 64, text);
    cr_assert_str_eq(
        text, "-x hip -nogpuinc -nogpulib --offload-device-only --no-gpu-bundle-output -O3 -std=c++17 -fuse-cuid=none "
              "-mcode-object-version=5 --offload-arch=gfx1151 -mwavefrontsize64");
    join_flags("gfx942:sramecc+:xnack-", 64, text); /* has waves of 64 and nothing else */
    cr_assert_str_eq(
        text, "-x hip -nogpuinc -nogpulib --offload-device-only --no-gpu-bundle-output -O3 -std=c++17 -fuse-cuid=none "
              "-mcode-object-version=5 --offload-arch=gfx942:sramecc+:xnack-");
    join_flags("gfx11-generic", 64, text);
    cr_assert_str_eq(
        text, "-x hip -nogpuinc -nogpulib --offload-device-only --no-gpu-bundle-output -O3 -std=c++17 -fuse-cuid=none "
              "-mcode-object-version=6 --offload-arch=gfx11-generic -mwavefrontsize64");
    join_flags("gfx9-4-generic", 64, text);
    cr_assert_null(strstr(text, "wavefrontsize"));
    join_flags("gfx90a", 64, text);
    cr_assert_null(strstr(text, "wavefrontsize"));
    join_flags("sm_90", 32, text);
    cr_assert_str_eq(text, "-x cu -cubin -O3 -std=c++17 --fmad=false -arch=sm_90a");
    join_flags("sm_90a", 32, text);
    cr_assert_str_eq(text, "-x cu -cubin -O3 -std=c++17 --fmad=false -arch=sm_90a");
    static const char *const wrong[] = {"", "gfx", "gfx9", "sm_", "sm_9", "sm_90b", "1151", "gfxabcd", NULL};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_assert_eq(fmha_compiler_flags(NULL, wrong[i], 32, storage, flags), -1, "%s", wrong[i]);
    }
}

Test(compiler, compiles_to_a_bare_code_object) {
    static const char *const archs[] = {"gfx1151", "gfx1100", "gfx942", "gfx942:sramecc+:xnack-", "gfx11-generic"};
    char source[300], object[300];
    snprintf(source, sizeof source, "%s/a kernel.hip", folder);
    snprintf(object, sizeof object, "%s/an object", folder);
    support_write(source, KERNEL, 0644);
    int files = support_open_files();
    for (size_t i = 0; i < sizeof archs / sizeof archs[0]; i++) {
        for (int wave = 32; wave <= 64; wave += 32) {
            fmha_compiler compiler;
            void *image;
            size_t count;
            char target[FMHA_TARGET_BYTES];
            cr_assert_eq(fmha_compiler_find(archs[i], &compiler), FMHA_OK, "%s", fmha_last_error());
            cr_assert_eq(fmha_compiler_compile(&compiler, archs[i], wave, source, object), FMHA_OK, "%s",
                         fmha_last_error());
            cr_assert_eq(fmha_file_read(object, &image, &count), FMHA_OK, "%s", fmha_last_error());
            cr_assert_eq(fmha_image_target("object", image, count, target), FMHA_OK, "%s", fmha_last_error());
            cr_assert_str_eq(target, archs[i]);
            free(image);
        }
    }
    cr_assert_eq(support_open_files(), files);
    support_assert_clean();
}

static int entries(const char *path) {
    char command[400];
    int count = -1;
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", path);
    FILE *list = popen(command, "r");
    cr_assert_eq(fscanf(list, "%d", &count), 1);
    pclose(list);
    return count;
}

Test(compiler, complaint_is_in_the_error_and_nothing_is_written) {
    char source[300], object[300], head[1500];
    fmha_compiler compiler;
    snprintf(source, sizeof source, "%s/bad.hip", folder);
    snprintf(object, sizeof object, "%s/object", folder);
    support_write(source, "nonsense\n", 0644);
    support_write(object, "what was there", 0644);
    cr_assert_eq(fmha_compiler_find("gfx1151", &compiler), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_compiler_compile(&compiler, "gfx1151", 32, source, object), FMHA_ERROR_COMPILE);
    snprintf(head, sizeof head, "%s: %s (%s) could not compile it for gfx1151, exit status 1:\n%s:1:1: error: ", source,
             compiler.path, compiler.version, source);
    cr_assert_eq(strncmp(fmha_last_error(), head, strlen(head)), 0, "%s", fmha_last_error());
    cr_assert_eq(entries(folder), 2);
    void *bytes;
    size_t count;
    cr_assert_eq(fmha_file_read(object, &bytes, &count), FMHA_OK);
    cr_assert_str_eq(bytes, "what was there");
    free(bytes);

    snprintf(object, sizeof object, "%s/absent/object", folder);
    cr_assert_eq(fmha_compiler_compile(&compiler, "gfx1151", 32, source, object), FMHA_ERROR_IO);
    snprintf(head, sizeof head,
             "%s: cannot be written: No such file or directory; choose a folder that exists and is writable", object);
    cr_assert_str_eq(fmha_last_error(), head);
    support_assert_clean();
}

/* A compiler that ends well and yet writes something else. */
Test(compiler, output_is_checked) {
    fmha_compiler compiler = {.version = "liar 1"};
    char source[300], object[300], text[900];
    snprintf(source, sizeof source, "%s/kernel.hip", folder);
    snprintf(object, sizeof object, "%s/object", folder);
    snprintf(compiler.path, sizeof compiler.path, "%s/liar", folder);
    support_write(source, KERNEL, 0644);
    support_write(compiler.path,
                  "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\nprintf __CLANG_OFFLOAD_BUNDLE__ >\"$1\"\n", 0755);
    cr_assert_eq(fmha_compiler_compile(&compiler, "gfx1151", 32, source, object), FMHA_ERROR_COMPILE);
    snprintf(text, sizeof text,
             "%s (liar 1) ended well but its output: expected a bare code object, got an offload bundle; make it with "
             "`fmhagen build`, or with --offload-device-only --no-gpu-bundle-output",
             compiler.path);
    cr_assert_str_eq(fmha_last_error(), text);

    fmha_compiler real;
    char script[1400];
    cr_assert_eq(fmha_compiler_find("gfx1100", &real), FMHA_OK, "%s", fmha_last_error());
    snprintf(script, sizeof script, "#!/bin/sh\nexec '%s' \"$@\" --no-offload-arch=gfx1151 --offload-arch=gfx1100\n",
             real.path);
    support_write(compiler.path, script, 0755);
    cr_assert_eq(fmha_compiler_compile(&compiler, "gfx1151", 32, source, object), FMHA_ERROR_COMPILE);
    snprintf(text, sizeof text, "%s (liar 1) ended well but its output is for gfx1100, expected gfx1151",
             compiler.path);
    cr_assert_str_eq(fmha_last_error(), text);
    cr_assert_eq(entries(folder), 2);
}

Test(compiler, text_in_memory_leaves_nothing_behind) {
    fmha_compiler compiler;
    fmha_source source = {.text = KERNEL, .symbol = "twice", .wave = 32};
    void *image;
    size_t count;
    char target[FMHA_TARGET_BYTES], text[600];
    setenv("TMPDIR", folder, 1);
    cr_assert_eq(fmha_compiler_find("gfx1151", &compiler), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_compiler_compile_source(&compiler, "gfx1151", &source, &image, &count), FMHA_OK, "%s",
                 fmha_last_error());
    cr_assert_eq(fmha_image_target("image", image, count, target), FMHA_OK);
    cr_assert_str_eq(target, "gfx1151");
    free(image);
    cr_assert_eq(entries(folder), 0);

    source.text = "nonsense";
    source.path = "templates/ops/my kernel.hip";
    cr_assert_eq(fmha_compiler_compile_source(&compiler, "gfx1151", &source, &image, &count), FMHA_ERROR_COMPILE);
    cr_assert_not_null(strstr(fmha_last_error(), "/my kernel.hip:1:1: error: "), "%s", fmha_last_error());
    cr_assert_eq(entries(folder), 0);
    static const char *const folders[] = {"", "..", "templates/", "a/."}; /* which name no file: it is the symbol's */
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        source.path = folders[i];
        cr_assert_eq(fmha_compiler_compile_source(&compiler, "gfx1151", &source, &image, &count), FMHA_ERROR_COMPILE);
        cr_assert_not_null(strstr(fmha_last_error(), "/twice.hip:1:1: error: "), "%s", fmha_last_error());
        cr_assert_eq(entries(folder), 0);
    }

    setenv("TMPDIR", "/nowhere", 1);
    cr_assert_eq(fmha_compiler_compile_source(&compiler, "gfx1151", &source, &image, &count), FMHA_ERROR_IO);
    snprintf(text, sizeof text,
             "/nowhere: no folder can be made in it: No such file or directory; set TMPDIR to a writable folder");
    cr_assert_str_eq(fmha_last_error(), text);
    support_assert_clean();
}

/* The same compiler is asked again once its exit status is not lost. */
Test(compiler, what_this_process_lacks_is_not_kept) {
    fmha_compiler compiler;
    char path[300], text[1200];
    snprintf(path, sizeof path, "%s/cc", folder);
    support_write(path, "#!/bin/sh\nexit 1\n", 0755);
    setenv("FMHA_HIPCC", path, 1);
    signal(SIGCHLD, SIG_IGN);
    cr_assert_eq(fmha_compiler_find("gfx1151", &compiler), FMHA_ERROR_UNSUPPORTED);
    snprintf(text, sizeof text,
             "%s: its exit status is lost, because this program ignores SIGCHLD; restore the signal's default while "
             "fmha compiles",
             path);
    cr_assert_str_eq(fmha_last_error(), text);
    signal(SIGCHLD, SIG_DFL);
    cr_assert_eq(fmha_compiler_find("gfx1151", &compiler), FMHA_ERROR_NO_COMPILER);
    snprintf(text, sizeof text,
             "$FMHA_HIPCC cannot serve: expected hipcc of ROCm 6 or later, or clang++ 19 or later with its lld, that "
             "knows gfx1151; looked at\n"
             "  $FMHA_HIPCC: %s: --version ended with exit status 1 and said: nothing\n"
             "unset FMHA_HIPCC or let it name such a compiler",
             path);
    cr_assert_str_eq(fmha_last_error(), text);
}

Test(compiler, refuses_wrong_parameters) {
    fmha_compiler compiler = {.path = "/bin/false"};
    cr_assert_eq(fmha_compiler_find(NULL, &compiler), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_compiler_find("gfx1151", NULL), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_compiler_find_host(NULL), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_compiler_compile(NULL, "gfx1151", 32, "a", "b"), FMHA_ERROR_ARGUMENT);
    cr_assert_eq(fmha_compiler_compile(&compiler, "gfx1151", 48, "a", "b"), FMHA_ERROR_ARGUMENT);
    cr_assert_str_eq(fmha_last_error(), "a: expected a wave of 32 or 64 lanes, got 48");
}
