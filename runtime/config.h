/* What a build system may say of an installation, each as -D, and what holds where it says nothing, as in a program
 * that compiles these files by itself. */
#ifndef FMHA_CONFIG_H
#define FMHA_CONFIG_H

/* The version of libfmha. */
#ifndef FMHA_VERSION
#define FMHA_VERSION "unknown"
#endif

/* Where libfmha is installed. */
#ifndef FMHA_LIBRARY_DIR
#define FMHA_LIBRARY_DIR "/usr/local/lib"
#endif

/* From the folder of an installed program to that of its libraries. */
#ifndef FMHA_LIBRARY_BESIDE
#define FMHA_LIBRARY_BESIDE "../lib"
#endif

/* From the folder of an installed libfmha to that of programs. */
#ifndef FMHA_PROGRAM_BESIDE
#define FMHA_PROGRAM_BESIDE "../bin"
#endif

/* The build folder of fmhagen's tree, and the one in it whose folders emu and isa hold these drivers; "": none. */
#ifndef FMHA_BUILD_DIR
#define FMHA_BUILD_DIR ""
#endif
#ifndef FMHA_DRIVERS_BUILD_DIR
#define FMHA_DRIVERS_BUILD_DIR ""
#endif

#endif
