/* What a kernel of the operation append made of a cache, held against what it must hold. */
#ifndef GEN_APPEND_JUDGE_H
#define GEN_APPEND_JUDGE_H

#include "append_session.h"

/* Adds what is wrong to the work's findings; `when`: in which of several runs, "" or " in schedule 2". False: no
 * memory. */
bool append_judge(struct append_work *work, const char *when);

#endif
