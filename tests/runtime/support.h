/* What the runtime's tests share. */
#ifndef TESTS_RUNTIME_SUPPORT_H
#define TESTS_RUNTIME_SUPPORT_H

#include <stddef.h>

/* A fresh folder whose name has a space in it; support_remove_folder deletes it and all in it. */
void support_make_folder(char path[256]);
void support_remove_folder(const char *path);

/* Writes a file with the given permission bits; the test fails when it cannot. */
void support_write(const char *path, const char *text, int mode);

int support_open_files(void); /* open file descriptors of this process */

/* Fails the test when memory was lost (builds with AddressSanitizer) or a child process is left. */
void support_assert_clean(void);

/* A small code object in `image`, an ELF file with nothing but the note that names its target; for "sm_90" and the like
 * a cubin. Returns its size. */
#define SUPPORT_IMAGE_BYTES 512
size_t support_make_image(const char *target, unsigned char image[SUPPORT_IMAGE_BYTES]);

#endif
