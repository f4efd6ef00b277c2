/* Finding the best of the instances that serve a problem by running them. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "device.h"
#include "dispatch.h"
#include "dispatch_state.h"
#include "problem.h"

#define ROUNDS_MAX      10000
#define ROUNDS_DEFAULT  20
#define WARMUP_DEFAULT  3
#define ROUNDS_COUNTING 1

/* One candidate, and what its runs cost. */
struct contender {
    const struct fmha_dispatch_candidate *candidate;
    double *amounts; /* one for each round */
    double median;
    bool failed;
    char note[1024];
};

struct contest {
    fmha_device *device;
    void *stream;
    const fmha_tune_options *options;
    int32_t rounds, warmup_rounds;
    uint64_t random; /* the state of a generator */
    size_t count;
    struct contender *contenders;
    size_t *order;
    double *amounts;
};

/* ---- Rounds ---------------------------------------------------------------------------------------------- */

/* splitmix64. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void shuffle(struct contest *contest) {
    for (size_t i = contest->count; i > 1; i--) {
        size_t other = next_random(&contest->random) % i, kept = contest->order[i - 1];
        contest->order[i - 1] = contest->order[other];
        contest->order[other] = kept;
    }
}

static void run_once(const struct contest *contest, struct contender *contender, int32_t round, int32_t counted) {
    const struct fmha_plan *plan = &contender->candidate->plan;
    const fmha_launch_config config = {
        .grid = {plan->grid[0], plan->grid[1], plan->grid[2]},
        .workgroup = {plan->workgroup, 1, 1},
        .arguments = plan->arguments,
        .argument_bytes = plan->argument_bytes,
        .stream = contest->stream,
    };
    double amount;
    if (contest->options->progress != NULL) {
        contest->options->progress(contest->options->progress_context, round, contest->rounds + contest->warmup_rounds,
                                   contender->candidate->instance->name);
    }
    if (fmha_kernel_measure(plan->kernel, &config, &amount) != FMHA_OK) {
        contender->failed = true;
        snprintf(contender->note, sizeof contender->note, "%s", fmha_last_error());
    } else if (counted >= 0) {
        contender->amounts[counted] = amount;
    }
}

/* Rounds are interleaved, so that a clock that changes meanwhile changes for all. */
static void run_rounds(struct contest *contest) {
    for (int32_t round = 0; round < contest->warmup_rounds + contest->rounds; round++) {
        shuffle(contest);
        for (size_t i = 0; i < contest->count; i++) {
            struct contender *contender = &contest->contenders[contest->order[i]];
            if (!contender->failed) {
                run_once(contest, contender, round, round - contest->warmup_rounds);
            }
        }
    }
}

