#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "driver.h"

Test(error, is_empty_at_first) {
    cr_assert_str_eq(fmha_last_error(), "");
}

Test(error, is_kept_and_returned) {
    cr_assert_eq(fmha_fail(FMHA_ERROR_IO, "%s: expected %d", "file", 3), FMHA_ERROR_IO);
    cr_assert_str_eq(fmha_last_error(), "file: expected 3");
}

Test(error, may_quote_the_last_one) {
    fmha_fail(FMHA_ERROR_IO, "inner");
    fmha_fail(FMHA_ERROR_IO, "outer: %s", fmha_last_error());
    cr_assert_str_eq(fmha_last_error(), "outer: inner");
}

static void *fail_elsewhere(void *unused) {
    (void)unused;
    fmha_fail(FMHA_ERROR_DRIVER, "of the other thread");
    return NULL;
}

Test(error, belongs_to_its_thread) {
    fmha_fail(FMHA_ERROR_IO, "of this thread");
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    pthread_join(thread, NULL);
    cr_assert_str_eq(fmha_last_error(), "of this thread");
}

Test(error, long_text_is_cut_between_letters) {
    static char words[40000];
    for (size_t i = 0; i + 2 < sizeof words; i += 2) {
        words[i] = (char)0xc3; /* é, two bytes */
        words[i + 1] = (char)0xa9;
    }
    for (int shift = 0; shift < 2; shift++) {
        fmha_fail(FMHA_ERROR_COMPILE, "%s%s", shift == 0 ? "" : "x", words);
        const char *text = fmha_last_error();
        const char *tail = strstr(text, "\n[the rest is left out]");
        cr_assert_not_null(tail);
        cr_assert(strlen(text) > 16000 && strlen(text) < 16384);
        cr_assert_eq((tail - text - shift) % 2, 0, "a letter is cut in half");
    }
}

Test(error, statuses_have_names) {
    cr_assert_str_eq(fmha_status_name(FMHA_OK), "FMHA_OK");
    cr_assert_str_eq(fmha_status_name(FMHA_ERROR_NO_DEVICE), "FMHA_ERROR_NO_DEVICE");
    cr_assert_str_eq(fmha_status_name(FMHA_ERROR_KERNEL), "FMHA_ERROR_KERNEL");
    cr_assert_str_eq(fmha_status_name((fmha_status)1000), "unknown fmha_status");
    cr_assert_str_eq(fmha_status_name((fmha_status)-1), "unknown fmha_status");
    for (int status = FMHA_OK; status <= FMHA_ERROR_KERNEL; status++) {
        cr_assert_eq(strncmp(fmha_status_name((fmha_status)status), "FMHA_", 5), 0);
    }
}
