/* A shared object that is no driver. */
int fake_no_driver(void);

int fake_no_driver(void) {
    return 0;
}
