/* Indexes as the generator writes them: their whole text, sharing, order, and what is refused, with whole error texts.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "index_text.h"
#include "shape_key.h"
#include "template.h"

static struct template_engine *engine;

static void start(void) {
    struct error error;
    engine = template_engine_new(NULL, &error);
    cr_assert(engine, "%s", error.text);
}

static void stop(void) {
    template_engine_free(engine);
}

TestSuite(index_text, .init = start, .fini = stop);

/* The caller frees it with drop. */
static struct instance *emit(const char *head_dim, const char *causal, const char *block_k) {
    struct error error;
    struct spec_choices choices = {.arch = "gfx1151"};
    choices.field[SPEC_HEAD_DIM] = head_dim;
    choices.field[SPEC_MASK] = causal;
    choices.field[SPEC_BLOCK_K] = block_k;
    struct spec *specs;
    size_t count;
    cr_assert(spec_product(&choices, engine, &specs, &count, &error), "%s", error.text);
    cr_assert_eq(count, 1);
    struct instance *instance = malloc(sizeof *instance);
    cr_assert(instance);
    cr_assert(instance_emit(engine, specs, instance, &error), "%s", error.text);
    free(specs);
    return instance;
}

static void drop(struct instance *instance) {
    instance_free(instance);
    free(instance);
}

static const char whole[] =
    "fmha-index 1\n"
    "abi 1\n"
    "made-by fmhagen " FMHA_VERSION "\n"
    "interface 0 160\n"
    "argument buffer q 0 align 16\n"
    "argument buffer k 8 align 16\n"
    "argument buffer v 16 align 16\n"
    "argument buffer o 24 align 16\n"
    "argument i64 stride_q_batch 32\n"
    "argument i64 stride_q_head 40\n"
    "argument i64 stride_q_row 48\n"
    "argument i64 stride_k_batch 56\n"
    "argument i64 stride_k_head 64\n"
    "argument i64 stride_k_row 72\n"
    "argument i64 stride_v_batch 80\n"
    "argument i64 stride_v_head 88\n"
    "argument i64 stride_v_row 96\n"
    "argument i64 stride_o_batch 104\n"
    "argument i64 stride_o_head 112\n"
    "argument i64 stride_o_row 120\n"
    "argument buffer lse 128 align 4 optional\n"
    "argument i32 heads_q 136\n"
    "argument i32 heads_k 140\n"
    "argument i32 seqlen_q 144\n"
    "argument i32 seqlen_k 148\n"
    "argument f32 scale 152\n"
    "constraint min 0 stride_k_row\n"
    "constraint max 67108859 stride_k_row\n"
    "constraint min 0 stride_v_row\n"
    "constraint max 67108859 stride_v_row\n"
    "constraint equals 0 stride_q_batch % 8\n"
    "constraint equals 0 stride_q_head % 8\n"
    "constraint equals 0 stride_q_row % 8\n"
    "constraint equals 0 stride_k_batch % 8\n"
    "constraint equals 0 stride_k_head % 8\n"
    "constraint equals 0 stride_k_row % 8\n"
    "constraint equals 0 stride_v_batch % 8\n"
    "constraint equals 0 stride_v_head % 8\n"
    "constraint equals 0 stride_v_row % 8\n"
    "constraint equals 0 stride_o_batch % 8\n"
    "constraint equals 0 stride_o_head % 8\n"
    "constraint equals 0 stride_o_row % 8\n"
    "constraint equals 0 heads_q % heads_k\n"
    "constraint min 1 heads_k\n"
    "constraint min 0 seqlen_q\n"
    "constraint max 1073741824 seqlen_q\n"
    "constraint min 0 seqlen_k\n"
    "constraint max 1073741824 seqlen_k\n"
    "instance fmha_forward_gfx1151_f16_d128_causal_m64k32w4\n"
    "target gfx1151\n"
    "key operation=forward dtype=f16 head_dim=128 head_dim_v=128 mask=causal-bottom-right v_layout=row align=16\n"
    "launch wave=32 workgroup=128 lds=18960\n"
    "rank 0\n"
    "uses 0\n"
    "grid ceil_div(seqlen_q, 64)\n"
    "grid heads_q\n"
    "grid batch\n"
    "object 17496 00000000000000ab fmha_forward_gfx1151_f16_d128_causal_m64k32w4.hsaco\n"
    "source 29292 fedcba9876543210 fmha_forward_gfx1151_f16_d128_causal_m64k32w4.hip\n"
    "instance fmha_forward_gfx1151_f16_d128_m64k32w4\n"
    "target gfx1151\n"
    "key operation=forward dtype=f16 head_dim=128 head_dim_v=128 mask=none v_layout=row align=16\n"
    "launch wave=32 workgroup=128 lds=18960\n"
    "rank -3\n"
    "uses 0\n"
    "grid ceil_div(seqlen_q, 64)\n"
    "grid heads_q\n"
    "grid batch\n";

