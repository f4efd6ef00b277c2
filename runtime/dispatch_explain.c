/* Which instances were looked at for a problem, and why each was or was not taken. */
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "dispatch_state.h"
#include "driver.h"
#include "generator.h"

/* "forward dtype=f16 head_dim=128 …" and the command that makes an instance for it. */
static void describe_key(const struct fmha_key *key, char *text, size_t room) {
    size_t length = 0;
    for (int field = 0; field < FMHA_KEY_FIELDS; field++) {
        char value[FMHA_KEY_VALUE_BYTES];
        fmha_key_value(key, field, value);
        int added =
            snprintf(text + length, room - length, "%s%s=%s", field > 0 ? " " : "", fmha_key_field_names[field], value);
        length += added > 0 && (size_t)added < room - length ? (size_t)added : 0;
    }
}

/* Why an instance does not compute what the problem asks for: "serves head_dim 64, not 128". Returns in how many fields
 * they differ; 0: in none. */
static int describe_difference(const struct fmha_key *instance, const struct fmha_key *problem, char *text,
                               size_t room) {
    int differences = 0;
    for (int field = 0; field < FMHA_KEY_FIELDS; field++) {
        char serves[FMHA_KEY_VALUE_BYTES], asked[FMHA_KEY_VALUE_BYTES];
        const char *name = fmha_key_field_names[field];
        fmha_key_value(instance, field, serves);
        fmha_key_value(problem, field, asked);
        bool align = strcmp(name, "align") == 0;
        if (align ? instance->align <= problem->align : strcmp(serves, asked) == 0) {
            continue;
        }
        if (differences++ > 0) {
            continue;
        }
        if (align) {
            snprintf(text, room, "serves rows aligned to %s bytes, the problem's are aligned to %s", serves, asked);
        } else {
            snprintf(text, room, "serves %s %s, not %s", name, serves, asked);
        }
    }
    if (differences == 0 && !fmha_dispatch_fits_target(instance, problem)) {
        snprintf(text, room, "is for another chip");
        return 1;
    }
    return differences;
}

fmha_status fmha_dispatch_fail(struct fmha_dispatch *dispatch, const struct fmha_key *key, const struct route *route,
                               const struct fmha_operands *operands) {
    char asked[256], options[256], nearest[1024] = "", why[640], refusal[1024] = "";
    size_t count = 0;
    describe_key(key, asked, sizeof asked);
    fmha_generator_options(key, dispatch->device->info.arch, options, sizeof options);
    if (route != NULL) { /* something computes it, but not with these values */
        const struct fmha_descriptor *first = route->candidates[0]->descriptor;
        int failed;
        fmha_descriptor_serves(first, operands, &failed);
        fmha_descriptor_explain(first, operands, failed, why, sizeof why);
        return fmha_fail(FMHA_ERROR_NO_INSTANCE, "%s on %s: none of %zu instances serves these values; %s: %s", asked,
                         dispatch->device->info.arch, route->count, first->name, why);
    }
    pthread_mutex_lock(&dispatch->lock);
    int best = 1000;
    FOR_EACH_INSTANCE(dispatch, item) {
        int differences = describe_difference(&item->descriptor->key, key, why, sizeof why);
        count++;
        if (differences < best) {
            best = differences;
            snprintf(nearest, sizeof nearest, "; the nearest, %s, %s", item->descriptor->name, why);
        }
    }
    size_t libraries = dispatch->catalogue.count;
    const struct refusal *refused = fmha_dispatch_refusal(dispatch, key);
    snprintf(refusal, sizeof refusal, "%s", refused != NULL ? refused->why : "");
    pthread_mutex_unlock(&dispatch->lock);
    return fmha_fail(FMHA_ERROR_NO_INSTANCE,
                     "%s on %s: expected an instance, got none among %zu of %zu libraries%s; make one with `fmhagen "
                     "library DIR %s` and name DIR in FMHA_LIBRARY_PATH%s%s",
                     asked, dispatch->device->info.arch, count, libraries, nearest, options,
                     refusal[0] != '\0' ? "; " : "", refusal);
}

