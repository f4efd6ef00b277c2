/* Modifiers and layouts of forward attention: from the public struct to a key and to an argument block. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch_support.h"
#include "forward_modifiers.h"
#include "generator.h"

#define ADDRESS(number) ((void *)(uintptr_t)(number))

static fmha_device *device;

static void set_up(void) {
    static const struct test_instance plain[] = {{.name = "plain", .source = "1"}};
    dispatch_set_up();
    dispatch_library("library", plain, 1);
    device = dispatch_open();
}

static void tear_down(void) {
    fmha_device_close(device);
    dispatch_tear_down();
}

TestSuite(forward_modifiers, .init = set_up);

/* ---- One field after the other ---------------------------------------------------------------------------- */

static void window(fmha_forward_problem *p) {
    p->window = 1;
    p->window_left = 127;
}

static void window_right(fmha_forward_problem *p) {
    p->window = 1;
    p->window_left = -1;
}

static void no_window(fmha_forward_problem *p) {
    p->window = 1;
    p->window_left = p->window_right = -1;
    p->sink_keys = 4;
}

static void sink_keys(fmha_forward_problem *p) {
    window(p);
    p->sink_keys = 4;
}

static void sink_keys_alone(fmha_forward_problem *p) {
    p->sink_keys = 4;
}

static void sink_keys_seen_anyway(fmha_forward_problem *p) {
    window_right(p);
    p->sink_keys = 4;
}

static void prefix(fmha_forward_problem *p) {
    p->prefix_lengths = ADDRESS(0x1004);
}

static void softcap(fmha_forward_problem *p) {
    p->softcap = 50;
}

static void softcap_of_minus_zero(fmha_forward_problem *p) {
    p->softcap = -0.0F;
    p->dropout = -0.0F;
}

static void alibi(fmha_forward_problem *p) {
    p->alibi_slopes = ADDRESS(0x1004);
}

static void bias(fmha_forward_problem *p) {
    p->bias.data = ADDRESS(0x1002);
}

static void bias_said(fmha_forward_problem *p) {
    bias(p);
    p->bias_dtype = p->dtype;
}

static void bias_f32(fmha_forward_problem *p) {
    p->bias.data = ADDRESS(0x1004);
    p->bias_dtype = FMHA_DTYPE_F32;
}

static void attn_mask(fmha_forward_problem *p) {
    p->attn_mask.data = ADDRESS(0x1001);
}

static void block_mask(fmha_forward_problem *p) {
    p->block_mask.data = ADDRESS(0x1004);
    p->block_mask_q = 128;
    p->block_mask_k = 64;
}

static void sink(fmha_forward_problem *p) {
    p->sink = ADDRESS(0x1004);
}

static void head_scale(fmha_forward_problem *p) {
    p->head_scale = ADDRESS(0x1004);
}

static void dropout(fmha_forward_problem *p) {
    p->dropout = 0.1F;
    p->dropout_offset = UINT32_MAX;
}

static void packed(fmha_forward_problem *p) {
    p->varlen = FMHA_VARLEN_PACKED;
    p->tokens_q = 100;
    p->cu_seqlens_q = ADDRESS(0x1004);
    p->cu_seqlens_k = ADDRESS(0x1004);
}

static void padded(fmha_forward_problem *p) {
    p->varlen = FMHA_VARLEN_PADDED;
    p->seqlens_q = ADDRESS(0x1004);
    p->seqlens_k = ADDRESS(0x1004);
}

static void paged(fmha_forward_problem *p) {
    p->block_table = ADDRESS(0x1004);
    p->seqlens_k = ADDRESS(0x1004);
    p->page_size = 16;
}

static void packed_paged(fmha_forward_problem *p) {
    packed(p);
    paged(p);
    p->cu_seqlens_k = NULL;
}

static void padded_paged(fmha_forward_problem *p) {
    padded(p);
    paged(p);
}

static void outside(fmha_forward_problem *p) {
    p->modifier = 0x12ab34cd;
}

static void all(fmha_forward_problem *p) {
    sink_keys(p);
    prefix(p);
    softcap(p);
    alibi(p);
    bias_f32(p);
    attn_mask(p);
    block_mask(p);
    sink(p);
    head_scale(p);
    dropout(p);
    packed_paged(p);
    outside(p);
}

