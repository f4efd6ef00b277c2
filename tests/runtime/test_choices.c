/* Files of choices: what they may say, how they are merged, and that nobody loses any. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "choices.h"
#include "driver.h"
#include "support.h"

#define HEAD "fmha-choices 1\n"
#define KEY  "operation=forward dtype=f16 head_dim=128 head_dim_v=128 mask=none v_layout=row align=16"
#define LINE                                                                                                           \
    "choice chip=gfx1151 driver=hip " KEY " batch=1 heads_q=32 heads_k=8 seqlen_q=512 seqlen_k=512 instance=k_one "    \
    "figure=12.5 unit=us runs=20 time=1000 version=HIP 6.4.43484, libfmha 0.1.0\n"
#define CURE "; correct or delete the line, or make the file anew with `fmhagen tune`"

static char folder[256], path[300];

static void set_up(void) {
    support_make_folder(folder);
    snprintf(path, sizeof path, "%s/choices", folder);
}

static void tear_down(void) {
    support_remove_folder(folder);
    support_assert_clean();
}

TestSuite(choices, .init = set_up);

static struct fmha_choices parse(const char *text) {
    struct fmha_choices choices = {0};
    cr_assert_eq(fmha_choices_parse("x", text, strlen(text), &choices), FMHA_OK, "%s", fmha_last_error());
    return choices;
}

static void refuse(const char *text, const char *error) {
    struct fmha_choices choices = {0};
    cr_assert_eq(fmha_choices_parse("x", text, strlen(text), &choices), FMHA_ERROR_IO, "%s", text);
    cr_assert_str_eq(fmha_last_error(), error);
    cr_assert_eq(choices.count, 0);
    fmha_choices_free(&choices);
}

static char *read_all(const char *name) {
    static char text[65536];
    FILE *file = fopen(name, "r");
    cr_assert_not_null(file, "%s", name);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void save(const char *text) {
    struct fmha_choices choices = parse(text);
    cr_assert_eq(fmha_choices_save(path, &choices), FMHA_OK, "%s", fmha_last_error());
    fmha_choices_free(&choices);
}

/* ---- What they may say ----------------------------------------------------------------------------------- */

Test(choices, line_is_read_whole) {
    struct fmha_choices choices = parse(HEAD "# a comment\n\n" LINE);
    cr_assert_eq(choices.count, 1);
    const struct fmha_choice *choice = &choices.list[0];
    struct fmha_key key;
    fmha_key_init(&key);
    fmha_key_set_target(&key, "gfx1151");
    key.dtype = FMHA_KEY_F16;
    key.head_dim = key.head_dim_v = 128;
    key.align = 16;
    cr_assert(fmha_key_equal(&choice->key, &key));
    cr_assert_arr_eq(choice->length, ((int64_t[]){1, 32, 8, 512, 512}), sizeof choice->length);
    cr_assert_eq(choice->figure, 12500);
    cr_assert_eq(choice->unit, FMHA_CHOICE_US);
    cr_assert_eq(choice->runs, 20);
    cr_assert_eq(choice->time, 1000);
    cr_assert_str_eq(choice->chip, "gfx1151");
    cr_assert_str_eq(choice->driver, "hip");
    cr_assert_str_eq(choice->name, "k_one");
    cr_assert_str_eq(choice->version, "HIP 6.4.43484, libfmha 0.1.0");
    cr_assert_str_eq(choice->file, "x");
    fmha_choices_free(&choices);
    tear_down();
}

/* A line with one part replaced. */
static const char *with(const char *part, const char *other) {
    static char text[2048];
    const char *at = strstr(LINE, part);
    cr_assert_not_null(at, "%s", part);
    snprintf(text, sizeof text, HEAD "%.*s%s%s", (int)(at - LINE), LINE, other, at + strlen(part));
    return text;
}