/* The lines, and the end that counts them. */
static void assert_text(const char *text, const char *lines, size_t count) {
    char end[64];
    snprintf(end, sizeof end, "end %zu %016" PRIx64 "\n", count, fmha_index_hash(lines, strlen(lines)));
    cr_assert(strncmp(text, lines, strlen(lines)) == 0, "%s", text);
    cr_assert_str_eq(text + strlen(lines), end);
}

Test(index_text, is_sorted_and_shares_equal_interfaces) {
    struct instance *causal = emit("128", "bottom-right", NULL), *plain = emit("128", NULL, NULL);
    const struct index_entry entries[] = {
        {.instance = plain, .rank = -3},
        {.instance = causal,
         .object_file = "fmha_forward_gfx1151_f16_d128_causal_m64k32w4.hsaco",
         .object_bytes = 17496,
         .object_hash = 0xab,
         .source_file = "fmha_forward_gfx1151_f16_d128_causal_m64k32w4.hip",
         .source_bytes = 29292,
         .source_hash = UINT64_C(0xfedcba9876543210)},
    };
    struct text text = {0};
    struct error error;
    text_puts(&text, "before\n");
    cr_assert(index_text(entries, 2, &text, &error), "%s", error.text);
    cr_assert(strncmp(text.bytes, "before\n", 7) == 0);
    assert_text(text.bytes + 7, whole, 2);
    text_free(&text);
    drop(causal);
    drop(plain);
}

Test(index_text, unlike_interfaces_are_two) {
    struct instance *wide = emit("128", NULL, "32"), *narrow = emit("128", NULL, "16");
    const struct index_entry entries[] = {
        {.instance = wide},
        {.instance = narrow},
    };
    struct text text = {0};
    struct error error;
    cr_assert(index_text(entries, 2, &text, &error), "%s", error.text);
    struct fmha_index *index;
    cr_assert_eq(fmha_index_parse("x", text.bytes, text.length, &index), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_index_count(index), 2);
    const struct fmha_descriptor *first = fmha_index_at(index, 0), *second = fmha_index_at(index, 1);
    cr_assert_str_eq(first->name, narrow->name);
    cr_assert_str_eq(second->name, wide->name);
    cr_assert_neq(first->interface, second->interface);
    cr_assert_eq(second->interface->constraint_count, (unsigned)wide->constraint_count);
    cr_assert_eq(first->interface->argument_count, (unsigned)narrow->argument_count);
    /* Blocks that differ in nothing but the size of the block are not shared. */
    instance_free(narrow);
    *narrow = *wide;
    narrow->name[0] = 'g';
    narrow->argument_bytes += 8;
    text.length = 0;
    cr_assert(index_text(entries, 2, &text, &error), "%s", error.text);
    cr_assert(strstr(text.bytes, "interface 1 168\n"));
    fmha_index_free(index);
    text_free(&text);
    free(narrow);
    drop(wide);
}

/* The key names what the operation has; the rest of it is 0. */
Test(index_text, of_an_operation_with_few_rows) {
    struct error error;
    struct spec_choices choices = {.arch = "gfx1151"};
    choices.field[SPEC_OP] = "pack";
    choices.field[SPEC_V_LAYOUT] = "transposed";
    struct spec *specs;
    size_t count;
    cr_assert(spec_product(&choices, engine, &specs, &count, &error), "%s", error.text);
    struct instance instance;
    cr_assert(instance_emit(engine, specs, &instance, &error), "%s", error.text);
    const struct index_entry entry = {.instance = &instance};
    struct text text = {0};
    cr_assert(index_text(&entry, 1, &text, &error), "%s", error.text);
    cr_assert(strstr(text.bytes, "\ninstance fmha_pack_gfx1151_vt_w4\ntarget gfx1151\nkey operation=pack "
                                 "v_layout=transposed align=16\nlaunch wave=32 workgroup=128 lds=8192\n"),
              "%s", text.bytes);
    struct fmha_index *index;
    cr_assert_eq(fmha_index_parse("x", text.bytes, text.length, &index), FMHA_OK, "%s", fmha_last_error());
    struct fmha_key key;
    cr_assert(spec_key(specs, &key, &error), "%s", error.text);
    cr_assert(fmha_key_equal(&fmha_index_at(index, 0)->key, &key));
    fmha_index_free(index);
    text_free(&text);
    instance_free(&instance);
    free(specs);
}

/* All modifiers at once, whose arguments and constraints are the most that there are: libfmha still takes the short
 * way. */
