/* Finding, loading and launching instances. What is met for the first time is found under a lock; what was met before
 * is two loads and a comparison away. */
#include "dispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cache.h"
#include "device.h"
#include "dispatch_state.h"
#include "generator.h"

/* ---- Life ------------------------------------------------------------------------------------------------ */

fmha_status fmha_dispatch_create(fmha_device *device, struct fmha_dispatch **dispatch) {
    struct fmha_dispatch *made = calloc(1, sizeof *made);
    if (made == NULL || !fmha_log_open(&made->log)) {
        free(made);
        return fmha_fail(FMHA_ERROR_MEMORY, "device '%s': no memory for its dispatch", device->info.name);
    }
    made->device = device;
    fmha_key_init(&made->key);
    if (!fmha_key_set_target(&made->key, device->info.arch)) {
        made->key.gfx_major = 0; /* no instance is for such a chip; devices may still be used by hand */
    }
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    *dispatch = made;
    return FMHA_OK;
}

static void drop_route(struct fmha_route *dropped) {
    struct route *route = (struct route *)dropped;
    fmha_dispatch_free_ranking(atomic_load_explicit(&route->ranking, memory_order_relaxed));
    free(route);
}

/* Modules stay loaded: kernels of theirs may run. They go with the device. */
static void forget(struct fmha_dispatch *dispatch) {
    fmha_routes_clear(&dispatch->routes, drop_route);
    for (size_t i = 0; i < dispatch->listed; i++) {
        size_t count = dispatch->loaded[i] != NULL ? fmha_index_count(dispatch->catalogue.libraries[i]->index) : 0;
        for (size_t j = 0; j < count; j++) {
            free(dispatch->loaded[i][j].why);
        }
        free(dispatch->loaded[i]);
    }
    free(dispatch->loaded);
    dispatch->loaded = NULL;
    dispatch->listed = 0;
    while (dispatch->refusals != NULL) {
        struct refusal *refusal = dispatch->refusals;
        dispatch->refusals = refusal->next;
        free(refusal);
    }
    fmha_dispatch_forget_choices(dispatch);
    fmha_catalogue_close(&dispatch->catalogue);
    dispatch->opened = false;
}

void fmha_dispatch_free(struct fmha_dispatch *dispatch) {
    if (dispatch == NULL) {
        return;
    }
    forget(dispatch);
    for (size_t i = 0; i < dispatch->added_count; i++) {
        free(dispatch->added[i]);
    }
    free(dispatch->added);
    fmha_choices_free(&dispatch->own);
    fmha_choices_free(&dispatch->tuned);
    fmha_log_close(&dispatch->log);
    pthread_mutex_destroy(&dispatch->lock);
    pthread_cond_destroy(&dispatch->changed);
    free(dispatch);
}

void fmha_dispatch_key(const fmha_device *device, struct fmha_key *key) {
    *key = device->dispatch->key;
}

fmha_status fmha_device_forget(fmha_device *device) {
    if (device == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "fmha_device_forget: expected a device, got NULL; pass a valid pointer");
    }
    pthread_mutex_lock(&device->dispatch->lock);
    forget(device->dispatch);
    pthread_mutex_unlock(&device->dispatch->lock);
    return FMHA_OK;
}

fmha_status fmha_device_add_library(fmha_device *device, const char *folder) {
    if (device == NULL || folder == NULL) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "fmha_device_add_library: expected a device and a folder, got NULL; pass a valid pointer");
    }
    if (folder[0] == '\0') {
        return fmha_fail(FMHA_ERROR_ARGUMENT, "fmha_device_add_library: expected a folder, got an empty name; \".\" is "
                                              "the working directory");
    }
    struct fmha_dispatch *dispatch = device->dispatch;
    pthread_mutex_lock(&dispatch->lock);
    char **larger = realloc(dispatch->added, (dispatch->added_count + 1) * sizeof *larger);
    char *copy = larger != NULL ? strdup(folder) : NULL;
    if (larger != NULL) {
        dispatch->added = larger;
    }
    if (copy != NULL) {
        dispatch->added[dispatch->added_count++] = copy;
    }
    bool opened = dispatch->opened;
    pthread_mutex_unlock(&dispatch->lock);
    if (copy == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "fmha_device_add_library: no memory for the name of %s", folder);
    }
    if (opened) {
        fmha_log_line(&dispatch->log, "library %s: is asked after fmha_device_forget", folder);
    }
    return FMHA_OK;
}