Test(choices, what_is_saved_of_any_chip_is_read) {
    static const char *const chips[] = {"gfx942:sramecc+:xnack-", "gfx9-4-generic", "sm_90"};
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++) {
        char part[64];
        snprintf(part, sizeof part, "chip=%s", chips[i]);
        save(with("chip=gfx1151", part));
        cr_assert_not_null(strstr(read_all(path), part), "%s", read_all(path));
        struct fmha_choices choices = parse(read_all(path));
        cr_assert_eq(choices.count, 1);
        cr_assert_str_eq(choices.list[0].chip, chips[i]);
        fmha_choices_free(&choices);
        unlink(path);
    }
    tear_down();
}

/* Those that are not off stand behind the others, in their order; the file says them again as they were. */
Test(choices, modifiers_are_read_and_written) {
    static const char modified[] = KEY " window=sliding bias=f32 varlen=packed paged=on modifier=0123abcd";
    const char *text = with(KEY, modified);
    struct fmha_choices choices = parse(text);
    cr_assert_eq(choices.count, 1);
    cr_assert_eq(choices.list[0].key.modifiers, (uint32_t)(FMHA_KEY_WINDOW | FMHA_KEY_BIAS * FMHA_KEY_BIAS_F32 |
                                                           FMHA_KEY_VARLEN * FMHA_KEY_VARLEN_PACKED | FMHA_KEY_PAGED));
    cr_assert_eq(choices.list[0].key.modifier, 0x0123abcd);
    fmha_choices_free(&choices);
    save(text);
    cr_assert_not_null(strstr(read_all(path), " " KEY " window=sliding bias=f32 varlen=packed paged=on "
                                              "modifier=0123abcd batch=1 "));
    save(HEAD LINE); /* another problem */
    choices = parse(read_all(path));
    cr_assert_eq(choices.count, 2);
    fmha_choices_free(&choices);
    refuse(with(KEY, KEY " softcap=off"), "x:2: expected a value of softcap that this libfmha knows, got 'off'" CURE);
    refuse(with(KEY, KEY " softcap=50"), "x:2: expected a value of softcap that this libfmha knows, got '50'" CURE);
    refuse(with(KEY, KEY " paged=on window=sliding"), "x:2: expected 'batch=', got 'window=sliding'" CURE);
    refuse(with(KEY, KEY " modifier=none"),
           "x:2: expected a value of modifier that this libfmha knows, got 'none'" CURE);
    tear_down();
}

Test(choices, unknown_words_are_refused_by_line) {
    refuse("", "x:1: expected 'fmha-choices 1'" CURE);
    refuse("fmha-choices\n", "x:1: expected 'fmha-choices 1'" CURE);
    refuse("fmha-choices 2\n",
           "x:1: expected choices of format version 1, which this libfmha reads, got version 2; use "
           "the libfmha of the fmhagen that made them" CURE);
    refuse(HEAD "choose gfx1151\n", "x:2: expected 'choice' or a comment that begins with '#', got 'choose'" CURE);
    refuse(HEAD LINE "choice", "x:3: expected a line's end, got that of a cut file" CURE);
    refuse(HEAD "choice\n", "x:2: expected 'chip=', got the end of the line" CURE);
    refuse(with("chip=gfx1151", "chip=gfx1151/1"),
           "x:2: expected 1 to 255 letters, digits and ':+-_' as chip, got 'gfx1151/1'" CURE);
    refuse(with("chip=gfx1151", "chip=navi"), "x:2: expected a target as chip, got 'navi'" CURE);
    refuse(with("driver=hip", "device=hip"), "x:2: expected 'driver=', got 'device=hip'" CURE);
    refuse(with("dtype=f16", "dtype=fp8"), "x:2: expected a value of dtype that this libfmha knows, got 'fp8'" CURE);
    refuse(with("heads_k=8", "heads_k=0"),
           "x:2: expected a whole number from 1 to 9223372036854775807 as heads_k, got '0'" CURE);
    refuse(with("seqlen_q=512", "seqlen_q=-1"),
           "x:2: expected a whole number from 0 to 9223372036854775807 as seqlen_q, got '-1'" CURE);
    refuse(with("seqlen_k=512", "seqlen_k=9223372036854775808"),
           "x:2: expected a whole number from 0 to 9223372036854775807 as seqlen_k, got '9223372036854775808'" CURE);
    refuse(with("k_one", "../k"), "x:2: expected 1 to 255 letters, digits and '_' as instance, got '../k'" CURE);
    refuse(with("runs=20", "runs=4294967296"),
           "x:2: expected a whole number from 0 to 4294967295 as runs, got '4294967296'" CURE);
    refuse(with("12.5", "12,5"), "x:2: expected a number with at most three decimals as figure, got '12,5'" CURE);
    refuse(with("12.5", "12."), "x:2: expected a number with at most three decimals as figure, got '12.'" CURE);
    refuse(with("12.5", "-12"), "x:2: expected a number with at most three decimals as figure, got '-12'" CURE);
    refuse(with("unit=us", "unit=ms"), "x:2: expected us, cycles or bound as unit, got 'ms'" CURE);
    refuse(with("unit=us", "unit=bound"),
           "x:2: expected driver=any with unit=bound and a driver's name with any other, got hip and bound" CURE);
    refuse(with("runs=20 ", "runs=20 note=good "), "x:2: expected 'time=', got 'note=good'" CURE);
    refuse(with(" version=HIP 6.4.43484, libfmha 0.1.0", ""),
           "x:2: expected 'version=' and a text, got the end of the line" CURE);
    refuse(with("libfmha", "\033[2J"),
           "x:2: expected a text without control characters as version, got byte 27 in it" CURE);
    tear_down();
}