static const struct {
    const char *name;
    void (*set)(fmha_forward_problem *problem);
    const char *options; /* of fmhagen */
} features[] = {
    {"window", window, " --window"},
    {"window, right", window_right, " --window"},
    {"window without bounds", no_window, ""},
    {"sink keys", sink_keys, " --window --sink-keys"},
    {"sink keys without a window", sink_keys_alone, ""},
    {"sink keys that are seen anyway", sink_keys_seen_anyway, " --window"},
    {"prefix", prefix, " --prefix"},
    {"softcap", softcap, " --softcap"},
    {"-0", softcap_of_minus_zero, ""},
    {"alibi", alibi, " --alibi"},
    {"bias", bias, " --bias=same"},
    {"bias of Q's type", bias_said, " --bias=same"},
    {"bias of f32", bias_f32, " --bias=f32"},
    {"mask", attn_mask, " --mask"},
    {"block mask", block_mask, " --block-mask"},
    {"sink", sink, " --sink"},
    {"head scale", head_scale, " --head-scale"},
    {"dropout", dropout, " --dropout"},
    {"packed", packed, " --varlen=packed"},
    {"padded", padded, " --varlen=padded"},
    {"paged", paged, " --paged"},
    {"packed and paged", packed_paged, " --varlen=packed --paged"},
    {"padded and paged", padded_paged, " --varlen=padded --paged"},
    {"outside", outside, ""},
    {"all", all,
     " --window --sink-keys --prefix --softcap --alibi --bias=f32 --mask --block-mask --sink --head-scale --dropout "
     "--varlen=packed --paged"},
};
enum { FEATURES = sizeof features / sizeof features[0] };

/* The key and the operands that a problem comes to; launched, and only prepared. */
static void read(const fmha_forward_problem *problem, bool launch, struct fmha_key *key,
                 struct fmha_operands *operands) {
    struct fmha_forward_sizes sizes = {problem->batch, problem->seqlen_q, problem->batch, problem->seqlen_k};
    memset(operands, 0, sizeof *operands);
    fmha_key_init(key);
    key->dtype = FMHA_KEY_F16;
    key->head_dim = key->head_dim_v = 128;
    key->align = 16;
    if (fmha_forward_is_modified(problem)) {
        cr_assert_eq(fmha_forward_modify("fmha_forward", problem, launch, key, operands, &sizes), FMHA_OK, "%s",
                     fmha_last_error());
    }
}

Test(forward_modifiers, options_of_fmhagen) {
    for (size_t i = 0; i < FEATURES; i++) {
        fmha_forward_problem problem = dispatch_problem();
        struct fmha_key key, prepared;
        struct fmha_operands operands;
        char options[512], expected[512];
        features[i].set(&problem);
        read(&problem, true, &key, &operands);
        read(&problem, false, &prepared, &operands);
        cr_assert(fmha_key_equal(&key, &prepared), "%s", features[i].name);
        fmha_generator_options(&key, "gfx1151", options, sizeof options);
        snprintf(expected, sizeof expected, "--arch gfx1151 --dtype f16 --hd 128%s", features[i].options);
        cr_expect_str_eq(options, expected, "%s: expected %s, got %s", features[i].name, expected, options);
    }
    tear_down();
}

/* Fields by their names and back, each alone. */
Test(forward_modifiers, key_and_its_text) {
    for (size_t i = 0; i < FEATURES; i++) {
        fmha_forward_problem problem = dispatch_problem();
        struct fmha_key key, read_back;
        struct fmha_operands operands;
        features[i].set(&problem);
        read(&problem, true, &key, &operands);
        fmha_key_init(&read_back);
        for (int field = 0; field < FMHA_KEY_FIELDS; field++) {
            char value[FMHA_KEY_VALUE_BYTES];
            fmha_key_value(&key, field, value);
            cr_assert(!fmha_key_has(&key, field) || fmha_key_set_value(&read_back, field, value, strlen(value)),
                      "%s: %s=%s", features[i].name, fmha_key_field_names[field], value);
        }
        cr_expect(fmha_key_equal(&key, &read_back), "%s", features[i].name);
    }
    tear_down();
}

Test(forward_modifiers, hashes_are_eight_digits) {
    static const char *const wrong[] = {"", "0", "12ab34c", "12ab34cd0", "12AB34CD", "12ab34cg", "none"};
    struct fmha_key key;
    fmha_key_init(&key);
    int field = FMHA_KEY_FIELDS - 1;
    cr_assert_str_eq(fmha_key_field_names[field], "modifier");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_expect_not(fmha_key_set_value(&key, field, wrong[i], strlen(wrong[i])), "%s", wrong[i]);
    }
    cr_assert_eq(key.modifier, 0);
    cr_assert(fmha_key_set_value(&key, field, "00ab34cd", 8));
    cr_assert_eq(key.modifier, 0xab34cd);
    tear_down();
}

