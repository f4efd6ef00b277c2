/* Lock files: of the processes and threads that are about to do the same, one does it. */
#ifndef FMHA_LOCK_H
#define FMHA_LOCK_H

#include <stdbool.h>
#include <stdint.h>

enum fmha_lock {
    FMHA_LOCK_TAKEN,
    FMHA_LOCK_HELD,       /* by others, all the time */
    FMHA_LOCK_NO_FILE,    /* errno says why it cannot be made */
    FMHA_LOCK_UNSUPPORTED /* files cannot be locked there; errno says why */
};

/* Waits up to `milliseconds` for the lock file `name` in `folder` (AT_FDCWD: a path). *file is what fmha_lock_release
 * wants, -1 unless it is taken. The kernel drops the lock of a process that died, and the file that it leaves is taken
 * over. */
enum fmha_lock fmha_lock_take(int folder, const char *name, int64_t milliseconds, int *file);

/* Deletes the file and lets go. */
void fmha_lock_release(int folder, const char *name, int file);

/* Whether the open file is the one that has the name now. */
bool fmha_lock_has_name(int folder, const char *name, int file);

#endif