/* ---- Explaining ------------------------------------------------------------------------------------------ */

/* "taken: its code object is read" or the like. */
static void describe_source(const struct fmha_dispatch *dispatch, const struct loaded *item, char *text, size_t room) {
    bool object = dispatch->device->info.image_kind == FMHA_IMAGE_CODE_OBJECT &&
                  fmha_catalogue_has_object(item->library, item->descriptor);
    snprintf(text, room, "taken: %s",
             item->state == LOAD_DONE           ? "loaded already"
             : object                           ? "by its code object"
             : item->descriptor->source != NULL ? "by its text, from the cache or compiled on first use"
                                                : "by its text, which is missing");
}

struct explanation {
    struct fmha_dispatch *dispatch;
    const struct fmha_key *key;
    const struct fmha_operands *operands;
    const struct loaded *taken;
};

/* The instance that a launch would take, as far as can be said without loading. The lock is held. */
static const struct loaded *find_taken(const struct explanation *explanation) {
    struct loaded *best = NULL;
    FOR_EACH_INSTANCE(explanation->dispatch, item) {
        if (item->state != LOAD_FAILED && fmha_dispatch_fits(&item->descriptor->key, explanation->key) &&
            fmha_descriptor_serves(item->descriptor, explanation->operands, NULL) &&
            (best == NULL || fmha_dispatch_compare(&item, &best) < 0)) {
            best = item;
        }
    }
    return best;
}

static void describe_verdict(const struct explanation *explanation, const struct loaded *item, char *text,
                             size_t room) {
    const struct fmha_descriptor *instance = item->descriptor;
    int failed;
    if (describe_difference(&instance->key, explanation->key, text, room) > 0) {
        return;
    }
    if (!fmha_descriptor_serves(instance, explanation->operands, &failed)) {
        fmha_descriptor_explain(instance, explanation->operands, failed, text, room);
    } else if (item->state == LOAD_FAILED) {
        snprintf(text, room, "does not load: %s", item->why);
    } else if (item == explanation->taken) {
        describe_source(explanation->dispatch, item, text, room);
    } else {
        snprintf(text, room, "would serve; %s comes before it", explanation->taken->descriptor->name);
    }
}

fmha_status fmha_dispatch_explain(fmha_device *device, const struct fmha_key *key, const struct fmha_operands *operands,
                                  fmha_explain_visit visit, void *context) {
    struct fmha_dispatch *dispatch = device->dispatch;
    pthread_mutex_lock(&dispatch->lock);
    fmha_status status = fmha_dispatch_open(dispatch);
    struct explanation explanation = {dispatch, key, operands, NULL};
    if (status == FMHA_OK) {
        explanation.taken = find_taken(&explanation);
    }
    for (size_t i = 0; status == FMHA_OK && i < dispatch->catalogue.count; i++) {
        const struct fmha_catalogue_library *library = dispatch->catalogue.libraries[i];
        size_t count = library->index != NULL ? fmha_index_count(library->index) : 0;
        if (count == 0) {
            visit(context, &(fmha_consideration){"", library->name, 0, library->note});
        }
        for (size_t j = 0; j < count; j++) {
            const struct loaded *item = &dispatch->loaded[i][j];
            char verdict[1024];
            describe_verdict(&explanation, item, verdict, sizeof verdict);
            visit(context,
                  &(fmha_consideration){item->descriptor->name, library->name, item == explanation.taken, verdict});
        }
    }
    pthread_mutex_unlock(&dispatch->lock);
    if (status != FMHA_OK || explanation.taken != NULL) {
        return status;
    }
    struct route *route;
    status = fmha_dispatch_route(dispatch, key, &route);
    return status != FMHA_OK ? status : fmha_dispatch_fail(dispatch, key, route, operands);
}
