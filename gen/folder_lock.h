/* A folder that one process at a time works on. */
#ifndef GEN_FOLDER_LOCK_H
#define GEN_FOLDER_LOCK_H

#include "error.h"

/* Keeps other processes that lock FOLDER, which exists, out of it until *lock is closed; *lock is -1 after an error.
 * what: what is made of it, as an error says. */
bool folder_lock(const char *folder, const char *what, int *lock, struct error *error);

#endif
