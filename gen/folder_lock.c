#include "folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

bool folder_lock(const char *folder, const char *what, int *lock, struct error *error) {
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0)
        return error_set(error, ERROR_RUN, "%s: expected a readable folder, got: %s", folder, strerror(errno));
    /* A file system without locks does not keep anybody from making anything. */
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return true;
    close(*lock);
    *lock = -1;
    return error_set(error, ERROR_RUN,
                     "%s: expected to be the only one who makes this %s, got another process at work on it; wait "
                     "until it ends",
                     folder, what);
}
