/* What an interrupt (SIGINT, SIGTERM, SIGHUP) does to a command that runs children: none of them outlives it, and no
 * temporary file of theirs or of ours stays. */
#ifndef GEN_CLI_INTERRUPT_H
#define GEN_CLI_INTERRUPT_H

#include <stdbool.h>

/* What a command does about children. */
enum command_children {
    CHILDREN_NONE,  /* it has none: the signals' defaults serve */
    CHILDREN_ABORT, /* an interrupt ends children and command at once */
    CHILDREN_FINISH /* a first interrupt ends the children and makes interrupt_came() true: start nothing new, tidy up;
                       a second one ends the command at once */
};

/* Call before the first thread and the first child. From now on TMPDIR is a folder of this process. */
void interrupt_begin(enum command_children children);

/* Removes that folder with all that is in it. */
void interrupt_end(void);

bool interrupt_came(void);

#endif