/* ---- Candidates ------------------------------------------------------------------------------------------ */

/* Whether an instance for `target` runs on the device: one processor, and no feature that it fixes is set the other way
 * on the device. */
bool fmha_dispatch_fits_target(const struct fmha_key *instance, const struct fmha_key *problem) {
    if (instance->gfx_major != problem->gfx_major || instance->gfx_minor != problem->gfx_minor ||
        instance->gfx_stepping != problem->gfx_stepping) {
        return false;
    }
    for (int shift = 0; shift < 4; shift += 2) {
        unsigned wanted = instance->features >> shift & 3u, given = problem->features >> shift & 3u;
        if (wanted != FMHA_KEY_FEATURE_ANY && given != FMHA_KEY_FEATURE_ANY && wanted != given) {
            return false;
        }
    }
    return true;
}

/* Whether an instance computes what the problem asks for: every fact the same, but that what serves rows of any
 * alignment serves aligned ones too, and that a workgroup with room for any number of rows serves any. */
bool fmha_dispatch_fits(const struct fmha_key *instance, const struct fmha_key *problem) {
    struct fmha_key same = *instance;
    if (instance->align > problem->align) {
        return false;
    }
    same.align = problem->align;
    same.features = problem->features;
    same.modifiers = (same.modifiers & ~FMHA_KEY_ROWS_MASK) | (problem->modifiers & FMHA_KEY_ROWS_MASK);
    return fmha_key_equal(&same, problem) && fmha_dispatch_fits_target(instance, problem);
}

/* How far an instance's rows are from those of a problem: first those that hold them, the fewest of them first. */
static unsigned distance_of_rows(const struct fmha_key *instance, const struct fmha_key *problem) {
    unsigned has = instance->modifiers / FMHA_KEY_ROWS & 3, wants = problem->modifiers / FMHA_KEY_ROWS & 3;
    return has >= wants ? has - wants : 4 + wants - has;
}

/* Of two that serve a problem the better one comes first, whatever the order of libraries and indices: the one that
 * promises more alignment, of those the one whose rows are nearest, of those the one of the lower rank, of those the
 * one that is compiled already, and last by name. The same instance in two libraries: the library that is asked first.
 */
int fmha_dispatch_compare(const struct loaded *left, const struct loaded *right, const struct fmha_key *problem) {
    const struct fmha_descriptor *a = left->descriptor, *b = right->descriptor;
    if (a->key.align != b->key.align) {
        return a->key.align > b->key.align ? -1 : 1;
    }
    unsigned rows_of_a = distance_of_rows(&a->key, problem), rows_of_b = distance_of_rows(&b->key, problem);
    if (rows_of_a != rows_of_b) {
        return rows_of_a < rows_of_b ? -1 : 1;
    }
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    if (left->has_object != right->has_object) {
        return left->has_object ? -1 : 1;
    }
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : left->order < right->order ? -1 : left->order > right->order;
}

/* Lists the instances of the first library that is not listed yet. The lock is held. */
static fmha_status list_instances(struct fmha_dispatch *dispatch) {
    const size_t i = dispatch->listed;
    const struct fmha_catalogue_library *library = dispatch->catalogue.libraries[i];
    size_t instances = library->index != NULL ? fmha_index_count(library->index) : 0;
    struct loaded **larger = realloc(dispatch->loaded, (i + 1) * sizeof *larger);
    struct loaded *list = larger != NULL && instances > 0 ? calloc(instances, sizeof *list) : NULL;
    if (larger != NULL) {
        dispatch->loaded = larger;
    }
    if (larger == NULL || (list == NULL && instances > 0)) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for its instances", dispatch->device->info.name);
    }
    dispatch->loaded[i] = list;
    dispatch->listed = i + 1;
    bool runs_objects = dispatch->device->info.image_kind == FMHA_IMAGE_CODE_OBJECT;
    for (size_t j = 0; j < instances; j++) {
        list[j].descriptor = fmha_index_at(library->index, j);
        list[j].library = library;
        list[j].order = i;
        list[j].has_object = runs_objects && fmha_catalogue_has_object(library, list[j].descriptor);
    }
    return fmha_dispatch_read_library_choices(dispatch, library);
}

