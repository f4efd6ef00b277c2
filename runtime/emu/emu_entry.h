/* Follows the kernel's text: how the engine finds the kernel and gives a lane its arguments. */

/* Arguments lie in the block one after another, each at a multiple of its alignment, as in a kernel's argument segment.
 */
template <class... A> struct fmha_emu_layout {
    static constexpr unsigned long end(unsigned long offset) {
        return offset;
    }
};
template <class Head, class... Tail> struct fmha_emu_layout<Head, Tail...> {
    static constexpr unsigned long begin(unsigned long offset) {
        return (offset + alignof(Head) - 1) / alignof(Head) * alignof(Head);
    }
    static constexpr unsigned long end(unsigned long offset) {
        return fmha_emu_layout<Tail...>::end(begin(offset) + sizeof(Head));
    }
};

template <class... A> struct fmha_emu_caller {
    template <class... Rest> struct unpack {
        static void run(void (*function)(A...), const char *, unsigned long, const A &...given) {
            function(given...);
        }
    };
    template <class Head, class... Tail> struct unpack<Head, Tail...> {
        template <class... Given>
        static void run(void (*function)(A...), const char *block, unsigned long offset, const Given &...given) {
            const unsigned long at = fmha_emu_layout<Head>::begin(offset);
            unpack<Tail...>::run(function, block, at + sizeof(Head), given...,
                                 *reinterpret_cast<const Head *>(block + at));
        }
    };
    static constexpr unsigned long bytes = fmha_emu_layout<A...>::end(0);
    static void run(void (*function)(A...), const void *block) {
        unpack<A...>::run(function, static_cast<const char *>(block), 0);
    }
};

template <class... A> constexpr fmha_emu_caller<A...> fmha_emu_caller_of(void (*)(A...)) {
    return {};
}

static void fmha_emu_run(const void *arguments) {
    decltype(fmha_emu_caller_of(&FMHA_EMU_SYMBOL))::run(&FMHA_EMU_SYMBOL, arguments);
}

#define FMHA_EMU_TEXT_OF(word) #word
#define FMHA_EMU_TEXT(word)    FMHA_EMU_TEXT_OF(word)

#ifdef FMHA_EMU_CHECKS
#define FMHA_EMU_HAS_CHECKS 1
#include "emu_access.h"
#else
#define FMHA_EMU_HAS_CHECKS 0
#endif

extern "C" __attribute__((visibility("default")))
const fmha_emu_image fmha_emu_image_of_kernel __asm__("fmha_emu_image");
extern "C" const fmha_emu_image fmha_emu_image_of_kernel = {
    FMHA_EMU_ABI_VERSION,
    FMHA_EMU_WAVE,
    FMHA_EMU_TEXT(FMHA_EMU_ARCH),
    FMHA_EMU_TEXT(FMHA_EMU_SYMBOL),
    fmha_emu_run,
    decltype(fmha_emu_caller_of(&FMHA_EMU_SYMBOL))::bytes,
    FMHA_EMU_HAS_CHECKS,
    &fmha_emu_the_engine,
};
