/* Measures dispatch: what a hot call costs, how long the first call of a process takes with a warm cache, how long an
 * instance compiles that no cache has. docs/dispatch.md says what it measured. One file, no options but these:
 *
 *   bench_dispatch           everything, about a minute
 *   bench_dispatch --quick   the same in a second, without figures worth a look: that it runs
 *   bench_dispatch --once    what is done once in a process: first calls and compiling
 *   bench_dispatch --hot INSTANCES THREADS   one row, for a profiler
 *
 * It stops at the first thing that goes wrong. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../tests/runtime/fake/driver.h"
#include "cache.h"
#include "compiler.h"
#include "file.h"
#include "index.h"

enum { INSTANCES_MAX = 10000, THREADS_MAX = 16, RUNS = 21 };

static char folder[64] = "/tmp/fmha-bench-XXXXXX";
static bool quick;

static void stop(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void stop(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "bench_dispatch: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

static void must(fmha_status status) {
    if (status != FMHA_OK) {
        stop("%s: %s", fmha_status_name(status), fmha_last_error());
    }
}

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare_numbers(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *numbers, size_t count) {
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    return numbers[count / 2];
}

static void print_times(double *times, size_t count) {
    double middle = median(times, count); /* sorts them */
    printf("%7.2f %7.2f  ", times[0], middle);
}

/* ---- A library of any number of instances ---------------------------------------------------------------- */

/* As fmhagen writes it for f16 and rows aligned to 16 bytes. */
static const char interface_lines[] = "interface 0 160\n"
                                      "argument buffer q 0 align 16\n"
                                      "argument buffer k 8 align 16\n"
                                      "argument buffer v 16 align 16\n"
                                      "argument buffer o 24 align 16\n"
                                      "argument i64 stride_q_batch 32\n"
                                      "argument i64 stride_q_head 40\n"
                                      "argument i64 stride_q_row 48\n"
                                      "argument i64 stride_k_batch 56\n"
                                      "argument i64 stride_k_head 64\n"
                                      "argument i64 stride_k_row 72\n"
                                      "argument i64 stride_v_batch 80\n"
                                      "argument i64 stride_v_head 88\n"
                                      "argument i64 stride_v_row 96\n"
                                      "argument i64 stride_o_batch 104\n"
                                      "argument i64 stride_o_head 112\n"
                                      "argument i64 stride_o_row 120\n"
                                      "argument buffer lse 128 align 4 optional\n"
                                      "argument i32 heads_q 136\n"
                                      "argument i32 heads_k 140\n"
                                      "argument i32 seqlen_q 144\n"
                                      "argument i32 seqlen_k 148\n"
                                      "argument f32 scale 152\n"
                                      "constraint min 0 stride_k_row\n"
                                      "constraint max 67108859 stride_k_row\n"
                                      "constraint min 0 stride_v_row\n"
                                      "constraint max 67108859 stride_v_row\n"
                                      "constraint equals 0 stride_q_batch % 8\n"
                                      "constraint equals 0 stride_q_head % 8\n"
                                      "constraint equals 0 stride_q_row % 8\n"
                                      "constraint equals 0 stride_k_batch % 8\n"
                                      "constraint equals 0 stride_k_head % 8\n"
                                      "constraint equals 0 stride_k_row % 8\n"
                                      "constraint equals 0 stride_v_batch % 8\n"
                                      "constraint equals 0 stride_v_head % 8\n"
                                      "constraint equals 0 stride_v_row % 8\n"
                                      "constraint equals 0 stride_o_batch % 8\n"
                                      "constraint equals 0 stride_o_head % 8\n"
                                      "constraint equals 0 stride_o_row % 8\n"
                                      "constraint equals 0 heads_q % heads_k\n"
                                      "constraint min 1 heads_k\n"
                                      "constraint min 0 seqlen_q\n"
                                      "constraint max 1073741824 seqlen_q\n"
                                      "constraint min 0 seqlen_k\n"
                                      "constraint max 1073741824 seqlen_k\n";

/* Each instance has a key of its own. */
static void head_dims(size_t instance, int32_t *head_dim, int32_t *head_dim_v) {
    *head_dim = (int32_t)(8 + 8 * (instance % 100));
    *head_dim_v = (int32_t)(8 + 8 * (instance / 100));
}