/* The lock is held. */
static fmha_status list_libraries(struct fmha_dispatch *dispatch) {
    fmha_status status = FMHA_OK;
    while (dispatch->listed < dispatch->catalogue.count && status == FMHA_OK) {
        status = list_instances(dispatch);
    }
    return status;
}

/* Reads the catalogue once. The lock is held. */
fmha_status fmha_dispatch_open(struct fmha_dispatch *dispatch) {
    if (dispatch->opened) {
        return FMHA_OK;
    }
    fmha_status status = fmha_catalogue_open(dispatch->device->info.arch, dispatch->added, dispatch->added_count,
                                             &dispatch->log, &dispatch->catalogue);
    if (status != FMHA_OK) {
        return status;
    }
    dispatch->opened = true;
    status = list_libraries(dispatch);
    if (status == FMHA_OK) {
        status = fmha_dispatch_read_choices(dispatch);
    }
    if (status != FMHA_OK) {
        forget(dispatch);
    }
    return status;
}

/* Puts a candidate into a route that has room for it, in the order of preference. */
static void insert(struct route *route, struct loaded *item) {
    size_t first = 0, end = route->count; /* its place is between them */
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (fmha_dispatch_compare(route->candidates[middle], item, &route->route.key) < 0) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    memmove(&route->candidates[first + 1], &route->candidates[first],
            (route->count - first) * sizeof route->candidates[0]);
    route->candidates[first] = item;
    route->count++;
}

/* Makes the route of a key; *made is NULL when no instance computes it. The lock is held. */
static fmha_status make_route(struct fmha_dispatch *dispatch, const struct fmha_key *key, struct route **made) {
    size_t count = 0;
    *made = NULL;
    fmha_status status = fmha_dispatch_open(dispatch);
    if (status != FMHA_OK) {
        return status;
    }
    FOR_EACH_INSTANCE(dispatch, item) {
        count += fmha_dispatch_fits(&item->descriptor->key, key);
    }
    if (count == 0) {
        return FMHA_OK;
    }
    size_t bytes = sizeof(struct route) + count * sizeof(struct loaded *);
    struct route *route = aligned_alloc(ROUTE_ALIGN, (bytes + ROUTE_ALIGN - 1) / ROUTE_ALIGN * ROUTE_ALIGN);
    if (route == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for a route", dispatch->device->info.name);
    }
    *route = (struct route){.route = {.key = *key}};
    FOR_EACH_INSTANCE(dispatch, item) {
        if (fmha_dispatch_fits(&item->descriptor->key, key)) {
            insert(route, item);
        }
    }
    status = fmha_dispatch_rank(dispatch, route);
    if (status == FMHA_OK && !fmha_routes_add(&dispatch->routes, &route->route)) {
        status = fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for a route", dispatch->device->info.name);
    }
    if (status != FMHA_OK) {
        drop_route(&route->route);
        return status;
    }
    *made = route;
    return FMHA_OK;
}

const struct refusal *fmha_dispatch_refusal(const struct fmha_dispatch *dispatch, const struct fmha_key *key) {
    const struct refusal *refusal = dispatch->refusals;
    while (refusal != NULL && !fmha_key_equal(&refusal->key, key)) {
        refusal = refusal->next;
    }
    return refusal;
}

static bool is_being_generated(const struct fmha_dispatch *dispatch, const struct fmha_key *key) {
    const struct generation *generation = dispatch->generations;
    while (generation != NULL && !fmha_key_equal(generation->key, key)) {
        generation = generation->next;
    }
    return generation != NULL;
}

/* Lets go of the lock while the generator runs: only who asks for the same key waits for it. */
static fmha_status ask_generator(struct fmha_dispatch *dispatch, const struct fmha_key *key, char **made) {
    struct generation generation = {dispatch->generations, key}, **link = &dispatch->generations;
    dispatch->generations = &generation;
    pthread_mutex_unlock(&dispatch->lock);
    fmha_status status = fmha_generator_folder(key, dispatch->device->info.arch, &dispatch->log, made);
    pthread_mutex_lock(&dispatch->lock);
    while (*link != &generation) {
        link = &(*link)->next;
    }
    *link = generation.next;
    pthread_cond_broadcast(&dispatch->changed);
    return status;
}