/* ---- What arrives ---------------------------------------------------------------------------------------- */

/* Each in the order of its field in the struct. */
static const char *const buffers[] = {"prefix_lengths",
                                      "alibi_slopes",
                                      "sink",
                                      "head_scale",
                                      "cu_seqlens_q",
                                      "seqlens_k",
                                      "block_table",
                                      "bias",
                                      "mask",
                                      "block_mask",
                                      "modifier_buffer_0",
                                      "modifier_buffer_1",
                                      "modifier_buffer_2",
                                      "modifier_buffer_3"};
static const char *const values[] = {"window_left",
                                     "window_right",
                                     "sink_keys",
                                     "page_size",
                                     "block_mask_q",
                                     "block_mask_k",
                                     "tokens_q",
                                     "stride_bias_batch",
                                     "stride_bias_head",
                                     "stride_bias_row",
                                     "stride_mask_batch",
                                     "stride_mask_head",
                                     "stride_mask_row",
                                     "stride_block_table",
                                     "stride_block_mask_batch",
                                     "stride_block_mask_head",
                                     "stride_block_mask_row",
                                     "stride_alibi_batch",
                                     "dropout_seed",
                                     "dropout_offset"};
static const char *const reals[] = {"softcap",    "dropout",    "modifier_0", "modifier_1", "modifier_2",
                                    "modifier_3", "modifier_4", "modifier_5", "modifier_6", "modifier_7"};
enum {
    BUFFERS = sizeof buffers / sizeof buffers[0],
    VALUES = sizeof values / sizeof values[0],
    REALS = sizeof reals / sizeof reals[0]
};

static void add_lines(char *text, size_t room, const char *kind, const char *const *names, int count, int bytes,
                      int *offset) {
    for (int i = 0; i < count; i++, *offset += bytes) {
        size_t length = strlen(text);
        snprintf(text + length, room - length, "argument %s %s %d%s\n", kind, names[i], *offset,
                 strcmp(kind, "buffer") == 0 ? " align 1 optional" : "");
    }
}

/* Puts a library beside the other whose one instance has these modifiers and takes every argument that there is. */
static void install(const char *modifiers) {
    char lines[8192] = "";
    int offset = 160;
    add_lines(lines, sizeof lines, "buffer", buffers, BUFFERS, 8, &offset);
    add_lines(lines, sizeof lines, "i64", values, VALUES, 8, &offset);
    add_lines(lines, sizeof lines, "f32", reals, REALS, 4, &offset);
    const struct test_instance instance = {
        .name = "modified", .source = "2", .modifiers = modifiers, .arguments = lines};
    fmha_device_close(device);
    dispatch_library("modified", &instance, 1);
    device = dispatch_open();
}

static void launch(const fmha_forward_problem *problem) {
    int launches = fake->launches;
    cr_assert_eq(fmha_forward(device, problem), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fake->launches, launches + 1);
    cr_assert_str_eq(fake->launched_symbol, "modified");
}

static uint64_t launched_buffer(int i) {
    uint64_t address;
    memcpy(&address, fake->launched_arguments + 160 + 8 * i, sizeof address);
    return address;
}

static int64_t launched_value(int i) {
    int64_t value;
    memcpy(&value, fake->launched_arguments + 160 + 8 * (BUFFERS + i), sizeof value);
    return value;
}

static float launched_real(int i) {
    float real;
    memcpy(&real, fake->launched_arguments + 160 + 8 * (BUFFERS + VALUES) + 4 * i, sizeof real);
    return real;
}