/* Any cut and any changed byte gives choices or an error that names the place; nothing is kept of what is refused. */
Test(choices, damage_anywhere_is_an_error_or_harmless) {
    static const char text[] = HEAD "# c\n" LINE;
    char damaged[sizeof text];
    for (size_t i = 0; i < sizeof text - 1; i++) {
        for (int change = 0; change < 4; change++) {
            static const char bytes[] = {'\0', '\n', ' ', '\xff'};
            struct fmha_choices choices = {0};
            memcpy(damaged, text, sizeof text);
            damaged[i] = bytes[change];
            size_t length = change == 0 ? i : sizeof text - 1;
            if (fmha_choices_parse("x", damaged, length, &choices) != FMHA_OK) {
                cr_assert_eq(strncmp(fmha_last_error(), "x:", 2), 0, "%s", fmha_last_error());
                cr_assert_eq(choices.count, 0);
            }
            fmha_choices_free(&choices);
        }
    }
    tear_down();
}

/* ---- Distance -------------------------------------------------------------------------------------------- */

static int32_t distance(int64_t b, int64_t hq, int64_t hk, int64_t sq, int64_t sk, const int64_t *to) {
    const int64_t from[] = {b, hq, hk, sq, sk};
    struct fmha_choice_place left = fmha_choice_place(from), right = fmha_choice_place(to);
    return fmha_choice_distance(&left, &right);
}

Test(choices, distance_counts_doublings) {
    const int64_t at[] = {2, 32, 8, 512, 2048};
    cr_assert_eq(distance(2, 32, 8, 512, 2048, at), 0);
    cr_assert_eq(distance(2, 32, 8, 1024, 2048, at), 256);
    cr_assert_eq(distance(2, 32, 8, 512, 1024, at), 256);
    cr_assert_eq(distance(2, 32, 8, 256, 4096, at), 512);
    cr_assert_eq(distance(4, 16, 4, 512, 2048, at), 0); /* the product of batch and heads counts */
    cr_assert_eq(distance(8, 32, 8, 512, 2048, at), 512);
    cr_assert_eq(distance(2, 32, 32, 512, 2048, at), 512); /* and how many query heads share a key head */
    cr_assert_eq(distance(2, 32, 8, 768, 2048, at), 128);  /* between powers of two in a straight line */
    cr_assert_eq(distance(0, 32, 8, 0, 1, at), 256 * (6 + 9 + 11));
    const int64_t most[] = {INT64_MAX, INT64_MAX, 1, INT64_MAX, INT64_MAX};
    cr_assert_gt(distance(1, 1, 1, 1, 1, most), 4 * 62 * 256);
    int32_t before = 0;
    for (int64_t length = 1; length < 5000; length++) {
        int32_t now = fmha_choice_log2(length);
        cr_assert_geq(now, before);
        before = now;
    }
    tear_down();
}