/* Asks the generator for what no library has. Without success it is not asked again for this key, and that is no error:
 * the caller finds that there is no instance. The lock is held, but for a while. */
static fmha_status generate(struct fmha_dispatch *dispatch, const struct fmha_key *key, struct route **route) {
    char *folder;
    if (fmha_dispatch_refusal(dispatch, key) != NULL) {
        return FMHA_OK;
    }
    fmha_status status = ask_generator(dispatch, key, &folder);
    if (status == FMHA_OK) {
        status = fmha_catalogue_add(&dispatch->catalogue, dispatch->device->info.arch, folder, &dispatch->log);
        free(folder);
        status = status == FMHA_OK ? list_libraries(dispatch) : status;
        return status == FMHA_OK ? make_route(dispatch, key, route) : status;
    }
    fmha_log_line(&dispatch->log, "generator: %s", fmha_last_error());
    if (status != FMHA_ERROR_NO_INSTANCE) {
        return status;
    }
    struct refusal *refusal = malloc(sizeof *refusal);
    if (refusal == NULL) {
        return fmha_fail(FMHA_ERROR_MEMORY, "%s: no memory for what its generator said", dispatch->device->info.name);
    }
    refusal->next = dispatch->refusals;
    refusal->key = *key;
    snprintf(refusal->why, sizeof refusal->why, "%s", fmha_last_error());
    dispatch->refusals = refusal;
    return FMHA_OK;
}

fmha_status fmha_dispatch_route(struct fmha_dispatch *dispatch, const struct fmha_key *key, struct route **route) {
    *route = (struct route *)fmha_routes_find(&dispatch->routes, key);
    if (*route != NULL) {
        return FMHA_OK;
    }
    pthread_mutex_lock(&dispatch->lock);
    fmha_status status = FMHA_OK;
    while (is_being_generated(dispatch, key)) {
        pthread_cond_wait(&dispatch->changed, &dispatch->lock);
    }
    *route = (struct route *)fmha_routes_find(&dispatch->routes, key); /* another thread may have been quicker */
    if (*route == NULL) {
        status = make_route(dispatch, key, route);
        if (status == FMHA_OK && *route == NULL) {
            status = generate(dispatch, key, route);
        }
    }
    pthread_mutex_unlock(&dispatch->lock);
    return status;
}

/* ---- Loading --------------------------------------------------------------------------------------------- */

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static fmha_status load_image(struct fmha_dispatch *dispatch, const struct fmha_descriptor *instance, const void *image,
                              size_t image_bytes, fmha_kernel **kernel) {
    fmha_module *module;
    bool object = dispatch->device->info.image_kind == FMHA_IMAGE_CODE_OBJECT;
    fmha_status status = fmha_module_load(dispatch->device, image, image_bytes, &module);
    if (status != FMHA_OK) {
        return status;
    }
    status = fmha_module_kernel(module, instance->name, kernel);
    if (status != FMHA_OK) {
        fmha_module_unload(module);
        return status;
    }
    fmha_log_dump(&dispatch->log, instance->name, object ? ".hsaco" : ".so", image, image_bytes);
    return FMHA_OK;
}

/* From the library's code object. *found false: it has none, or the device runs no code objects, or (noted in the log)
 * it is damaged or for another chip, and the text may still serve. */
static fmha_status load_object(struct fmha_dispatch *dispatch, const struct loaded *item, fmha_kernel **kernel,
                               bool *found) {
    void *image = NULL;
    size_t image_bytes = 0;
    *found = false;
    if (dispatch->device->info.image_kind != FMHA_IMAGE_CODE_OBJECT) {
        return FMHA_OK;
    }
    fmha_status status = fmha_catalogue_object(item->library, item->descriptor, &image, &image_bytes, found);
    if (status == FMHA_OK && *found) {
        status = load_image(dispatch, item->descriptor, image, image_bytes, kernel);
    }
    free(image);
    if (status == FMHA_OK && *found) {
        fmha_log_line(&dispatch->log, "%s: code object of %s", item->descriptor->name, item->library->name);
    } else if (status != FMHA_OK) {
        fmha_log_line(&dispatch->log, "%s: its code object in %s does not serve: %s", item->descriptor->name,
                      item->library->name, fmha_last_error());
    }
    return status;
}

