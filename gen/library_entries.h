/* A folder of compiled instances, DIR/<processor>/{fmha.index, NAME.hsaco, NAME.hip, NAME.json}, made anew only where
 * something changed. The steps are called in the order in which they stand here; docs/library.md tells of them. */
#ifndef GEN_LIBRARY_ENTRIES_H
#define GEN_LIBRARY_ENTRIES_H

#include "compile.h"
#include "library_folder.h"

struct template_engine;

enum library_state {
    LIBRARY_STALE,    /* to be compiled */
    LIBRARY_CURRENT,  /* its code object is as it would be made now */
    LIBRARY_COMPILED, /* its code object was made by this run */
    LIBRARY_TEXT,     /* it has no code object, only its text */
    LIBRARY_FAILED    /* `error` says why; it is not in the index */
};

struct library_entry {
    const struct instance *instance;
    const fmha_compiler *compiler; /* NULL: whichever made the code object */
    char processor[SPEC_ARCH_MAX]; /* "gfx1151": the target without features */
    int32_t rank;
    enum library_state state;
    uint64_t object_bytes, object_hash; /* as the index has them */
    struct error error;
};

struct library {
    const char *folder;
    bool sources; /* NAME.hip is kept */
    struct library_entry *entries;
    size_t count;
    int lock;       /* descriptor of the locked folder; -1: none */
    size_t removed; /* files of instances that are no longer asked for */
};

/* Looks at what is in `folder`, which may be missing, and refuses one that has another's files in places of the
 * library's; makes nothing. compilers: one for each instance, NULL where it does not matter; NULL: for none.
 * The instances and what `folder` points to must outlive the library. Free with library_end, on failure too. */
bool library_begin(const char *folder, bool sources, const struct instance *instances, size_t count,
                   const fmha_compiler *const *compilers, struct template_engine *engine, struct library *library,
                   struct error *error);

/* Makes the folders and keeps other processes that make libraries out of them until library_end. */
bool library_lock(struct library *library, struct error *error);

/* Finds the entries that are current, brings the texts up to date, and removes what is no longer asked for. Before
 * anything changes that an index names, the index is removed. */
bool library_prepare(struct library *library, struct error *error);

/* Compiles a stale entry and writes what comes of it; other entries may be compiled at the same time. False: the
 * entry's state and error say why. */
bool library_compile(struct library *library, struct library_entry *entry);

/* Leaves the entries that are stale without a code object. */
bool library_leave_texts(struct library *library, struct error *error);

/* For code objects that others compiled from the library's texts: checks one and writes its interface. */
bool library_adopt(struct library *library, struct library_entry *entry);

/* Writes the indexes, of everything that did not fail. */
bool library_publish(const struct library *library, struct error *error);

void library_end(struct library *library);

#endif