Test(forward_modifiers, every_value_is_packed) {
    fmha_forward_problem p = dispatch_problem();
    install("window=sliding sink_keys=on prefix=on softcap=on alibi=on bias=f32 attn_mask=on block_mask=on sink=on "
            "head_scale=on dropout=on varlen=packed paged=on modifier=12ab34cd");
    all(&p);
    p.batch = 2;
    p.prefix_lengths = ADDRESS(0x1000);
    p.alibi_slopes = ADDRESS(0x2000);
    p.sink = ADDRESS(0x3000);
    p.head_scale = ADDRESS(0x4000);
    p.cu_seqlens_q = ADDRESS(0x5000);
    p.seqlens_k = ADDRESS(0x6000);
    p.block_table = ADDRESS(0x7000);
    p.bias = (fmha_tensor){ADDRESS(0x8000), 8, 9, 10};
    p.attn_mask = (fmha_tensor){ADDRESS(0x9000), 11, 12, 13};
    p.block_mask = (fmha_tensor){ADDRESS(0xa000), 15, 16, 17};
    p.window_left = 1;
    p.window_right = 2;
    p.sink_keys = 3;
    p.page_size = 4;
    p.block_mask_q = 5;
    p.block_mask_k = 6;
    p.tokens_q = 7;
    p.stride_block_table = 14;
    p.stride_alibi_batch = 18;
    p.dropout_seed = 19;
    p.dropout_offset = 20;
    p.softcap = 1;
    p.dropout = 0.5F;
    for (int i = 0; i < 8; i++) {
        p.modifier_values[i] = (float)(3 + i);
    }
    for (int i = 0; i < 4; i++) {
        p.modifier_buffers[i] = ADDRESS(0xb000 + 0x1000 * i);
    }
    launch(&p);
    for (int i = 0; i < BUFFERS; i++) {
        cr_expect_eq(launched_buffer(i), 0x1000U * ((unsigned)i + 1), "%s: %llx", buffers[i],
                     (unsigned long long)launched_buffer(i));
    }
    for (int i = 0; i < VALUES; i++) {
        cr_expect_eq(launched_value(i), i + 1, "%s: %lld", values[i], (long long)launched_value(i));
    }
    for (int i = 0; i < REALS; i++) {
        cr_expect_eq(launched_real(i), i == 1 ? 0.5F : (float)(i + 1), "%s: %g", reals[i], (double)launched_real(i));
    }
    p.dropout_seed = UINT64_MAX;
    launch(&p);
    cr_expect_eq(launched_value(VALUES - 2), -1, "a word of 64 bits");
    p.window_left = p.window_right = INT32_MAX; /* as wide as any instance's keys, which says no more */
    launch(&p);
    cr_expect_eq(launched_value(0), 1 << 30);
    cr_expect_eq(launched_value(1), 1 << 30);
    tear_down();
}

/* What belongs to a modifier that is off does not reach a kernel, nor do strides that mean nothing. */
Test(forward_modifiers, what_is_off_is_zero) {
    fmha_forward_problem p = dispatch_problem();
    install("softcap=on");
    p.softcap = 2;
    p.bias = p.attn_mask = p.block_mask = (fmha_tensor){NULL, -1, -1, -1};
    p.block_mask_q = p.block_mask_k = -1;
    p.bias_dtype = 77;
    p.stride_alibi_batch = p.stride_block_table = p.tokens_q = -1;
    p.dropout_seed = p.dropout_offset = UINT64_MAX;
    p.modifier_values[0] = p.modifier_values[7] = 1;
    p.modifier_buffers[0] = p.modifier_buffers[3] = ADDRESS(0x1000);
    launch(&p);
    cr_expect_eq(launched_real(0), 2);
    for (int i = 0; i < BUFFERS; i++) {
        cr_expect_eq(launched_buffer(i), 0, "%s", buffers[i]);
    }
    for (int i = 0; i < VALUES; i++) {
        cr_expect_eq(launched_value(i), 0, "%s: %lld", values[i], (long long)launched_value(i));
    }
    for (int i = 1; i < REALS; i++) {
        cr_expect_eq(launched_real(i), 0, "%s", reals[i]);
    }
    tear_down();
}

static int64_t launched_stride(int tensor, int dimension) { /* of q, k, v, o; batch, head, row */
    int64_t stride;
    memcpy(&stride, fake->launched_arguments + 32 + 8 * (3 * tensor + dimension), sizeof stride);
    return stride;
}

/* Which strides mean something depends on the layout. */
Test(forward_modifiers, strides_of_layouts) {
    fmha_forward_problem p = dispatch_problem();
    install("varlen=packed");
    packed(&p);
    p.batch = 2;
    p.tokens_q = 2;
    p.q.stride_batch = p.o.stride_batch = p.k.stride_batch = p.v.stride_batch = -8;
    p.seqlen_q = p.seqlen_k = 1;
    launch(&p);
    for (int tensor = 0; tensor < 4; tensor++) {
        cr_expect_eq(launched_stride(tensor, 0), 0);
        cr_expect_eq(launched_stride(tensor, 2), 128, "two sequences of one row are two rows: %d", tensor);
    }
    tear_down();
}