struct compilation {
    fmha_device *device;
    fmha_source source;
};

static fmha_status compile(void *context, void **image, size_t *image_bytes) {
    const struct compilation *compilation = context;
    return fmha_source_compile(compilation->device, &compilation->source, image, image_bytes);
}

/* From its text, by way of the cache. */
static fmha_status load_source(struct fmha_dispatch *dispatch, const struct loaded *item, const char *text,
                               size_t text_bytes, fmha_kernel **kernel) {
    fmha_device *device = dispatch->device;
    const struct fmha_descriptor *instance = item->descriptor;
    struct compilation compilation = {device, {.text = text, .symbol = instance->name, .wave = instance->wave}};
    struct fmha_cache_result result = {0};
    char *identity = NULL;
    fmha_log_dump(&dispatch->log, instance->name, ".hip", text, text_bytes);
    fmha_status status = FMHA_OK;
    if (device->driver->compile_identity != NULL) {
        fmha_device_enter(device);
        status = device->driver->compile_identity(device->state, instance->wave, &identity);
        fmha_device_leave(device);
    }
    struct fmha_cache_key key = {device->info.arch, instance->name, identity, text, instance->wave};
    if (status == FMHA_OK && identity != NULL) {
        status = fmha_cache_get(&key, compile, &compilation, &result);
    } else if (status == FMHA_OK) {
        status = compile(&compilation, &result.image, &result.image_bytes);
        snprintf(result.note, sizeof result.note, "compiled; the driver '%s' keeps nothing", device->driver->name);
    }
    if (status == FMHA_OK) {
        status = load_image(dispatch, instance, result.image, result.image_bytes, kernel);
    }
    if (status != FMHA_OK && result.hit) { /* whole, and yet the driver does not take it */
        fmha_log_line(&dispatch->log, "%s: %s, does not load: %s", instance->name, result.note, fmha_last_error());
        void *refused = result.image;
        status = fmha_cache_replace(&key, refused, result.image_bytes, compile, &compilation, &result);
        free(refused);
        if (status == FMHA_OK) {
            status = load_image(dispatch, instance, result.image, result.image_bytes, kernel);
        }
    }
    if (status == FMHA_OK) {
        fmha_log_line(&dispatch->log, "%s: text of %s, %s", instance->name, item->library->name, result.note);
    }
    free(result.image);
    free(identity);
    return status;
}

static fmha_status load(struct fmha_dispatch *dispatch, const struct loaded *item, fmha_kernel **kernel) {
    bool has_object, has_source;
    void *text = NULL;
    size_t text_bytes;
    double begin = now_ms();
    fmha_status status = load_object(dispatch, item, kernel, &has_object);
    if (status != FMHA_OK || !has_object) {
        fmha_status object_status = status;
        status = fmha_catalogue_source(item->library, item->descriptor, &text, &text_bytes, &has_source);
        if (status == FMHA_OK && has_source) {
            status = load_source(dispatch, item, text, text_bytes, kernel);
        } else if (status == FMHA_OK && object_status != FMHA_OK) {
            status = fmha_fail(object_status, "%s; and it has no text that could be compiled", fmha_last_error());
        } else if (status == FMHA_OK) {
            status = fmha_fail(FMHA_ERROR_NO_INSTANCE,
                               "%s has neither a code object that the device runs nor a text: make it anew with "
                               "`fmhagen library`",
                               item->library->name);
        }
        free(text);
    }
    if (status == FMHA_OK) {
        fmha_log_line(&dispatch->log, "%s: ready after %.1f ms", item->descriptor->name, now_ms() - begin);
    } else {
        fmha_log_line(&dispatch->log, "%s: %s", item->descriptor->name, fmha_last_error());
    }
    return status;
}

/* Whether the same would happen again: then it is not tried again. */
static bool is_lasting(fmha_status status) {
    return status == FMHA_ERROR_COMPILE || status == FMHA_ERROR_NO_COMPILER || status == FMHA_ERROR_WRONG_CHIP ||
           status == FMHA_ERROR_NO_INSTANCE;
}

