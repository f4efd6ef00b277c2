/* Which instances were looked at for a problem, and why each was or was not taken. */
#include <limits.h>
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
        if (strcmp(value, "0") == 0 || !fmha_key_has(key, field)) { /* the operation does not have it, or it is off */
            continue;
        }
        int added =
            snprintf(text + length, room - length, "%s%s=%s", field > 0 ? " " : "", fmha_key_field_names[field], value);
        length += added > 0 && (size_t)added < room - length ? (size_t)added : 0;
    }
}

int fmha_dispatch_difference(const struct fmha_key *instance, const struct fmha_key *problem, char *text, size_t room) {
    int differences = 0;
    if (!fmha_dispatch_fits_target(instance, problem)) {
        snprintf(text, room, "is for another chip");
        differences++;
    }
    for (int field = 0; field < FMHA_KEY_FIELDS; field++) {
        char serves[FMHA_KEY_VALUE_BYTES], asked[FMHA_KEY_VALUE_BYTES];
        const char *name = fmha_key_field_names[field];
        fmha_key_value(instance, field, serves);
        fmha_key_value(problem, field, asked);
        bool align = strcmp(name, "align") == 0;
        if (strcmp(name, "rows") == 0) { /* of which any serve */
            continue;
        }
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
    return differences;
}

/* Nothing is of the key's kind: the nearest, what was passed over, and the cure. The lock is held. */
static fmha_status fail_without_instance(struct fmha_dispatch *dispatch, const struct fmha_key *key) {
    char asked[512], cure[FMHA_GENERATOR_CURE_BYTES], why[640], nearest[1024] = "", damaged[1024] = "";
    const char *arch = dispatch->device->info.arch;
    size_t count = 0;
    int best = FMHA_KEY_FIELDS + 1;
    describe_key(key, asked, sizeof asked);
    fmha_generator_cure(key, arch, cure);
    FOR_EACH_INSTANCE(dispatch, item) {
        int differences = fmha_dispatch_difference(&item->descriptor->key, key, why, sizeof why);
        count++;
        if (differences < best) {
            best = differences;
            snprintf(nearest, sizeof nearest, "; the nearest, %s, %s", item->descriptor->name, why);
        }
    }
    size_t libraries = dispatch->catalogue.count;
    for (size_t i = 0; i < libraries && damaged[0] == '\0'; i++) {
        if (dispatch->catalogue.libraries[i]->damaged) {
            snprintf(damaged, sizeof damaged, "; passed over: %s", dispatch->catalogue.libraries[i]->note);
        }
    }
    const struct refusal *refused = fmha_key_can_be_served(key) ? fmha_dispatch_refusal(dispatch, key) : NULL;
    return fmha_fail(FMHA_ERROR_NO_INSTANCE, "%s on %s: expected an instance, got none among %zu in %zu %s%s%s; %s%s%s",
                     asked, arch, count, libraries, libraries == 1 ? "library" : "libraries", nearest, damaged, cure,
                     refused != NULL ? "; " : "", refused != NULL ? refused->why : "");
}

fmha_status fmha_dispatch_fail(struct fmha_dispatch *dispatch, const struct fmha_key *key,
                               const struct fmha_operands *operands) {
    char asked[512], why[1024];
    const struct loaded *best = NULL;
    size_t count = 0;
    int failed;
    fmha_status status;
    pthread_mutex_lock(&dispatch->lock);
    FOR_EACH_INSTANCE(dispatch, item) {
        if (fmha_dispatch_fits(&item->descriptor->key, key)) {
            count++;
            best = best == NULL || fmha_dispatch_compare(item, best, key) < 0 ? item : best;
        }
    }
    if (best == NULL) {
        status = fail_without_instance(dispatch, key);
    } else { /* something computes it, but not with these values */
        describe_key(key, asked, sizeof asked);
        if (fmha_descriptor_serves(best->descriptor, operands, &failed)) {
            snprintf(why, sizeof why, "does not load: %s", best->why != NULL ? best->why : "the log says why");
        } else {
            fmha_descriptor_explain(best->descriptor, operands, failed, why, sizeof why);
        }
        status = fmha_fail(FMHA_ERROR_NO_INSTANCE, "%s on %s: none of %zu %s serves these values; %s: %s", asked,
                           dispatch->device->info.arch, count, count == 1 ? "instance" : "instances",
                           best->descriptor->name, why);
    }
    pthread_mutex_unlock(&dispatch->lock);
    return status;
}

/* ---- Explaining ------------------------------------------------------------------------------------------ */

/* An instance without an image that the device could run. */
static bool is_hollow(const struct loaded *item) {
    return !item->has_object && item->descriptor->source == NULL;
}

static const char *describe_taken(const struct loaded *item) {
    return item->state == LOAD_DONE ? "taken: loaded already"
           : item->has_object       ? "taken: by its code object"
                                    : "taken: by its text, from the cache or compiled on first use";
}

struct explanation {
    struct fmha_dispatch *dispatch;
    const struct fmha_key *key;
    const struct fmha_operands *operands;
    fmha_explain_visit visit;
    void *context;
    const struct loaded *taken;
    char chosen[PATH_MAX + 256]; /* of the choice by which it is taken; "" when it is none */
};

/* Whether a launch with these values would take it if it came first. */
static bool would_do(const struct explanation *explanation, const struct loaded *item) {
    return item->state != LOAD_FAILED && !is_hollow(item) &&
           fmha_descriptor_serves(item->descriptor, explanation->operands, NULL);
}

/* Tells of a choice that does not hold. */
static void visit_refused(void *context, const struct fmha_choice *choice, const char *why) {
    const struct explanation *explanation = context;
    char text[PATH_MAX + 256], verdict[PATH_MAX + 1024];
    fmha_choice_describe(choice, text, sizeof text);
    snprintf(verdict, sizeof verdict, "its choice, %s, does not hold: %s", text, why);
    explanation->visit(explanation->context, &(fmha_consideration){choice->name, choice->file, 0, verdict});
}

/* The instance that a launch would take, as far as can be said without loading. The lock is held. */
static fmha_status find_taken(struct explanation *explanation) {
    struct loaded *best = NULL;
    struct ranking *ranking;
    fmha_status status =
        fmha_dispatch_make_ranking(explanation->dispatch, explanation->key, visit_refused, explanation, &ranking);
    if (ranking != NULL) {
        const struct chosen *nearest = fmha_ranking_nearest(ranking, explanation->operands->value);
        if (would_do(explanation, nearest->item)) {
            best = nearest->item;
            fmha_choice_describe(nearest->choice, explanation->chosen, sizeof explanation->chosen);
        }
        fmha_dispatch_free_ranking(ranking);
    }
    if (best == NULL) {
        FOR_EACH_INSTANCE(explanation->dispatch, item) {
            if (fmha_dispatch_fits(&item->descriptor->key, explanation->key) && would_do(explanation, item) &&
                (best == NULL || fmha_dispatch_compare(item, best, explanation->key) < 0)) {
                best = item;
            }
        }
    }
    explanation->taken = best;
    return status;
}

static void describe_verdict(const struct explanation *explanation, const struct loaded *item, char *text,
                             size_t room) {
    const struct fmha_descriptor *instance = item->descriptor;
    int failed;
    if (fmha_dispatch_difference(&instance->key, explanation->key, text, room) > 0) {
        return;
    }
    if (!fmha_descriptor_serves(instance, explanation->operands, &failed)) {
        fmha_descriptor_explain(instance, explanation->operands, failed, text, room);
    } else if (item->state == LOAD_FAILED) {
        snprintf(text, room, "does not load: %s", item->why);
    } else if (is_hollow(item)) {
        snprintf(text, room, "has neither a code object that the device runs nor a text");
    } else if (item == explanation->taken) {
        snprintf(text, room, "%s%s%s", describe_taken(item), explanation->chosen[0] != '\0' ? "; chosen: " : "",
                 explanation->chosen);
    } else {
        const struct loaded *taken = explanation->taken;
        bool same = strcmp(taken->descriptor->name, instance->name) == 0;
        snprintf(text, room, "would serve; %s%s comes before it", same ? "that of " : "",
                 same ? taken->library->name : taken->descriptor->name);
    }
}

fmha_status fmha_dispatch_explain(fmha_device *device, const struct fmha_key *key, const struct fmha_operands *operands,
                                  fmha_explain_visit visit, void *context) {
    struct fmha_dispatch *dispatch = device->dispatch;
    pthread_mutex_lock(&dispatch->lock);
    fmha_status status = fmha_dispatch_open(dispatch);
    struct explanation explanation = {
        .dispatch = dispatch, .key = key, .operands = operands, .visit = visit, .context = context};
    for (const struct damaged_choices *file = dispatch->damaged_choices; file != NULL; file = file->next) {
        visit(context, &(fmha_consideration){"", file->path, 0, file->why});
    }
    if (status == FMHA_OK) {
        status = find_taken(&explanation);
    }
    for (size_t i = 0; status == FMHA_OK && i < dispatch->listed; i++) {
        const struct fmha_catalogue_library *library = dispatch->catalogue.libraries[i];
        size_t count = library->index != NULL ? fmha_index_count(library->index) : 0;
        if (count == 0) {
            visit(context, &(fmha_consideration){"", library->name, 0, library->note});
        }
        for (size_t j = 0; j < count; j++) {
            const struct loaded *item = &dispatch->loaded[i][j];
            char verdict[PATH_MAX + 1024];
            describe_verdict(&explanation, item, verdict, sizeof verdict);
            visit(context,
                  &(fmha_consideration){item->descriptor->name, library->name, item == explanation.taken, verdict});
        }
    }
    pthread_mutex_unlock(&dispatch->lock);
    return status != FMHA_OK || explanation.taken != NULL ? status : fmha_dispatch_fail(dispatch, key, operands);
}
