/* A shared object that is no kernel. */
int emu_test_other_library(void);

int emu_test_other_library(void) {
    return 1;
}