/* Loads an instance once, whoever asks; others wait for the one that does. */
static fmha_status ready(struct fmha_dispatch *dispatch, struct loaded *item, fmha_kernel **kernel) {
    *kernel = atomic_load_explicit(&item->kernel, memory_order_acquire);
    if (*kernel != NULL) {
        return FMHA_OK;
    }
    pthread_mutex_lock(&dispatch->lock);
    while (item->state == LOAD_RUNNING) {
        pthread_cond_wait(&dispatch->changed, &dispatch->lock);
    }
    if (item->state == LOAD_DONE || item->state == LOAD_FAILED) {
        *kernel = atomic_load_explicit(&item->kernel, memory_order_relaxed);
        fmha_status status = item->state == LOAD_DONE ? FMHA_OK : fmha_fail(item->failure, "%s", item->why);
        pthread_mutex_unlock(&dispatch->lock);
        return status;
    }
    item->state = LOAD_RUNNING;
    pthread_mutex_unlock(&dispatch->lock);
    fmha_status status = load(dispatch, item, kernel);
    pthread_mutex_lock(&dispatch->lock);
    item->state = status == FMHA_OK ? LOAD_DONE : LOAD_NONE;
    if (status == FMHA_OK) {
        atomic_store_explicit(&item->kernel, *kernel, memory_order_release);
    } else if (is_lasting(status)) {
        item->why = strdup(fmha_last_error());
        item->failure = status;
        item->state = item->why != NULL ? LOAD_FAILED : LOAD_NONE;
        atomic_store_explicit(&item->failed, item->why != NULL, memory_order_release);
    }
    pthread_cond_broadcast(&dispatch->changed);
    pthread_mutex_unlock(&dispatch->lock);
    return status;
}

/* ---- Planning -------------------------------------------------------------------------------------------- */

static fmha_status fill_plan(const struct fmha_descriptor *instance, const struct fmha_operands *operands,
                             fmha_kernel *kernel, struct fmha_plan *plan) {
    int failed;
    plan->kernel = kernel;
    plan->workgroup = instance->workgroup;
    plan->argument_bytes = instance->interface->argument_bytes;
    if (!fmha_descriptor_grid(instance, operands, plan->grid, &plan->empty, &failed)) {
        return fmha_fail(FMHA_ERROR_ARGUMENT,
                         "%s: expected a grid of less than 2^32 workgroups in each dimension, got more in dimension "
                         "%d; split the problem",
                         instance->name, failed);
    }
    fmha_descriptor_pack(instance, operands, plan->arguments);
    return FMHA_OK;
}

/* What was wrong with the best candidate that serves a problem and does not load. */
struct trouble {
    const struct loaded *item; /* NULL: nothing */
    fmha_status status;
    char *why; /* NULL: the item's own, which lasts */
};

/* The kernel of a candidate, or NULL, of which the first trouble is kept. */
static fmha_kernel *kernel_of(struct fmha_dispatch *dispatch, struct loaded *item, struct trouble *trouble) {
    fmha_kernel *kernel = NULL;
    bool lasts = atomic_load_explicit(&item->failed, memory_order_acquire);
    fmha_status status = lasts ? item->failure : ready(dispatch, item, &kernel);
    if (status != FMHA_OK && trouble->item == NULL) {
        *trouble = (struct trouble){item, status, lasts ? NULL : strdup(fmha_last_error())};
    }
    return status == FMHA_OK ? kernel : NULL;
}

/* When no candidate was taken. */
static fmha_status fail_with(struct fmha_dispatch *dispatch, const struct fmha_key *key,
                             const struct fmha_operands *operands, const struct trouble *trouble) {
    if (trouble->item == NULL) {
        return fmha_dispatch_fail(dispatch, key, operands);
    }
    const char *why = trouble->why != NULL                  ? trouble->why
                      : atomic_load(&trouble->item->failed) ? trouble->item->why
                                                            : "it does not load";
    return fmha_fail(trouble->status, "%s: %s", trouble->item->descriptor->name, why);
}