static void write_library(size_t count) {
    char path[128];
    snprintf(path, sizeof path, "%s/%zu", folder, count);
    mkdir(path, 0777);
    setenv("FMHA_LIBRARY_PATH", path, 1);
    snprintf(path, sizeof path, "%s/%zu/gfx1151", folder, count);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%zu/gfx1151/one.hsaco", folder, count);
    must(fmha_file_write(path, "object", 6));
    snprintf(path, sizeof path, "%s/%zu/gfx1151/fmha.index", folder, count);
    char *text;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    if (file == NULL) {
        stop("no memory for %s", path);
    }
    fprintf(file, "fmha-index 1\nabi %d\nmade-by bench_dispatch\n%s", FMHA_ABI_VERSION, interface_lines);
    for (size_t i = 0; i < count; i++) {
        int32_t head_dim, head_dim_v;
        head_dims(i, &head_dim, &head_dim_v);
        fprintf(file,
                "instance fmha_forward_gfx1151_f16_%05zu\ntarget gfx1151\nkey operation=forward dtype=f16 head_dim=%d "
                "head_dim_v=%d mask=none v_layout=row align=16\nlaunch wave=32 workgroup=128 lds=18960\nrank 0\nuses "
                "0\ngrid ceil_div(seqlen_q, 64)\ngrid heads_q\ngrid batch\nobject 6 8dfeaf9950df0ffa one.hsaco\n",
                i, head_dim, head_dim_v);
    }
    fflush(file);
    fprintf(file, "end %zu %016llx\n", count, (unsigned long long)fmha_index_hash(text, bytes));
    fclose(file);
    must(fmha_file_write(path, text, bytes));
    free(text);
}

static fmha_forward_problem problem_of(size_t instance) {
    fmha_forward_problem problem = FMHA_FORWARD_PROBLEM_INIT;
    problem.dtype = FMHA_DTYPE_F16;
    head_dims(instance, &problem.head_dim, &problem.head_dim_v);
    problem.scale = 0.125F;
    problem.batch = 2;
    problem.heads_q = 32;
    problem.heads_k = 8;
    problem.seqlen_q = 1000;
    problem.seqlen_k = 3000;
    problem.q = (fmha_tensor){(void *)0x10000, 8192000, 128, 8192};
    problem.k = (fmha_tensor){(void *)0x20000, 6144000, 128, 2048};
    problem.v = (fmha_tensor){(void *)0x30000, 6144000, 128, 2048};
    problem.o = (fmha_tensor){(void *)0x40000, 8192000, 128, 8192};
    problem.lse = (void *)0x50000;
    return problem;
}

/* ---- Hot calls ------------------------------------------------------------------------------------------- */

static fmha_device *device;
static size_t calls;
static pthread_barrier_t start;

struct walk {
    fmha_forward_problem *problems; /* in an order that no cache foresees */
    size_t count;
    double nanoseconds; /* of processor time, for each call */
};

static void *run(void *argument) {
    struct walk *walk = argument;
    pthread_barrier_wait(&start);
    double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (size_t i = 0, at = 0; i < calls; i++) {
        if (fmha_forward(device, &walk->problems[at]) != FMHA_OK) {
            stop("%s", fmha_last_error());
        }
        at = at + 1 == walk->count ? 0 : at + 1;
    }
    walk->nanoseconds = (seconds(CLOCK_THREAD_CPUTIME_ID) - begin) * 1e9 / (double)calls;
    return NULL;
}

/* Of `instances` in the library `kinds` are asked for in turn. The slowest thread's time for a call. */
static double time_calls(size_t instances, size_t kinds, int threads) {
    struct walk walks[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    double slowest = 0;
    unsigned state = 1;
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        walks[i].count = kinds;
        walks[i].problems = malloc(kinds * sizeof *walks[i].problems);
        if (walks[i].problems == NULL) {
            stop("no memory");
        }
        for (size_t j = 0; j < kinds; j++) {
            state = state * 1103515245u + 12345u;
            size_t to = (state >> 8) % (j + 1);
            walks[i].problems[j] = walks[i].problems[to];
            walks[i].problems[to] = problem_of(kinds == instances ? j : instances / 2);
        }
        if (pthread_create(&ids[i], NULL, run, &walks[i]) != 0) {
            stop("no thread");
        }
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        slowest = walks[i].nanoseconds > slowest ? walks[i].nanoseconds : slowest;
        free(walks[i].problems);
    }
    pthread_barrier_destroy(&start);
    return slowest;
}