static int compare_amounts(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static int compare_contenders(const void *left_pointer, const void *right_pointer) {
    const struct contender *left = left_pointer, *right = right_pointer;
    if (left->failed != right->failed) {
        return left->failed ? 1 : -1;
    }
    if (left->median < right->median || left->median > right->median) {
        return left->median < right->median ? -1 : 1;
    }
    return strcmp(left->candidate->instance->name, right->candidate->instance->name);
}

static void rate(struct contest *contest) {
    size_t rounds = (size_t)contest->rounds;
    for (size_t i = 0; i < contest->count; i++) {
        struct contender *contender = &contest->contenders[i];
        if (!contender->failed) {
            qsort(contender->amounts, rounds, sizeof contender->amounts[0], compare_amounts);
            contender->median = (contender->amounts[(rounds - 1) / 2] + contender->amounts[rounds / 2]) / 2;
        }
    }
    qsort(contest->contenders, contest->count, sizeof contest->contenders[0], compare_contenders);
}

/* ---- What comes of it ------------------------------------------------------------------------------------ */

static bool measures(const fmha_device *device) {
    const char *unit = device->driver->measure_unit;
    return unit != NULL && strcmp(unit, fmha_choice_units[FMHA_CHOICE_US]) == 0;
}

static fmha_status choose(const struct contest *contest, const struct fmha_key *key,
                          const struct fmha_operands *operands) {
    const struct contender *best = &contest->contenders[0];
    char about[256], version[512];
    fmha_device_about(contest->device, about, sizeof about);
    snprintf(version, sizeof version, "%s, libfmha %s", about, fmha_version());
    struct fmha_choice choice = {
        .key = *key,
        .figure = best->median < 1e15 ? (uint64_t)(best->median * 1000 + 0.5) : UINT64_MAX / 2,
        .time = (int64_t)time(NULL),
        .runs = (uint32_t)contest->rounds,
        .unit = measures(contest->device) ? FMHA_CHOICE_US : FMHA_CHOICE_CYCLES,
        .chip = contest->device->info.arch,
        .driver = contest->device->info.driver,
        .name = best->candidate->instance->name,
        .version = version,
        .file = "",
    };
    memcpy(choice.length, operands->value, sizeof choice.length);
    return fmha_dispatch_choose(contest->device, &choice);
}

static void tell(const struct contest *contest, fmha_tune_visit visit, void *context) {
    for (size_t i = 0; visit != NULL && i < contest->count; i++) {
        const struct contender *contender = &contest->contenders[i];
        const fmha_tune_result result = {
            .instance = contender->candidate->instance->name,
            .library = contender->candidate->library,
            .unit = contest->device->driver->measure_unit,
            .median = contender->median,
            .least = contender->failed ? 0 : contender->amounts[0],
            .most = contender->failed ? 0 : contender->amounts[contest->rounds - 1],
            .runs = contender->failed ? 0 : contest->rounds,
            .best = i == 0,
            .note = contender->note,
        };
        visit(context, &result);
    }
}

/* ---- The contest ----------------------------------------------------------------------------------------- */

/* Of the fields that every version has had: up to `progress_context`, whatever comes after it. */
#define STRUCT_BYTES_FIRST (offsetof(fmha_tune_options, progress_context) + sizeof(void *))

/* The options as this library knows them; given NULL: as zero-filled. */
static fmha_status read_options(const char *function, const fmha_tune_options *given, fmha_tune_options *options) {
    const fmha_tune_options none = {.struct_bytes = sizeof none};
    given = given != NULL ? given : &none;
    const fmha_tune_options *adapted = fmha_problem_adapt(function, "fmha_tune_options", given, given->struct_bytes,
                                                          STRUCT_BYTES_FIRST, options, sizeof *options);
    if (adapted == NULL) {
        return FMHA_ERROR_ARGUMENT;
    }
    if (adapted != options) {
        *options = *adapted;
    }
    if (options->rounds < 0 || options->rounds > ROUNDS_MAX || options->warmup_rounds < -1 ||
        options->warmup_rounds > ROUNDS_MAX) {
        return fmha_fail(
            FMHA_ERROR_ARGUMENT,
            "%s: expected rounds of 0 to %d and warmup_rounds of -1 to %d, got %d and %d; 0 leaves it to the library",
            function, ROUNDS_MAX, ROUNDS_MAX, options->rounds, options->warmup_rounds);
    }
    return FMHA_OK;
}

static bool is_asked_for(const fmha_tune_options *options, const char *library) {
    const char *const *asked = options->libraries;
    while (asked != NULL && *asked != NULL && strcmp(*asked, library) != 0) {
        asked++;
    }
    return asked == NULL || *asked != NULL;
}

/* The candidates, the same instance of several libraries once. */
static fmha_status find_contenders(struct contest *contest, const struct fmha_key *key,
                                   const struct fmha_operands *operands, struct fmha_dispatch_candidate **candidates) {
    size_t count, rounds = (size_t)contest->rounds;
    fmha_status status = fmha_dispatch_candidates(contest->device, key, operands, NULL, 0, &count);
    if (status != FMHA_OK) {
        return status;
    }
    size_t room = count;
    *candidates = calloc(room, sizeof **candidates);
    contest->contenders = calloc(room, sizeof *contest->contenders);
    contest->order = calloc(room, sizeof *contest->order);
    contest->amounts = calloc(room * rounds, sizeof *contest->amounts);
    if (*candidates == NULL || contest->contenders == NULL || contest->order == NULL || contest->amounts == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory to tune %zu instances", contest->device->info.name, room);
    }
    status = fmha_dispatch_candidates(contest->device, key, operands, *candidates, room, &count);
    for (size_t i = 0; status == FMHA_OK && i < count && i < room; i++) {
        const struct fmha_dispatch_candidate *candidate = &(*candidates)[i];
        bool known = !is_asked_for(contest->options, candidate->library);
        for (size_t j = 0; j < contest->count; j++) {
            known = known || strcmp(contest->contenders[j].candidate->instance->name, candidate->instance->name) == 0;
        }
        if (!known) {
            contest->order[contest->count] = contest->count;
            contest->contenders[contest->count].candidate = candidate;
            contest->contenders[contest->count].amounts = contest->amounts + contest->count * rounds;
            contest->count++;
        }
    }
    if (status == FMHA_OK && contest->count == 0) {
        status = fmha_fail(FMHA_ERROR_NO_INSTANCE,
                           "%s: expected an instance for the problem in the libraries that were named, got none among "
                           "%zu of others; name libraries that have one",
                           contest->device->info.name, count);
    }
    return status;
}

fmha_status fmha_tune(fmha_device *device, const char *function, const struct fmha_key *key,
                      const struct fmha_operands *operands, void *stream, const fmha_tune_options *given,
                      fmha_tune_visit visit, void *context) {
    fmha_tune_options options;
    fmha_status status = read_options(function, given, &options);
    if (status != FMHA_OK) {
        return status;
    }
    bool counts = !measures(device);
    struct contest contest = {
        .device = device,
        .stream = stream,
        .options = &options,
        .rounds = options.rounds != 0 ? options.rounds
                  : counts            ? ROUNDS_COUNTING
                                      : ROUNDS_DEFAULT,
        .warmup_rounds = options.warmup_rounds > 0             ? options.warmup_rounds
                         : options.warmup_rounds < 0 || counts ? 0
                                                               : WARMUP_DEFAULT,
        .random = options.seed,
    };
    struct fmha_dispatch_candidate *candidates = NULL;
    if (device->driver->measure == NULL) {
        status = fmha_fail(FMHA_ERROR_UNSUPPORTED, "%s: the driver '%s' cannot measure; tune on another device",
                           device->info.name, device->driver->name);
    }
    if (status == FMHA_OK) {
        status = find_contenders(&contest, key, operands, &candidates);
    }
    if (status == FMHA_OK && contest.contenders[0].candidate->plan.empty) {
        status = fmha_fail(FMHA_ERROR_ARGUMENT,
                           "%s: expected a problem with rows of O, got one without; nothing can be "
                           "measured of it",
                           function);
    }
    if (status == FMHA_OK) {
        run_rounds(&contest);
        rate(&contest);
        status =
            contest.contenders[0].failed
                ? fmha_fail(FMHA_ERROR_DRIVER, "%s: expected one of %zu instances to run, got none; %s: %s", function,
                            contest.count, contest.contenders[0].candidate->instance->name, contest.contenders[0].note)
                : choose(&contest, key, operands);
    }
    if (status == FMHA_OK) {
        tell(&contest, visit, context);
    }
    free(candidates);
    free(contest.contenders);
    free(contest.order);
    free(contest.amounts);
    return status;
}

/* ---- Keeping it ------------------------------------------------------------------------------------------ */

/* Makes the folders above a file that are missing, for this user alone. False with errno. */
static bool make_folders_above(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) {
            return false;
        }
    }
    return true;
}