fmha_status fmha_dispatch_plan(fmha_device *device, const struct fmha_key *key, const struct fmha_operands *operands,
                               struct fmha_plan *plan) {
    struct fmha_dispatch *dispatch = device->dispatch;
    struct trouble trouble = {0};
    struct loaded *taken = NULL;
    struct route *route;
    fmha_status status = fmha_dispatch_route(dispatch, key, &route);
    if (status != FMHA_OK) {
        return status;
    }
    const struct ranking *ranking = route != NULL ? atomic_load_explicit(&route->ranking, memory_order_acquire) : NULL;
    struct loaded *first = ranking != NULL ? fmha_ranking_nearest(ranking, operands->value)->item : NULL;
    /* A lack of memory is told at once: another instance in the best one's place would only hide it. */
    for (size_t i = first == NULL;
         route != NULL && i <= route->count && taken == NULL && trouble.status != FMHA_ERROR_MEMORY; i++) {
        struct loaded *item = i == 0 ? first : route->candidates[i - 1];
        if (fmha_descriptor_serves(item->descriptor, operands, NULL)) {
            plan->kernel = atomic_load_explicit(&item->kernel, memory_order_acquire);
            if (plan->kernel == NULL) {
                plan->kernel = kernel_of(dispatch, item, &trouble);
            }
            taken = plan->kernel != NULL ? item : NULL;
        }
    }
    status = taken != NULL ? fill_plan(taken->descriptor, operands, plan->kernel, plan)
                           : fail_with(dispatch, key, operands, &trouble);
    if (trouble.why != NULL) {
        free(trouble.why);
    }
    return status;
}

static void dump_launch(const struct fmha_dispatch *dispatch, const struct fmha_plan *plan, const char *name) {
    char text[4096];
    int length = snprintf(text, sizeof text, "symbol %s\ngrid %u %u %u\nworkgroup %u 1 1\nargument_bytes %u\narguments",
                          name, plan->grid[0], plan->grid[1], plan->grid[2], plan->workgroup, plan->argument_bytes);
    for (uint32_t i = 0; i < plan->argument_bytes && length > 0 && (size_t)length < sizeof text - 4; i++) {
        length += snprintf(text + length, sizeof text - (size_t)length, " %02x", plan->arguments[i]);
    }
    text[length++] = '\n';
    fmha_log_dump(&dispatch->log, name, ".launch", text, (size_t)length);
}

fmha_status fmha_dispatch_start(fmha_device *device, const struct fmha_plan *plan, void *stream) {
    if (plan->empty) {
        return FMHA_OK;
    }
    if (device->dispatch->log.dump != NULL) {
        dump_launch(device->dispatch, plan, fmha_kernel_symbol(plan->kernel));
    }
    const fmha_launch_config config = {
        .grid = {plan->grid[0], plan->grid[1], plan->grid[2]},
        .workgroup = {plan->workgroup, 1, 1},
        .arguments = plan->arguments,
        .argument_bytes = plan->argument_bytes,
        .stream = stream,
    };
    return fmha_kernel_launch(plan->kernel, &config);
}

fmha_status fmha_dispatch_launch(fmha_device *device, const struct fmha_key *key, const struct fmha_operands *operands,
                                 void *stream) {
    struct fmha_plan plan;
    fmha_status status = fmha_dispatch_plan(device, key, operands, &plan);
    return status != FMHA_OK ? status : fmha_dispatch_start(device, &plan, stream);
}

/* ---- Candidates for the tuner ---------------------------------------------------------------------------- */

fmha_status fmha_dispatch_candidates(fmha_device *device, const struct fmha_key *key,
                                     const struct fmha_operands *operands, struct fmha_dispatch_candidate *candidates,
                                     size_t room, size_t *count) {
    struct fmha_dispatch *dispatch = device->dispatch;
    struct trouble trouble = {0};
    struct route *route;
    *count = 0;
    fmha_status status = fmha_dispatch_route(dispatch, key, &route);
    for (size_t i = 0; status == FMHA_OK && route != NULL && i < route->count; i++) {
        struct loaded *item = route->candidates[i];
        bool serves = fmha_descriptor_serves(item->descriptor, operands, NULL);
        fmha_kernel *kernel = serves ? kernel_of(dispatch, item, &trouble) : NULL;
        if (kernel != NULL && *count < room) {
            struct fmha_dispatch_candidate *candidate = &candidates[*count];
            candidate->instance = item->descriptor;
            candidate->library = item->library->name;
            status = fill_plan(item->descriptor, operands, kernel, &candidate->plan);
        }
        *count += kernel != NULL;
    }
    if (status == FMHA_OK && (*count == 0 || trouble.status == FMHA_ERROR_MEMORY)) {
        status = fail_with(dispatch, key, operands, &trouble);
    }
    free(trouble.why);
    return status;
}
