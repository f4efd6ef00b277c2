/* What in the folder of a library was made by fmhagen: nothing else there is ever written over or removed. */
#ifndef GEN_LIBRARY_FOLDER_H
#define GEN_LIBRARY_FOLDER_H

#include "interface.h"

#define LIBRARY_SUFFIX_OBJECT    ".hsaco"
#define LIBRARY_SUFFIX_SOURCE    ".hip"
#define LIBRARY_SUFFIX_INTERFACE ".json"
#define LIBRARY_NINJA_FILE       "build.ninja"
#define LIBRARY_NINJA_MARK       "# Made by fmhagen " /* how that file begins */

/* "<folder>/<processor>/<name><suffix>" in malloc'ed memory, any part of which may be "". NULL without memory, with the
 * error set. */
char *library_join(const char *folder, const char *processor, const char *name, const char *suffix,
                   struct error *error);

/* What NAME.json says of how NAME.hsaco was made; a member that it lacks is "". */
struct library_record {
    char symbol[SPEC_NAME_MAX];
    char source_hash[INTERFACE_HASH_SIZE], object_hash[INTERFACE_HASH_SIZE];
    char compiler[sizeof((fmha_compiler *)0)->version];
    char flags[1024]; /* with a blank between two */
};

/* False for what is not there and for what fmhagen did not write. */
bool library_record_read(const char *path, struct library_record *record);

/* Reads a regular file as file_read does; false, without an error text, for anything else. */
bool library_file_read(const char *path, char **bytes, size_t *length);

/* Refuses a folder in which a file of the instance `name`, or the index, or build.ninja, has the name that a library
 * needs and was not made by fmhagen. */
bool library_claim_instance(const char *folder, const char *processor, const char *name, struct error *error);
bool library_claim_folder(const char *folder, struct error *error);
bool library_claim_index(const char *folder, const char *processor, struct error *error);

/* Whether the library has the instance. */
typedef bool (*library_wanted)(const void *context, const char *processor, const char *name);

/* Calls `found` with the path of each file that fmhagen made in DIR/gfx… for an instance that is not wanted, of each
 * index of a processor without a wanted instance (name ""), and of each temporary file that a killed fmhagen left. */
bool library_leftovers(const char *folder, library_wanted wanted, const void *context,
                       bool (*found)(void *sink, const char *path, struct error *error), void *sink,
                       struct error *error);

#endif