static fake_driver_record *use_recording_driver(void) {
    setenv("FMHA_DRIVER_DIR", FAKE_DRIVER_DIR, 1);
    void *library = dlopen(FAKE_DRIVER_DIR "/libfmha_emu.so", RTLD_NOW);
    fake_driver_record *record = library != NULL ? dlsym(library, "fake_driver_state") : NULL;
    if (record == NULL) {
        stop("%s", dlerror());
    }
    record->concurrent = record->quiet = record->code_objects = true;
    return record;
}

static void open_hot(size_t instances) {
    write_library(instances);
    must(fmha_device_open("emu:gfx1151", &device));
    for (size_t i = 0; i < instances; i++) {
        fmha_forward_problem problem = problem_of(i);
        must(fmha_forward_prepare(device, &problem));
    }
}

static void measure_hot(void) {
    static const size_t sizes[] = {1, 100, INSTANCES_MAX};
    static const int threads[] = {1, 2, 4, 8, 16};
    printf(
        "hot call, ns of the slowest thread's processor time (fmha_forward with a driver whose launch does nothing)\n"
        "instances  asked for  threads:  1      2      4      8     16\n");
    for (size_t i = 0; i < 3; i++) {
        open_hot(sizes[i]);
        for (size_t all = 0; all < (sizes[i] > 1 ? 2 : 1); all++) {
            size_t kinds = all ? sizes[i] : 1;
            printf("%9zu  %9zu        ", sizes[i], kinds);
            for (size_t j = 0; j < 5; j++) {
                double times[5];
                size_t rounds = quick ? 1 : 5;
                calls = quick ? 100 : 2000000 / (size_t)threads[j] + INSTANCES_MAX;
                for (size_t k = 0; k < rounds; k++) {
                    times[k] = time_calls(sizes[i], kinds, threads[j]);
                }
                printf("%7.1f", median(times, rounds));
                fflush(stdout);
            }
            printf("\n");
        }
        fmha_device_close(device);
    }
}

/* ---- The first call of a process ------------------------------------------------------------------------- */

/* Runs this program as `bench_dispatch --first`, which prints milliseconds. */
static double first_call(const char *self) {
    const char *const command[] = {self, "--first", NULL};
    char *words;
    int code;
    must(fmha_process_run(command, 60, &words, &code));
    double milliseconds = words != NULL ? strtod(words, NULL) : 0;
    if (code != 0 || milliseconds <= 0) {
        stop("--first: %s", words != NULL ? words : "it said nothing");
    }
    free(words);
    return milliseconds;
}

static int be_first(void) {
    fmha_forward_problem problem = problem_of(0);
    fake_driver_record *record =
        strcmp(getenv("FMHA_DRIVER_DIR"), FAKE_DRIVER_DIR) == 0 ? use_recording_driver() : NULL;
    problem.head_dim = record != NULL ? problem.head_dim : 128;
    problem.head_dim_v = 0;
    problem.mask = record != NULL ? FMHA_MASK_NONE : FMHA_MASK_CAUSAL_BOTTOM_RIGHT;
    double begin = seconds(CLOCK_MONOTONIC);
    must(fmha_device_open("emu:gfx1151", &device));
    must(fmha_forward_prepare(device, &problem));
    printf("%.3f\n", (seconds(CLOCK_MONOTONIC) - begin) * 1e3);
    fmha_device_close(device);
    return 0;
}