Test(index_text, of_all_modifiers) {
    static const enum spec_field_id on[] = {SPEC_WINDOW,  SPEC_SINK_KEYS,  SPEC_PREFIX,     SPEC_SOFTCAP,
                                            SPEC_ALIBI,   SPEC_ATTN_MASK,  SPEC_BLOCK_MASK, SPEC_SINK,
                                            SPEC_DROPOUT, SPEC_HEAD_SCALE, SPEC_PAGED};
    struct error error;
    struct spec_choices choices = {.arch = "gfx1151"};
    choices.field[SPEC_HEAD_DIM] = "64";
    choices.field[SPEC_BIAS] = "f32";
    choices.field[SPEC_VARLEN] = "packed";
    for (size_t i = 0; i < sizeof on / sizeof *on; i++)
        choices.field[on[i]] = ""; /* its bare word */
    struct spec *specs;
    size_t count;
    cr_assert(spec_product(&choices, engine, &specs, &count, &error), "%s", error.text);
    struct instance instance;
    struct fmha_index *index;
    cr_assert(instance_emit(engine, specs, &instance, &error), "%s", error.text);
    cr_assert(index_of_instance(&instance, &index, &error), "%s", error.text);
    const struct fmha_descriptor *descriptor = fmha_index_at(index, 0);
    struct fmha_key key;
    cr_assert(spec_key(specs, &key, &error), "%s", error.text);
    cr_assert(fmha_key_equal(&descriptor->key, &key));
    cr_assert(descriptor->interface->shortcut.checks);
    cr_assert(descriptor->interface->shortcut.packs);
    fmha_index_free(index);
    instance_free(&instance);
    free(specs);
}

Test(index_text, of_nothing) {
    struct text text = {0};
    struct error error;
    cr_assert(index_text(NULL, 0, &text, &error), "%s", error.text);
    assert_text(text.bytes, "fmha-index 1\nabi 1\nmade-by fmhagen " FMHA_VERSION "\n", 0);
    text_free(&text);
}

static void assert_refused(const struct index_entry *entries, size_t count, const char *expected) {
    struct text text = {0};
    struct error error;
    text_puts(&text, "before\n");
    cr_assert_not(index_text(entries, count, &text, &error), "expected %s", expected);
    cr_assert_eq(error.kind, ERROR_RUN);
    cr_assert_str_eq(error.text, expected);
    cr_assert_str_eq(text.bytes, "before\n");
    cr_assert_eq(text.length, 7);
    text_free(&text);
}

#define NAME "fmha_forward_gfx1151_f16_d64_m64k32w4"

Test(index_text, refuses) {
    struct instance *instance = emit("64", NULL, "32");
    const struct instance kept = *instance;
    cr_assert_str_eq(instance->name, NAME);
    const struct index_entry twice[] = {{.instance = instance}, {.instance = instance}};
    assert_refused(twice, 2, NAME ": expected each instance once, got it twice");

#define UNKNOWN                                                                                                        \
    ": expected a buffer (q, k, v, o, lse, bias, ...), an f32 (scale, softcap, ...) or an integer (batch, heads_q, "   \
    "seqlen_k, stride_q_row, ...) that a problem has: no problem offers this one; rename it in the template"
    strcpy(instance->arguments[0].name, "query");
    assert_refused(twice, 1, NAME ": argument 'query' (buffer of f16)" UNKNOWN);
    *instance = kept;
    strcpy(instance->arguments[4].name, "q");
    assert_refused(twice, 1, NAME ": argument 'q' (value of i64)" UNKNOWN);
    *instance = kept;
    strcpy(instance->arguments[instance->argument_count - 1].name, "seqlen_q");
    assert_refused(twice, 1, NAME ": argument 'seqlen_q' (value of f32)" UNKNOWN);

    *instance = kept;
    strcpy(instance->constraints[0].field, "stride_q % 8");
    assert_refused(twice, 1,
                   NAME ": expression 'stride_q % 8': expected a value that problems have (batch, heads_q, seqlen_k, "
                        "stride_q_row, ...), got 'stride_q'");
    *instance = kept;
    strcpy(instance->grid[2], "batches");
    assert_refused(twice, 1,
                   NAME ": expression 'batches': expected a value that problems have (batch, heads_q, seqlen_k, "
                        "stride_q_row, ...), got 'batches'");

    *instance = kept;
    strcpy(instance->spec.arch, "navi31");
    assert_refused(twice, 1, NAME ": --arch: expected a target such as gfx1151 or sm_90, got 'navi31'");

    *instance = kept;
    instance->argument_bytes = 8;
    assert_refused(twice, 1,
                   "fmha.index:6: expected an offset that is a multiple of 8, at least 8 and at most 0, got 'argument "
                   "buffer k 8 align 16'; make the library anew with `fmhagen library`");

    *instance = kept;
    const struct index_entry elsewhere = {.instance = instance, .object_file = "../x.hsaco", .object_bytes = 5};
    assert_refused(&elsewhere, 1,
                   "fmha.index:58: expected a size in bytes, a hash of 16 digits and the name of a file in this "
                   "folder, got 'object 5 0000000000000000 ../x.hsaco'; make the library anew with `fmhagen library`");
    drop(instance);
}