/* ---- Merging --------------------------------------------------------------------------------------------- */

#define CHOICE(chip, driver, lengths, name, figure, unit, time)                                                        \
    "choice chip=" chip " driver=" driver " " KEY " " lengths " instance=" name " figure=" figure " unit=" unit        \
    " runs=1 time=" time " version=v\n"
#define AT_ONE "batch=1 heads_q=1 heads_k=1 seqlen_q=1 seqlen_k=1"
#define AT_TWO "batch=1 heads_q=1 heads_k=1 seqlen_q=2 seqlen_k=1"

/* Of one problem the measured one stays, of one kind the newer, of one time the better, whatever comes first. */
Test(choices, best_kind_then_newest_then_least_stays) {
    static const char *const falling[] = {
        CHOICE("gfx1151", "hip", AT_ONE, "k_new", "9", "us", "30"),
        CHOICE("gfx1151", "hip", AT_ONE, "k_old", "1", "us", "20"),
        CHOICE("gfx1151", "emu", AT_ONE, "k_counted", "1", "cycles", "90"),
        CHOICE("gfx1151", "emu", AT_ONE, "k_counted_worse", "2", "cycles", "90"),
        CHOICE("gfx1151", "any", AT_ONE, "k_modelled", "0.001", "bound", "99"),
        CHOICE("gfx1151", "any", AT_ONE, "k_modelled_b", "0.001", "bound", "99"),
    };
    enum { COUNT = sizeof falling / sizeof falling[0] };
    for (int best = 0; best < COUNT; best++) {
        for (int other = best + 1; other < COUNT; other++) {
            for (int swap = 0; swap < 2; swap++) {
                char want[1024];
                unlink(path);
                snprintf(want, sizeof want, HEAD "%s", falling[swap ? other : best]);
                save(want);
                snprintf(want, sizeof want, HEAD "%s", falling[swap ? best : other]);
                save(want);
                snprintf(want, sizeof want, HEAD "%s", falling[best]);
                cr_assert_str_eq(read_all(path), want);
            }
        }
    }
    tear_down();
}

Test(choices, other_problems_and_comments_stay) {
    support_write(path, HEAD "# mine\n" CHOICE("gfx1100", "hip", AT_ONE, "k_other_chip", "1", "us", "1") "# too\n",
                  0640);
    save(HEAD CHOICE("gfx1151", "hip", AT_TWO, "k_two", "3", "us", "1"));
    save(HEAD CHOICE("gfx1151", "hip", AT_ONE, "k_one", "2.070", "us", "1"));
    cr_assert_str_eq(read_all(path),
                     HEAD "# mine\n# too\n" CHOICE("gfx1100", "hip", AT_ONE, "k_other_chip", "1", "us", "1")
                         CHOICE("gfx1151", "hip", AT_ONE, "k_one", "2.070", "us", "1")
                             CHOICE("gfx1151", "hip", AT_TWO, "k_two", "3", "us", "1"));
    struct stat status;
    stat(path, &status);
    cr_assert_eq(status.st_mode & 0777, 0640);
    tear_down();
}

/* The same found again changes no byte, so that what depends on the file is not made anew. */
Test(choices, same_found_later_leaves_the_file_alone) {
    struct stat before, after;
    save(HEAD CHOICE("gfx1151", "hip", AT_ONE, "k_one", "2", "us", "1"));
    stat(path, &before);
    save(HEAD CHOICE("gfx1151", "hip", AT_ONE, "k_one", "2", "us", "7"));
    stat(path, &after);
    cr_assert_eq(before.st_ino, after.st_ino);
    cr_assert_str_eq(read_all(path), HEAD CHOICE("gfx1151", "hip", AT_ONE, "k_one", "2", "us", "1"));
    tear_down();
}

