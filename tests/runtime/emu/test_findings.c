/* The list of findings: alike ones are one, the first workgroup's text stays, and the order is the workgroups'. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "emu_test.h"
#include "findings.h"

static const fmha_finding *list;
static size_t count;

static void get(emu_findings *findings) {
    cr_assert(eq(int, emu_findings_list(findings, &list, &count), FMHA_OK));
}

Test(findings, alike_ones_are_one) {
    emu_findings findings;
    emu_findings_init(&findings);
    get(&findings);
    cr_assert(eq(sz, count, 0));
    emu_findings_add(&findings, "crash", 5, "k.hip", 10, "of workgroup 5");
    emu_findings_add(&findings, "crash", 3, "k.hip", 10, "of workgroup 3");
    emu_findings_add(&findings, "crash", 4, "k.hip", 10, "of workgroup 4");
    get(&findings);
    cr_assert(eq(sz, count, 1));
    cr_assert(eq(str, (char *)list[0].kind, "crash"));
    cr_assert(eq(str, (char *)list[0].text, "of workgroup 3 (3 times)"));
    emu_findings_clear(&findings);
    get(&findings);
    cr_assert(eq(sz, count, 0));
    emu_findings_clear(&findings);
}

/* Another kind, line or file is another finding. */
Test(findings, order_is_by_workgroup) {
    emu_findings findings;
    emu_findings_init(&findings);
    emu_findings_add(&findings, "crash", 7, "k.hip", 10, "fourth");
    emu_findings_add(&findings, "no-end", 7, "k.hip", 10, "fifth");
    emu_findings_add(&findings, "crash", 2, "k.hip", 11, "third");
    emu_findings_add(&findings, "crash", 0, "l.hip", 10, "first");
    for (int i = 0; i < 100; i++) {
        emu_findings_add(&findings, "crash", 1, "m.hip", i, "second");
    }
    get(&findings);
    cr_assert(eq(sz, count, 104));
    static const char *const texts[] = {"first", "third", "fourth", "fifth"};
    static const int places[] = {0, 101, 102, 103};
    for (int i = 0; i < 4; i++) {
        cr_assert(eq(str, (char *)list[places[i]].text, (char *)texts[i]));
    }
    emu_findings_clear(&findings);
}