Test(forward_modifiers, strides_of_pages) {
    fmha_forward_problem p = dispatch_problem();
    install("paged=on");
    paged(&p);
    p.k.stride_batch = 4096;
    p.v.stride_batch = 8192;
    launch(&p);
    cr_expect_eq(launched_stride(0, 0), 0, "one batch");
    cr_expect_eq(launched_stride(1, 0), 4096, "of which the pages are not counted");
    cr_expect_eq(launched_stride(2, 0), 8192);
    cr_expect_eq(launched_stride(1, 2), 128);
    p.page_size = 1;
    p.k.stride_row = p.v.stride_row = -1;
    launch(&p);
    cr_expect_eq(launched_stride(1, 2), 0, "a page of one row");
    tear_down();
}

/* An offset of one element makes the rows less aligned, that of a page too. */
Test(forward_modifiers, pages_count_for_the_alignment) {
    fmha_forward_problem p = dispatch_problem();
    fmha_status status;
    paged(&p);
    p.k.stride_batch = 4097;
    dispatch_explain(device, &p, &status);
    cr_assert_eq(status, FMHA_ERROR_NO_INSTANCE);
    cr_assert_not_null(strstr(dispatch_error(), " align=2 paged=on "), "%s", dispatch_error());
    tear_down();
}

/* ---- Without rows ---------------------------------------------------------------------------------------- */

Test(forward_modifiers, without_tokens_nothing_is_launched) {
    fmha_forward_problem p = dispatch_problem();
    packed(&p);
    p.tokens_q = 0;
    p.q.data = p.o.data = NULL;
    cr_assert_eq(fmha_forward(device, &p), FMHA_OK, "%s", fmha_last_error());
    p.batch = 0;
    cr_assert_eq(fmha_forward(device, &p), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fake->launches, 0);
    tear_down();
}

/* ---- Preparing ------------------------------------------------------------------------------------------- */

Test(forward_modifiers, lengths_need_not_be_there_to_prepare) {
    fmha_forward_problem p = dispatch_problem();
    install("varlen=packed paged=on");
    packed_paged(&p);
    p.cu_seqlens_q = p.seqlens_k = NULL;
    p.q.data = p.k.data = p.v.data = p.o.data = NULL;
    cr_assert_eq(fmha_forward_prepare(device, &p), FMHA_OK, "%s", fmha_last_error());
    tear_down();
}

/* ---- An older caller -------------------------------------------------------------------------------------- */

Test(forward_modifiers, what_an_older_header_has_not_is_off) {
    fmha_forward_problem p = dispatch_problem();
    memset((char *)&p + offsetof(fmha_forward_problem, window), 0xff,
           sizeof p - offsetof(fmha_forward_problem, window));
    p.struct_bytes = offsetof(fmha_forward_problem, window);
    cr_assert_eq(fmha_forward(device, &p), FMHA_OK, "%s", fmha_last_error());
    cr_assert_str_eq(fake->launched_symbol, "plain");
    tear_down();
}

/* ---- What is refused ------------------------------------------------------------------------------------- */

#define REFUSED(change, text)                                                                                          \
    do {                                                                                                               \
        fmha_forward_problem p = dispatch_problem();                                                                   \
        change;                                                                                                        \
        dispatch_expect(fmha_forward(device, &p), FMHA_ERROR_ARGUMENT, "fmha_forward: " text);                         \
        cr_assert_eq(fake->launches, 0);                                                                               \
    } while (0)

Test(forward_modifiers, windows_that_are_refused) {
    REFUSED(p.window = 2,
            "window: expected 0 or 1, got 2; set it to 1, and window_left and window_right to its bounds");
    REFUSED(p.window = -1,
            "window: expected 0 or 1, got -1; set it to 1, and window_left and window_right to its bounds");
    REFUSED(p.window_left = 5, "window: expected 1 with a window_left or window_right that is not 0, got 0, 5 and 0; "
                               "set window to 1, or its bounds to 0");
    REFUSED(p.window_right = -1, "window: expected 1 with a window_left or window_right that is not 0, got 0, 0 and "
                                 "-1; set window to 1, or its bounds to 0");
    REFUSED((window(&p), p.window_left = -2),
            "expected a window_left and a window_right of -1 and up, got -2 and 0; -1 is no bound");
    REFUSED((window(&p), p.window_right = -2),
            "expected a window_left and a window_right of -1 and up, got 127 and -2; -1 is no bound");
    REFUSED(p.sink_keys = -1, "sink_keys: expected 0 and up, got -1; set it to the number of first keys that every "
                              "query sees");
    tear_down();
}