Test(choices, damaged_file_is_not_written_over) {
    struct fmha_choices choices = parse(HEAD LINE);
    char error[512];
    support_write(path, HEAD "choices\n", 0644);
    cr_assert_eq(fmha_choices_save(path, &choices), FMHA_ERROR_IO);
    snprintf(error, sizeof error, "%s:2: expected 'chip=', got 's'" CURE, path);
    cr_assert_str_eq(fmha_last_error(), error);
    cr_assert_str_eq(read_all(path), HEAD "choices\n");
    fmha_choices_free(&choices);
    tear_down();
}

Test(choices, place_that_cannot_be_written) {
    struct fmha_choices choices = parse(HEAD LINE);
    char error[512], missing[320];
    snprintf(missing, sizeof missing, "%s/none/file", folder);
    cr_assert_eq(fmha_choices_save(missing, &choices), FMHA_ERROR_IO);
    snprintf(error, sizeof error,
             "%s.lock: cannot be made: No such file or directory; choose another file for the choices", missing);
    cr_assert_str_eq(fmha_last_error(), error);
    fmha_choices_free(&choices);
    tear_down();
}

/* Eight processes that save at once, one of which is killed while it may hold the lock. */
Test(choices, processes_that_save_at_once_lose_nothing, .timeout = 60) {
    enum { PROCESSES = 8, EACH = 12 };
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            int failed = 0;
            for (int j = 0; j < EACH || i == 0; j++) {
                char text[1024];
                struct fmha_choices choices = {0};
                snprintf(text, sizeof text,
                         HEAD CHOICE("gfx1151", "hip", "batch=%d heads_q=1 heads_k=1 seqlen_q=%d seqlen_k=1", "k", "1",
                                     "us", "1"),
                         i, j % EACH);
                failed = failed || fmha_choices_parse("x", text, strlen(text), &choices) != FMHA_OK ||
                         fmha_choices_save(path, &choices) != FMHA_OK;
                fmha_choices_free(&choices);
            }
            _exit(failed);
        }
    }
    usleep(20000);
    kill(children[0], SIGKILL);
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        waitpid(children[i], &status, 0);
        cr_assert(i == 0 || status == 0, "process %d failed", i);
    }
    struct fmha_choices choices = {0};
    cr_assert_eq(fmha_choices_read(path, &choices, NULL), FMHA_OK, "%s", fmha_last_error());
    size_t found = 0;
    for (size_t i = 0; i < choices.count; i++) {
        found += choices.list[i].length[0] != 0;
    }
    cr_assert_eq(found, (PROCESSES - 1) * EACH);
    fmha_choices_free(&choices);
    tear_down();
}

/* A lock file that a dead process left is no obstacle. */
Test(choices, dead_holders_lock_is_taken_over) {
    char lock[320];
    snprintf(lock, sizeof lock, "%s.lock", path);
    support_write(lock, "", 0644);
    save(HEAD LINE);
    cr_assert_eq(access(lock, F_OK), -1);
    tear_down();
}

/* ---- The user's own -------------------------------------------------------------------------------------- */

Test(choices, own_file_stands_beside_the_cache) {
    char own[512];
    setenv("FMHA_CACHE_DIR", "/c", 1);
    cr_assert(fmha_choices_own_path("gfx1151", own, sizeof own));
    cr_assert_str_eq(own, "/c/choices/gfx1151");
    cr_assert(fmha_choices_own_path("gfx942:sramecc+:xnack-", own, sizeof own));
    cr_assert_str_eq(own, "/c/choices/gfx942");
    unsetenv("FMHA_CACHE_DIR");
    setenv("XDG_CACHE_HOME", "/x", 1);
    cr_assert(fmha_choices_own_path("gfx1151", own, sizeof own));
    cr_assert_str_eq(own, "/x/fmha/choices/gfx1151");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    cr_assert_not(fmha_choices_own_path("gfx1151", own, sizeof own));
    cr_assert_str_eq(own, "none of FMHA_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
    tear_down();
}