fmha_status fmha_device_save_choices(fmha_device *device, const char *path) {
    char own[PATH_MAX];
    if (device == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_device_save_choices: expected a device, got NULL; pass a valid pointer");
    }
    if (path != NULL && path[0] == '\0') {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_device_save_choices: expected a file, got an empty name; NULL is the user's own");
    }
    if (path == NULL) {
        if (!fmha_choices_own_path(device->info.arch, own, sizeof own)) {
            return fmha_fail(FMHA_ERROR_IO,
                             "fmha_device_save_choices: there is no place for the user's choices: %s; "
                             "name a file",
                             own);
        }
        if (!make_folders_above(own)) {
            return fmha_fail(FMHA_ERROR_IO, "%s: its folder cannot be made: %s; name a file", own, strerror(errno));
        }
        path = own;
    }
    struct fmha_choices tuned = {0};
    bool enough = true;
    pthread_mutex_lock(&device->dispatch->lock);
    for (size_t i = 0; i < device->dispatch->tuned.count && enough; i++) {
        enough = fmha_choices_add(&tuned, &device->dispatch->tuned.list[i]);
    }
    pthread_mutex_unlock(&device->dispatch->lock);
    fmha_status status = enough ? fmha_choices_save(path, &tuned)
                                : fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for its choices", device->info.name);
    fmha_choices_free(&tuned);
    return status;
}