Test(forward_modifiers, numbers_that_are_refused) {
    REFUSED(p.softcap = -1,
            "softcap: expected a number from 1e-30 to 1e30, got -1; set it to the bound of the scores, or "
            "to 0 for none");
    REFUSED(p.softcap = INFINITY, "softcap: expected a number from 1e-30 to 1e30, got inf; set it to the bound of the "
                                  "scores, or to 0 for none");
    REFUSED(p.softcap = NAN,
            "softcap: expected a number from 1e-30 to 1e30, got nan; set it to the bound of the scores, "
            "or to 0 for none");
    REFUSED(p.softcap = 9e-31F, "softcap: expected a number from 1e-30 to 1e30, got 9e-31; set it to the bound of the "
                                "scores, or to 0 for none");
    REFUSED(p.softcap = 2e30F, "softcap: expected a number from 1e-30 to 1e30, got 2e+30; set it to the bound of the "
                               "scores, or to 0 for none");
    REFUSED(p.dropout = 1, "dropout: expected a probability of 0 and up, below 1, got 1; set it to that of dropping a "
                           "weight");
    REFUSED(p.dropout = -0.5F, "dropout: expected a probability of 0 and up, below 1, got -0.5; set it to that of "
                               "dropping a weight");
    REFUSED(p.dropout = NAN, "dropout: expected a probability of 0 and up, below 1, got nan; set it to that of "
                             "dropping a weight");
    REFUSED((dropout(&p), p.dropout_offset++),
            "dropout_offset: expected at most 4294967295, got 4294967296; count on in dropout_seed");
    REFUSED((block_mask(&p), p.block_mask_q = 0), "block_mask: expected a block_mask_q and a block_mask_k of 1 and up, "
                                                  "got 0 and 64; set them to the queries and keys of a bit");
    REFUSED((block_mask(&p), p.block_mask_k = -1), "block_mask: expected a block_mask_q and a block_mask_k of 1 and "
                                                   "up, got 128 and -1; set them to the queries and keys of a bit");
    REFUSED((bias(&p), p.bias_dtype = FMHA_DTYPE_BF16),
            "bias_dtype: expected 0, the dtype (1) or FMHA_DTYPE_F32 (3), got 2; convert the bias to one of them");
    tear_down();
}

Test(forward_modifiers, addresses_that_are_refused) {
    static const char *const names[] = {"prefix_lengths", "alibi_slopes", "sink",      "head_scale", "cu_seqlens_q",
                                        "cu_seqlens_k",   "seqlens_q",    "seqlens_k", "block_table"};
    for (int i = 0; i < 9; i++) {
        fmha_forward_problem p = dispatch_problem();
        char text[256];
        if (i == 4 || i == 5) {
            packed(&p);
        } else if (i == 6 || i == 7) {
            padded(&p);
        } else if (i == 8) {
            paged(&p);
        }
        memcpy((char *)&p + offsetof(fmha_forward_problem, prefix_lengths) + 8 * i, &(void *){ADDRESS(0x1002)},
               sizeof(void *));
        snprintf(text, sizeof text,
                 "fmha_forward: %s: expected an address that is a multiple of 4, got 0x1002; align %s to 4 bytes",
                 names[i], names[i]);
        dispatch_expect(fmha_forward(device, &p), FMHA_ERROR_ARGUMENT, text);
        dispatch_expect(fmha_forward_prepare(device, &p), FMHA_ERROR_ARGUMENT, text);
    }
    REFUSED(p.bias.data = ADDRESS(0x1001),
            "bias: expected an address that is a multiple of 2, got 0x1001; align bias to 2 bytes");
    REFUSED((bias_f32(&p), p.bias.data = ADDRESS(0x1002)),
            "bias: expected an address that is a multiple of 4, got 0x1002; align bias to 4 bytes");
    REFUSED((block_mask(&p), p.block_mask.data = ADDRESS(0x1002)),
            "block_mask: expected an address that is a multiple of 4, got 0x1002; align block_mask to 4 bytes");
    tear_down();
}

