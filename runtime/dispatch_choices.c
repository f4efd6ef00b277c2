/* What choices say of a device's problems: where they come from, which of them hold, and which one is nearest. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "dispatch_state.h"
#include "driver.h"

/* A choice for a key, and the instance that it names, NULL where it does not hold. */
struct match {
    const struct fmha_choice *choice;
    struct loaded *item;
};

/* ---- Where they come from -------------------------------------------------------------------------------- */

/* Takes those that are for the device's chip; their keys then have its target. False when there is no memory. */
static bool take_over(struct fmha_dispatch *dispatch, const struct fmha_choices *from, struct fmha_choices *to,
                      size_t *taken) {
    *taken = 0;
    for (size_t i = 0; i < from->count; i++) {
        struct fmha_choice choice = from->list[i];
        if (!fmha_dispatch_fits_target(&choice.key, &dispatch->key)) {
            continue;
        }
        choice.key.gfx_major = dispatch->key.gfx_major;
        choice.key.gfx_minor = dispatch->key.gfx_minor;
        choice.key.gfx_stepping = dispatch->key.gfx_stepping;
        choice.key.features = dispatch->key.features;
        if (!fmha_choices_add(to, &choice)) {
            return false;
        }
        ++*taken;
    }
    return true;
}

static fmha_status fail_memory(const struct fmha_dispatch *dispatch) {
    return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for its choices", dispatch->device->info.name);
}

/* A file that cannot be used is told of and passed over. */
static fmha_status note_damage(struct fmha_dispatch *dispatch, const char *path) {
    struct damaged_choices *damage = malloc(sizeof *damage);
    if (damage == NULL) {
        return fail_memory(dispatch);
    }
    fmha_log_line(&dispatch->log, "choices %s: %s", path, fmha_last_error());
    snprintf(damage->path, sizeof damage->path, "%s", path);
    snprintf(damage->why, sizeof damage->why, "%s", fmha_last_error());
    damage->next = dispatch->damaged_choices;
    dispatch->damaged_choices = damage;
    return FMHA_OK;
}

/* What was read from a file; `status` is what reading gave. */
static fmha_status add_found(struct fmha_dispatch *dispatch, const char *path, fmha_status status,
                             struct fmha_choices *read) {
    size_t taken = 0;
    if (status == FMHA_OK) {
        status = take_over(dispatch, read, &dispatch->found, &taken) ? FMHA_OK : fail_memory(dispatch);
        fmha_log_line(&dispatch->log, "choices %s: %zu for %s of %zu", path, taken, dispatch->device->info.arch,
                      read->count);
    } else if (status != FMHA_ERROR_MEMORY) {
        status = note_damage(dispatch, path);
    }
    fmha_choices_free(read);
    return status;
}

/* `must`: that there is no such file is told of. */
static fmha_status read_file(struct fmha_dispatch *dispatch, const char *path, bool must) {
    struct fmha_choices read = {0};
    bool found;
    fmha_status status = fmha_choices_read(path, &read, &found);
    if (status == FMHA_OK && !found) {
        if (!must) {
            return FMHA_OK;
        }
        status = fmha_fail(FMHA_ERROR_IO,
                           "%s: expected a file of choices, got none; make it with `fmhagen tune` or take it out of "
                           "FMHA_CHOICES",
                           path);
    }
    return add_found(dispatch, path, status, &read);
}

/* The files of a list that colons separate. */
static fmha_status read_list(struct fmha_dispatch *dispatch, const char *list) {
    fmha_status status = FMHA_OK;
    while (list != NULL && *list != '\0' && status == FMHA_OK) {
        char path[PATH_MAX];
        size_t length = strcspn(list, ":");
        if (length >= sizeof path) {
            fmha_fail(FMHA_ERROR_IO, "FMHA_CHOICES: expected paths of at most %zu bytes, got %zu; shorten it",
                      sizeof path - 1, length);
            status = note_damage(dispatch, "$FMHA_CHOICES");
        } else if (length > 0) {
            snprintf(path, sizeof path, "%.*s", (int)length, list);
            status = read_file(dispatch, path, true);
        }
        list += length + (list[length] == ':');
    }
    return status;
}

fmha_status fmha_dispatch_read_choices(struct fmha_dispatch *dispatch) {
    char path[PATH_MAX];
    fmha_status status = read_list(dispatch, getenv("FMHA_CHOICES"));
    if (status == FMHA_OK && fmha_choices_own_path(dispatch->device->info.arch, path, sizeof path)) {
        status = read_file(dispatch, path, false);
    }
    return status;
}

