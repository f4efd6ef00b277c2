/* Boost.Context's C functions (boost/context/detail/fcontext.hpp), declared for C. */
#ifndef EMU_FCONTEXT_H
#define EMU_FCONTEXT_H

#include <stddef.h>

typedef struct emu_transfer {
    void *context; /* where the one that jumped stands */
    void *data;
} emu_transfer;

emu_transfer jump_fcontext(void *const to, void *data);
void *make_fcontext(void *stack_top, size_t bytes, void (*function)(emu_transfer));

#endif