Test(forward_modifiers, strides_that_are_refused) {
    REFUSED((bias(&p), p.bias.stride_row = -1),
            "bias: expected strides of 0 and up, below 2^62 elements, got -1; pass a tensor that does not run "
            "backwards, with strides in elements");
    REFUSED((attn_mask(&p), p.attn_mask.stride_head = INT64_C(1) << 62),
            "attn_mask: expected strides of 0 and up, below 2^62 elements, got 4611686018427387904; pass a tensor that "
            "does not run backwards, with strides in elements");
    REFUSED((block_mask(&p), p.batch = 2, p.block_mask.stride_batch = -2),
            "block_mask: expected strides of 0 and up, below 2^62 elements, got -2; pass a tensor that does not run "
            "backwards, with strides in elements");
    REFUSED((alibi(&p), p.batch = 2, p.stride_alibi_batch = -1),
            "stride_alibi_batch: expected a stride of 0 and up, below 2^62 elements, got -1; set stride_alibi_batch to "
            "the elements from one batch to the next");
    REFUSED((paged(&p), p.batch = 2, p.stride_block_table = -1),
            "stride_block_table: expected a stride of 0 and up, below 2^62 elements, got -1; set stride_block_table to "
            "the elements from one batch to the next");
    /* Where they mean nothing they may be anything. */
    fmha_forward_problem p = dispatch_problem();
    install("alibi=on attn_mask=on block_mask=on paged=on");
    alibi(&p);
    attn_mask(&p);
    block_mask(&p);
    paged(&p);
    p.attn_mask.stride_batch = p.block_mask.stride_batch = p.block_mask.stride_row = -1;
    p.stride_alibi_batch = p.stride_block_table = -1;
    launch(&p);
    tear_down();
}

Test(forward_modifiers, layouts_that_are_refused) {
    REFUSED(p.varlen = 3, "varlen: expected a value of enum fmha_varlen, got 3; set varlen to one of them");
    REFUSED(p.varlen = -1, "varlen: expected a value of enum fmha_varlen, got -1; set varlen to one of them");
    REFUSED(p.page_size = 16, "block_table: expected an address with a page_size of 16, got NULL; give the problem its "
                              "block_table, or set page_size to 0");
    static const int32_t sizes[] = {0, -1, 3, 24, 512, INT32_MIN};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fmha_forward_problem p = dispatch_problem();
        char text[256];
        paged(&p);
        p.page_size = sizes[i];
        snprintf(text, sizeof text,
                 "fmha_forward: page_size: expected a power of two from 1 to 256 with a block_table, got %d; set it to "
                 "the keys of a page",
                 sizes[i]);
        dispatch_expect(fmha_forward(device, &p), FMHA_ERROR_ARGUMENT, text);
    }
    REFUSED((packed(&p), p.v_layout = FMHA_V_TRANSPOSED),
            "v_layout: expected FMHA_V_ROW in a packed batch, got FMHA_V_TRANSPOSED; pass V by rows of keys");
    REFUSED((paged(&p), p.v_layout = FMHA_V_TRANSPOSED),
            "v_layout: expected FMHA_V_ROW in a paged batch, got FMHA_V_TRANSPOSED; pass V by rows of keys");
    REFUSED((packed(&p), p.tokens_q = -1), "tokens_q: expected 0 to batch * seqlen_q (1 and 100), got -1; set tokens_q "
                                           "to the rows of Q and seqlen_q to the longest sequence");
    REFUSED((packed(&p), p.tokens_q = 101), "tokens_q: expected 0 to batch * seqlen_q (1 and 100), got 101; set "
                                            "tokens_q to the rows of Q and seqlen_q to the longest sequence");
    REFUSED((packed(&p), p.batch = 0), "tokens_q: expected 0 to batch * seqlen_q (0 and 100), got 100; set tokens_q to "
                                       "the rows of Q and seqlen_q to the longest sequence");
    REFUSED((packed(&p), p.seqlen_q = 0), "tokens_q: expected 0 to batch * seqlen_q (1 and 0), got 100; set tokens_q "
                                          "to the rows of Q and seqlen_q to the longest sequence");
    tear_down();
}