fmha_status fmha_dispatch_read_library_choices(struct fmha_dispatch *dispatch,
                                               const struct fmha_catalogue_library *library) {
    struct fmha_choices read = {0};
    char path[PATH_MAX];
    void *text;
    size_t bytes;
    bool found = false;
    snprintf(path, sizeof path, "%s/%s", library->folder != NULL ? library->folder : library->name, FMHA_CHOICES_FILE);
    fmha_status status = fmha_catalogue_file(library, FMHA_CHOICES_FILE, &text, &bytes, &found);
    if (status == FMHA_OK && !found) {
        return FMHA_OK;
    }
    if (status == FMHA_OK) {
        status = fmha_choices_parse(path, text, bytes, &read);
        free(text);
    }
    return add_found(dispatch, path, status, &read);
}

void fmha_dispatch_forget_choices(struct fmha_dispatch *dispatch) {
    fmha_choices_free(&dispatch->found);
    while (dispatch->damaged_choices != NULL) {
        struct damaged_choices *damage = dispatch->damaged_choices;
        dispatch->damaged_choices = damage->next;
        free(damage);
    }
}

/* ---- Which hold ------------------------------------------------------------------------------------------ */

/* The best instance of that name that computes what the key asks for, or NULL with the reason. The lock is held. */
static struct loaded *find_item(struct fmha_dispatch *dispatch, const struct fmha_choice *choice,
                                const struct fmha_key *key, char *why, size_t room) {
    const char *driver = dispatch->device->info.driver;
    struct loaded *best = NULL;
    if (choice->unit != FMHA_CHOICE_BOUND && strcmp(choice->driver, driver) != 0) {
        snprintf(why, room, "it was %s by the driver '%s', this device's is '%s'",
                 choice->unit == FMHA_CHOICE_US ? "measured" : "counted", choice->driver, driver);
        return NULL;
    }
    snprintf(why, room, "no library has the instance");
    FOR_EACH_INSTANCE(dispatch, item) {
        if (strcmp(item->descriptor->name, choice->name) != 0) {
            continue;
        }
        if (fmha_dispatch_difference(&item->descriptor->key, key, why, room) == 0 &&
            (best == NULL || fmha_dispatch_compare(item, best, key) < 0)) {
            best = item;
        }
    }
    return best;
}

static int compare_matches(const void *left, const void *right) {
    return fmha_choice_compare(((const struct match *)left)->choice, ((const struct match *)right)->choice);
}

/* By name, so that of two that are equally near the first by name is met first. */
static int compare_chosen(const void *left_pointer, const void *right_pointer) {
    const struct chosen *left = left_pointer, *right = right_pointer;
    int order = strcmp(left->item->descriptor->name, right->item->descriptor->name);
    return order != 0 ? order : fmha_choice_compare_problem(left->choice, right->choice);
}

static size_t count_for(const struct fmha_choices *choices, const struct fmha_key *key) {
    size_t count = 0;
    for (size_t i = 0; i < choices->count; i++) {
        count += fmha_key_equal(&choices->list[i].key, key);
    }
    return count;
}

fmha_status fmha_dispatch_make_ranking(struct fmha_dispatch *dispatch, const struct fmha_key *key,
                                       fmha_choice_refused refused, void *context, struct ranking **made) {
    const struct fmha_choices *const sets[] = {&dispatch->own, &dispatch->found};
    size_t most = count_for(sets[0], key) + count_for(sets[1], key), count = 0;
    *made = NULL;
    if (most == 0) {
        return FMHA_OK;
    }
    struct match *matches = malloc(most * sizeof *matches);
    struct ranking *ranking = malloc(sizeof *ranking + most * sizeof ranking->list[0]);
    if (matches == NULL || ranking == NULL) {
        free(matches);
        free(ranking);
        return fail_memory(dispatch);
    }
    for (int set = 0; set < 2; set++) {
        for (size_t i = 0; i < sets[set]->count; i++) {
            const struct fmha_choice *choice = &sets[set]->list[i];
            char why[512];
            if (!fmha_key_equal(&choice->key, key)) {
                continue;
            }
            matches[count].choice = choice;
            matches[count].item = find_item(dispatch, choice, key, why, sizeof why);
            if (matches[count].item != NULL) {
                count++;
            } else {
                refused(context, choice, why);
            }
        }
    }
    qsort(matches, count, sizeof matches[0], compare_matches);
    *ranking = (struct ranking){0};
    for (size_t i = 0; i < count; i++) { /* of each problem the best one that holds */
        if (i == 0 || fmha_choice_compare_problem(matches[i - 1].choice, matches[i].choice) != 0) {
            ranking->list[ranking->count++] = (struct chosen){.place = fmha_choice_place(matches[i].choice->length),
                                                              .item = matches[i].item,
                                                              .choice = matches[i].choice};
        }
    }
    free(matches);
    if (ranking->count == 0) {
        free(ranking);
        return FMHA_OK;
    }
    qsort(ranking->list, ranking->count, sizeof ranking->list[0], compare_chosen);
    *made = ranking;
    return FMHA_OK;
}

