/* What compilers said when they were asked, kept in the cache's folder from process to process, so that a first use
 * with a warm cache runs none. An answer holds as long as the files that it stands on are what they were: size, time of
 * change and inode of the executable and of what it says is behind it. None of these functions records an error text:
 * without a memo the compiler is asked. */
#ifndef FMHA_COMPILER_MEMO_H
#define FMHA_COMPILER_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "lines.h"

/* Variables of the environment that steer compilers, NULL-terminated. An answer holds for their values, and that of
 * PATH, alone. */
extern const char *const fmha_memo_variables[];

/* Hash of the values of these variables. */
uint64_t fmha_memo_environment(void);

/* Adds the state of a file or folder, as it is now, to the malloc'ed text *files, NULL at first. It may be missing;
 * that is a state too. False: no memory. */
bool fmha_memo_add_file(char **files, const char *path);

/* Whether everything in `files` is as it was. */
bool fmha_memo_holds(const char *files);

/* Adds what of `files` decides a compiler's output, one line for each file that is there: path, size, time. */
void fmha_memo_print(fmha_lines *lines, const char *files);

/* The kept words of the command, and what they stand on, which holds. Both malloc'ed. False: ask. */
bool fmha_memo_recall(const char *const *argv, char **words, char **files);

/* Keeps the words of a command that ended well. */
void fmha_memo_keep(const char *const *argv, const char *words, const char *files);

#endif