static void measure_first(const char *self) {
    double times[RUNS];
    size_t runs = quick ? 1 : RUNS;
    char path[128];
    setenv("FMHA_DRIVER_DIR", FAKE_DRIVER_DIR, 1);
    printf(
        "\nfirst call of a process, ms from opening the device to a kernel that can be launched, fastest and median of "
        "%zu\n",
        runs);
    for (size_t instances = 1; instances <= INSTANCES_MAX; instances *= 100) {
        write_library(instances);
        for (size_t i = 0; i < runs; i++) {
            times[i] = first_call(self);
        }
        print_times(times, runs);
        printf("code object out of a library of %zu, driver that does nothing\n", instances);
    }
    snprintf(path, sizeof path, "%s/library", folder);
    const char *const command[] = {FMHAGEN_PATH, "library", path,       "--no-compile",
                                   "--arch",     "gfx1151", "--preset", quick ? "minimal" : "llm-inference",
                                   NULL};
    char *words;
    int code;
    must(fmha_process_run(command, 60, &words, &code));
    if (code != 0) {
        stop("%s", words);
    }
    free(words);
    setenv("FMHA_LIBRARY_PATH", path, 1);
    setenv("FMHA_DRIVER_DIR", EMU_DRIVER_DIR, 1);
    double cold = first_call(self);
    for (size_t i = 0; i < runs; i++) {
        times[i] = first_call(self);
    }
    print_times(times, runs);
    printf("text of the preset %s, emulated device, image in the cache (%.0f when it was not)\n", command[7], cold);
}

/* ---- Compiling ------------------------------------------------------------------------------------------- */

static void measure_cold(void) {
    fmha_compiler compiler;
    void *text, *image;
    size_t bytes, image_bytes;
    double times[RUNS];
    size_t runs = quick ? 1 : 7;
    must(fmha_compiler_find("gfx1151", &compiler));
    must(fmha_file_read(SOURCE_DIR "/generated/fmha_forward_gfx1151_f16_d128_causal_m64k32w4.hip", &text, &bytes));
    const fmha_source source = {text, "fmha_forward_gfx1151_f16_d128_causal_m64k32w4", NULL, 32};
    for (size_t i = 0; i < runs; i++) {
        double begin = seconds(CLOCK_MONOTONIC);
        must(fmha_compiler_compile_source(&compiler, "gfx1151", &source, &image, &image_bytes));
        times[i] = seconds(CLOCK_MONOTONIC) - begin;
        free(image);
    }
    printf("\ncold compile, s, fastest and median of %zu\n", runs);
    print_times(times, runs);
    printf("%s with %s\n", source.symbol, compiler.version);
    free(text);
}

static void print_processor(void) {
    char line[256], *colon = NULL;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && colon == NULL && fgets(line, sizeof line, file) != NULL) {
        colon = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
    }
    printf("%ld processors:%s", sysconf(_SC_NPROCESSORS_ONLN), colon != NULL ? colon + 1 : " unknown\n");
    if (file != NULL) {
        fclose(file);
    }
}

int main(int count, char **words) {
    char self[4096], cache[128];
    if (count == 2 && strcmp(words[1], "--first") == 0) {
        return be_first();
    }
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (mkdtemp(folder) == NULL || length < 0) {
        stop("no temporary folder");
    }
    self[length] = '\0';
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("FMHA_CACHE_DIR", cache, 1);
    setenv("FMHA_GENERATOR", "off", 1);
    unsetenv("FMHA_LOG");
    unsetenv("FMHA_DUMP");
    quick = count == 2 && strcmp(words[1], "--quick") == 0;
    bool once = count == 2 && strcmp(words[1], "--once") == 0;
    if (count == 4 && strcmp(words[1], "--hot") == 0) {
        size_t instances = strtoul(words[2], NULL, 10);
        use_recording_driver();
        open_hot(instances);
        calls = 20000000;
        printf("%.1f ns\n", time_calls(instances, instances, atoi(words[3])));
        fmha_device_close(device);
    } else if (count == 1 || quick) {
        print_processor();
        use_recording_driver();
        measure_hot();
        measure_first(self);
        measure_cold();
    } else if (once) {
        measure_first(self);
        measure_cold();
    } else {
        stop("expected no option, --quick, --once or --hot INSTANCES THREADS, got '%s'", words[1]);
    }
    const char *const removal[] = {"/bin/rm", "-rf", folder, NULL};
    must(fmha_process_run(removal, 60, &(char *){NULL}, &(int){0}));
    return 0;
}