static void log_refused(void *context, const struct fmha_choice *choice, const char *why) {
    const struct fmha_dispatch *dispatch = context;
    char text[PATH_MAX + 256];
    fmha_choice_describe(choice, text, sizeof text);
    fmha_log_line(&dispatch->log, "choice of %s, %s: does not hold: %s", choice->name, text, why);
}

fmha_status fmha_dispatch_rank(struct fmha_dispatch *dispatch, struct route *route) {
    struct ranking *made, *older = atomic_load_explicit(&route->ranking, memory_order_relaxed);
    fmha_status status = fmha_dispatch_make_ranking(dispatch, &route->route.key, log_refused, dispatch, &made);
    if (status == FMHA_OK && made != NULL) {
        made->older = older; /* readers may still be in it */
        atomic_store_explicit(&route->ranking, made, memory_order_release);
    }
    return status;
}

void fmha_dispatch_free_ranking(struct ranking *ranking) {
    while (ranking != NULL) {
        struct ranking *older = ranking->older;
        free(ranking);
        ranking = older;
    }
}

/* ---- New ones -------------------------------------------------------------------------------------------- */

struct rank_again {
    struct fmha_dispatch *dispatch;
    fmha_status status;
};

static void rank_again(void *context, struct fmha_route *route) {
    struct rank_again *again = context;
    if (again->status == FMHA_OK) {
        again->status = fmha_dispatch_rank(again->dispatch, (struct route *)route);
    }
}

/* The lock is held. */
static fmha_status add_own(struct fmha_dispatch *dispatch, const struct fmha_choices *choices, size_t *taken) {
    struct rank_again again = {dispatch, FMHA_OK};
    if (!take_over(dispatch, choices, &dispatch->own, taken)) {
        return fail_memory(dispatch);
    }
    fmha_routes_visit(&dispatch->routes, rank_again, &again);
    return again.status;
}

/* A time that is later than that of every choice for the same problem, so that the new one is the newer. */
static void make_newer(const struct fmha_choices *than, struct fmha_choice *choice) {
    for (size_t i = 0; i < than->count; i++) {
        const struct fmha_choice *old = &than->list[i];
        if (fmha_choice_compare_problem(old, choice) == 0 && old->time >= choice->time && old->time < INT64_MAX) {
            choice->time = old->time + 1;
        }
    }
}

fmha_status fmha_dispatch_choose(fmha_device *device, const struct fmha_choice *choice) {
    struct fmha_dispatch *dispatch = device->dispatch;
    struct fmha_choice newer = *choice;
    struct fmha_choices one = {.list = &newer, .count = 1};
    size_t taken;
    pthread_mutex_lock(&dispatch->lock);
    make_newer(&dispatch->own, &newer);
    make_newer(&dispatch->found, &newer);
    fmha_status status =
        fmha_choices_add(&dispatch->tuned, &newer) ? add_own(dispatch, &one, &taken) : fail_memory(dispatch);
    pthread_mutex_unlock(&dispatch->lock);
    return status;
}

fmha_status fmha_device_load_choices(fmha_device *device, const char *path) {
    struct fmha_choices read = {0};
    size_t taken = 0;
    bool found;
    if (device == NULL || path == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_device_load_choices: expected a device and a path, got NULL; pass a valid pointer");
    }
    if (path[0] == '\0') {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_device_load_choices: expected a file, got an empty name; name that of `fmhagen tune`");
    }
    fmha_status status = fmha_choices_read(path, &read, &found);
    if (status == FMHA_OK && !found) {
        status =
            fmha_fail(FMHA_ERROR_IO, "%s: expected a file of choices, got none; make it with `fmhagen tune`", path);
    }
    if (status == FMHA_OK) {
        struct fmha_dispatch *dispatch = device->dispatch;
        pthread_mutex_lock(&dispatch->lock);
        status = add_own(dispatch, &read, &taken);
        pthread_mutex_unlock(&dispatch->lock);
        fmha_log_line(&dispatch->log, "choices %s: %zu for %s of %zu", path, taken, device->info.arch, read.count);
    }
    fmha_choices_free(&read);
    return status;
}