Test(forward_modifiers, lengths_that_are_missing_or_too_many) {
    REFUSED((packed(&p), p.cu_seqlens_q = NULL), "cu_seqlens_q: expected the address of lengths in a packed batch, got "
                                                 "NULL; give the problem its cu_seqlens_q");
    REFUSED((packed(&p), p.cu_seqlens_k = NULL), "cu_seqlens_k: expected the address of lengths in a packed batch, got "
                                                 "NULL; give the problem its cu_seqlens_k");
    REFUSED((padded(&p), p.seqlens_q = NULL), "seqlens_q: expected the address of lengths in a padded batch, got NULL; "
                                              "give the problem its seqlens_q");
    REFUSED((padded(&p), p.seqlens_k = NULL), "seqlens_k: expected the address of lengths in a padded batch, got NULL; "
                                              "give the problem its seqlens_k");
    REFUSED((paged(&p), p.seqlens_k = NULL), "seqlens_k: expected the address of lengths in a paged batch, got NULL; "
                                             "give the problem its seqlens_k");
    REFUSED(p.cu_seqlens_q = ADDRESS(0x1000), "cu_seqlens_q: expected NULL in a batch without varlen, got 0x1000; set "
                                              "cu_seqlens_q to NULL, or varlen to the layout that has it");
    REFUSED(p.seqlens_k = ADDRESS(0x1000), "seqlens_k: expected NULL in a batch without varlen, got 0x1000; set "
                                           "seqlens_k to NULL, or varlen to the layout that has it");
    REFUSED((packed(&p), p.seqlens_q = ADDRESS(0x1000)),
            "seqlens_q: expected NULL in a packed batch, got 0x1000; set seqlens_q to NULL, or varlen to the layout "
            "that has it");
    REFUSED((packed_paged(&p), p.cu_seqlens_k = ADDRESS(0x1000)),
            "cu_seqlens_k: expected NULL in a paged batch, got 0x1000; set cu_seqlens_k to NULL, or varlen to the "
            "layout that has it");
    REFUSED((padded(&p), p.cu_seqlens_q = ADDRESS(0x1000)),
            "cu_seqlens_q: expected NULL in a padded batch, got 0x1000; set cu_seqlens_q to NULL, or varlen to the "
            "layout that has it");
    tear_down();
}

/* ---- Explaining ------------------------------------------------------------------------------------------ */

Test(forward_modifiers, why_an_instance_is_not_taken) {
    fmha_forward_problem p = dispatch_problem();
    fmha_status status;
    p.softcap = 30;
    p.mask = FMHA_MASK_CAUSAL_BOTTOM_RIGHT;
    packed_paged(&p);
    cr_assert_str_eq(dispatch_explain(device, &p, &status), "$/library/plain serves mask none, not "
                                                            "causal-bottom-right\n");
    p.mask = FMHA_MASK_NONE;
    cr_assert_str_eq(dispatch_explain(device, &p, &status), "$/library/plain serves softcap off, not on\n");
    dispatch_expect(
        status, FMHA_ERROR_NO_INSTANCE,
        "operation=forward dtype=f16 head_dim=128 head_dim_v=128 mask=none v_layout=row align=16 softcap=on "
        "varlen=packed paged=on on gfx1151: expected an instance, got none among 1 in 1 library; the nearest, plain, "
        "serves softcap off, not on; make one with `fmhagen library DIR --arch gfx1151 --dtype f16 --hd 128 --softcap "
        "--varlen=packed --paged` and name DIR in FMHA_LIBRARY_PATH");
    p.softcap = 0;
    cr_assert_str_eq(dispatch_explain(device, &p, &status), "$/library/plain serves varlen none, not packed\n");
    install("window=sliding");
    p = dispatch_problem();
    cr_assert_not_null(strstr(dispatch_explain(device, &p, &status), "/modified serves window sliding, not none\n"));
    cr_assert_eq(status, FMHA_OK);
    tear_down();
}

/* fmhagen cannot make an instance of a modifier whose text it does not have. */
Test(forward_modifiers, of_a_modifier_from_outside_the_text_is_wanted) {
    fmha_forward_problem p = dispatch_problem();
    fmha_status status;
    setenv("FMHA_GENERATOR", "/bin/false", 1);
    outside(&p);
    cr_assert_str_eq(dispatch_explain(device, &p, &status), "$/library/plain serves modifier none, not 12ab34cd\n");
    dispatch_expect(
        fmha_forward(device, &p), FMHA_ERROR_NO_INSTANCE,
        "operation=forward dtype=f16 head_dim=128 head_dim_v=128 mask=none v_layout=row align=16 modifier=12ab34cd on "
        "gfx1151: expected an instance, got none among 1 in 1 library; the nearest, plain, serves modifier none, not "
        "12ab34cd; make one with `fmhagen library DIR --arch gfx1151 --dtype f16 --hd 128 --modifier FILE` and name "
        "DIR in FMHA_LIBRARY_PATH, FILE being the modifier whose hash is 12ab34cd; fmhagen makes none by itself with a "
        "modifier whose text is not here");
    tear_down();
}
