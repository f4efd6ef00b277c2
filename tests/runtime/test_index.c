/* Indexes: what a whole one says, and each of its lines wrong in each way. Error texts are compared whole. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"

#define CURE "; make the library anew with `fmhagen library`"

/* Lines from 1, as errors count them. */
static const char *const lines[] = {
    "",
    /*  1 */ "fmha-index 1",
    /*  2 */ "abi 1",
    /*  3 */ "made-by fmhagen 0.1.0",
    /*  4 */ "interface 0 40",
    /*  5 */ "argument buffer q 0 align 16",
    /*  6 */ "argument buffer lse 8 align 4 optional",
    /*  7 */ "argument i64 stride_q_batch 16",
    /*  8 */ "argument i32 heads_q 24",
    /*  9 */ "argument f32 scale 28",
    /* 10 */ "constraint equals 0 heads_q % heads_k",
    /* 11 */ "constraint max 1073741824 seqlen_q",
    /* 12 */ "constraint min -9223372036854775808 seqlen_k",
    /* 13 */ "instance a_first",
    /* 14 */ "target gfx1151",
    /* 15 */
    "key operation=forward dtype=f16 head_dim=128 head_dim_v=64 mask=causal-bottom-right v_layout=row align=16",
    /* 16 */ "launch wave=32 workgroup=128 lds=18960",
    /* 17 */ "rank -3",
    /* 18 */ "uses 0",
    /* 19 */ "grid ceil_div(seqlen_q, 64)",
    /* 20 */ "grid heads_q",
    /* 21 */ "grid batch",
    /* 22 */ "object 17496 0123456789abcdef a_first.hsaco",
    /* 23 */ "source 4294967295 fedcba9876543210 a_first.hip",
    /* 24 */ "interface 1 0",
    /* 25 */ "instance a_second",
    /* 26 */ "target gfx942:sramecc+:xnack-",
    /* 27 */ "key operation=pack v_layout=transposed align=2",
    /* 28 */ "launch wave=64 workgroup=1024 lds=0",
    /* 29 */ "rank 2147483647",
    /* 30 */ "uses 1",
    /* 31 */ "grid 1",
    /* 32 */ "grid 2",
    /* 33 */ "grid 3",
    /* 34 */ "end 2",
};
enum { LINES = sizeof lines / sizeof *lines };

#define HASH_BYTES 18 /* of " 0123456789abcdef\n" */

/* Puts the hash of what is above the last line, which begins at `end`, at the end of that line. */
static char *put_hash(const char *text, char *end, char *at) {
    return at + sprintf(at, " %016" PRIx64 "\n", fmha_index_hash(text, (size_t)(end - text)));
}

/* The index with line `number` in other words; NULL: without it. The last line gets its hash, unless it is the one that
 * has other words. The caller frees it. */
static char *with_line(int number, const char *other) {
    size_t size = 1;
    for (int i = 1; i < LINES; i++) {
        size += strlen(lines[i]) + 1;
    }
    char *text = malloc(size + HASH_BYTES + (other ? strlen(other) : 0) + 1), *at = text;
    cr_assert(text);
    for (int i = 1; i < LINES; i++) {
        const char *line = i == number ? other : lines[i];
        char *end = at;
        at += line ? sprintf(at, "%s\n", line) : 0;
        if (i == LINES - 1 && i != number) {
            at = put_hash(text, end, at - 1);
        }
    }
    *at = '\0';
    return text;
}

/* The text is handed over without its NUL, so that a sanitizer sees a read past its end. */
static fmha_status parse(const char *text, size_t bytes, struct fmha_index **index) {
    char *copy = malloc(bytes ? bytes : 1);
    cr_assert(copy);
    memcpy(copy, text, bytes);
    fmha_status status = fmha_index_parse("lib/fmha.index", copy, bytes, index);
    free(copy);
    return status;
}

static void assert_refused(const char *text, size_t bytes, const char *expected) {
    struct fmha_index *index = (struct fmha_index *)&index;
    cr_assert_eq(parse(text, bytes, &index), FMHA_ERROR_IO, "expected %s", expected);
    cr_assert_null(index);
    cr_assert_str_eq(fmha_last_error(), expected);
}

Test(index, says_what_its_lines_say) {
    struct fmha_index *index;
    char *text = with_line(0, NULL);
    cr_assert_eq(parse(text, strlen(text), &index), FMHA_OK, "%s", fmha_last_error());
    free(text);
    cr_assert_eq(fmha_index_count(index), 2);

    const struct fmha_descriptor *first = fmha_index_at(index, 0);
    struct fmha_key key;
    fmha_key_init(&key);
    cr_assert(fmha_key_set_target(&key, "gfx1151"));
    key.dtype = FMHA_KEY_F16;
    key.head_dim = 128;
    key.head_dim_v = 64;
    key.mask = FMHA_KEY_CAUSAL_BOTTOM_RIGHT;
    key.align = 16;
    cr_assert(fmha_key_equal(&first->key, &key));
    cr_assert_str_eq(first->name, "a_first");
    cr_assert(first->wave == 32 && first->workgroup == 128 && first->lds_bytes == 18960 && first->rank == -3);
    cr_assert_str_eq(first->object, "a_first.hsaco");
    cr_assert_str_eq(first->source, "a_first.hip");
    cr_assert(first->object_bytes == 17496 && first->object_hash == UINT64_C(0x0123456789abcdef));
    cr_assert(first->source_bytes == 4294967295 && first->source_hash == UINT64_C(0xfedcba9876543210));

    const struct fmha_interface *interface = first->interface;
    static const struct fmha_argument arguments[] = {
        {FMHA_ARGUMENT_BUFFER, FMHA_BUFFER_Q, false, 16, 0},
        {FMHA_ARGUMENT_BUFFER, FMHA_BUFFER_LSE, true, 4, 8},
        {FMHA_ARGUMENT_I64, FMHA_VALUE_STRIDE_Q_BATCH, false, 0, 16},
        {FMHA_ARGUMENT_I32, FMHA_VALUE_HEADS_Q, false, 0, 24},
        {FMHA_ARGUMENT_F32, FMHA_REAL_SCALE, false, 0, 28},
    };
    cr_assert(interface->argument_bytes == 40 && interface->argument_count == 5 && interface->constraint_count == 3);
    for (int i = 0; i < 5; i++) {
        const struct fmha_argument *a = &interface->arguments[i], *b = &arguments[i];
        cr_assert(a->kind == b->kind && a->source == b->source && a->optional == b->optional &&
                      a->align_bytes == b->align_bytes && a->offset_bytes == b->offset_bytes,
                  "argument %d", i);
    }
    static const struct {
        uint8_t relation;
        int64_t bound;
        const char *text;
    } constraints[] = {{FMHA_RELATION_EQUALS, 0, "heads_q % heads_k"},
                       {FMHA_RELATION_MAX, 1073741824, "seqlen_q"},
                       {FMHA_RELATION_MIN, INT64_MIN, "seqlen_k"}};
    for (int i = 0; i < 3; i++) {
        const struct fmha_constraint *constraint = &interface->constraints[i];
        cr_assert(constraint->relation == constraints[i].relation && constraint->bound == constraints[i].bound);
        cr_assert_eq(constraint->text_bytes, strlen(constraints[i].text));
        cr_assert(strncmp(constraint->text, constraints[i].text, constraint->text_bytes) == 0);
    }
    const int64_t values[FMHA_VALUE_COUNT] = {
        [FMHA_VALUE_BATCH] = 5, [FMHA_VALUE_HEADS_Q] = 6, [FMHA_VALUE_SEQLEN_Q] = 65};
    int64_t grid[3];
    for (int axis = 0; axis < 3; axis++) {
        cr_assert(fmha_expression_evaluate(&first->grid[axis], values, &grid[axis]));
    }
    cr_assert(grid[0] == 2 && grid[1] == 6 && grid[2] == 5);

    const struct fmha_descriptor *second = fmha_index_at(index, 1);
    fmha_key_init(&key);
    cr_assert(fmha_key_set_target(&key, "gfx942:sramecc+:xnack-"));
    key.operation = FMHA_KEY_PACK;
    key.v_layout = FMHA_KEY_V_TRANSPOSED;
    key.align = 2;
    cr_assert(fmha_key_equal(&second->key, &key));
    cr_assert_str_eq(second->name, "a_second");
    cr_assert(second->wave == 64 && second->workgroup == 1024 && second->rank == INT32_MAX);
    cr_assert(!second->object && !second->source && second->object_bytes == 0 && second->source_hash == 0);
    cr_assert(second->interface->argument_count == 0 && second->interface->constraint_count == 0);
    fmha_index_free(index);
    fmha_index_free(NULL);
}

Test(index, of_nothing) {
    struct fmha_index *index;
    const char *text = "fmha-index 1\nabi 1\nmade-by \nend 0 06b81bb66ef1569b\n";
    cr_assert_eq(parse(text, strlen(text), &index), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_index_count(index), 0);
    fmha_index_free(index);
}

Test(index, may_be_without_either_file) {
    for (int line = 22; line <= 23; line++) {
        struct fmha_index *index;
        char *text = with_line(line, NULL);
        cr_assert_eq(parse(text, strlen(text), &index), FMHA_OK, "%s", fmha_last_error());
        const struct fmha_descriptor *first = fmha_index_at(index, 0);
        cr_assert_eq(first->object == NULL, line == 22);
        cr_assert_eq(first->source == NULL, line == 23);
        fmha_index_free(index);
        free(text);
    }
}

#define LINE_FMHA    "expected 'fmha-index VERSION', got "
#define LINE_ABI     "expected 'abi VERSION', got "
#define LINE_FACE(n) "expected 'interface " #n "' and up to 1024 bytes, got "
#define LINE_ARG     "expected 'argument', and 'buffer', 'i32', 'i64' or 'f32', got "
#define LINE_BUFFER  "expected a buffer that problems have (q, k, v, o, lse, from, to), got "
#define LINE_VALUE   "expected a value that problems have (batch, heads_q, seqlen_k, stride_q_row, ...), got "
#define LINE_ALIGN   "expected 'align' and a power of two up to 4096, got "
#define LINE_LIMIT   "expected 'constraint', 'equals', 'min' or 'max', a whole number and an expression, got "
#define LINE_NAME    "expected 'instance' and a C identifier of at most 255 characters, got "
#define LINE_TARGET  "expected 'target' and a target, got "
#define LINE_KEY                                                                                                       \
    "expected 'key' and operation, dtype, head_dim, head_dim_v, mask, v_layout and align, each as NAME=VALUE that "    \
    "this libfmha knows, got "
#define LINE_LAUNCH                                                                                                    \
    "expected 'launch wave=', 32 or 64, 'workgroup=', a multiple of it up to 1024, 'lds=' and bytes, got "
#define LINE_RANK "expected 'rank' and a number of 32 bits, got "
#define LINE_USES "expected 'uses' and one of the 1 interfaces above, got "
#define LINE_GRID "expected 'grid' and an expression, three times, got "
#define LINE_FILE "expected a size in bytes, a hash of 16 digits and the name of a file in this folder, got "
#define LINE_ANY  "expected 'interface', 'instance' or 'end', and what belongs to it, got "
#define LINE_END  "expected 'end 2' and a hash of 16 digits, got "
#define FIELDS    "dtype=f16 head_dim=128 head_dim_v=64 mask=none v_layout=row align=16"

/* Line `number` as `line` (NULL: left out) makes an error at line `at`; where it is `QUOTES`, got is the line itself.
 */
#define QUOTES NULL
struct wrong {
    int number;
    const char *line;
    const char *expected, *got;
    int at;
};

#define LINE_MODIFIERS                                                                                                 \
    "expected of the instance 'a_first', whose key has no modifier, nothing that only problems with modifiers have, "  \
    "got "
static const struct wrong wrong_lines[] = {
    {1, "fmha-index 01", LINE_FMHA, QUOTES, 1},
    {1, "fmha-index ", LINE_FMHA, QUOTES, 1},
    {1, "fmha-index 1 ", LINE_FMHA, QUOTES, 1},
    {1, "fmha-index one", LINE_FMHA, QUOTES, 1},
    {1, "fmha-index -1", LINE_FMHA, QUOTES, 1},
    {1, "fmha-index 18446744073709551616", LINE_FMHA, QUOTES, 1},
    {1, "{ \"fmha\": 1 }", LINE_FMHA, QUOTES, 1},
    {1, "", LINE_FMHA, QUOTES, 1},
    {1, NULL, LINE_FMHA, "'abi 1'", 1},
    {1, "fmha-index 2",
     "expected an index of format version 1, which this libfmha reads, got version 2, which the libfmha of the fmhagen "
     "that made it reads",
     "", 1},
    {1, "fmha-index 0",
     "expected an index of format version 1, which this libfmha reads, got version 0, which the libfmha of the fmhagen "
     "that made it reads",
     "", 1},
    {2, "abi", LINE_ABI, QUOTES, 2},
    {2, "abi 1x", LINE_ABI, QUOTES, 2},
    {2, NULL, LINE_ABI, "'made-by fmhagen 0.1.0'", 2},
    {2, "abi 2",
     "expected kernels of ABI version 1, which this libfmha launches, got version 2, which the libfmha of the fmhagen "
     "that made them launches",
     "", 2},
    {3, "made by hand", "expected 'made-by PROGRAM', got ", QUOTES, 3},
    {3, NULL, "expected 'made-by PROGRAM', got ", "'interface 0 40'", 3},

    {4, "interface 1 40", LINE_FACE(0), QUOTES, 4},
    {4, "interface 0 1025", LINE_FACE(0), QUOTES, 4},
    {4, "interface 0 -1", LINE_FACE(0), QUOTES, 4},
    {4, "interface 0", LINE_FACE(0), QUOTES, 4},
    {4, "interface 0 40 ", LINE_FACE(0), QUOTES, 4},
    {4, "interface ", LINE_FACE(0), QUOTES, 4},
    {24, "interface 0 0", LINE_FACE(1), QUOTES, 24},
    {24, "interface 2 0", LINE_FACE(1), QUOTES, 24},
    {4, "interface", LINE_ANY, QUOTES, 4},
    {4, NULL, LINE_ANY, "'argument buffer q 0 align 16'", 4},
    {4, "", LINE_ANY, QUOTES, 4},
    {4, "interface 0 31",
     "expected an offset that is a multiple of 4, at least 28 and at most 27, got 'argument f32 scale 28'", "", 9},

    {5, "argument", LINE_ANY, QUOTES, 5},
    {5, "argument ", LINE_ARG, QUOTES, 5},
    {5, "argument pointer q 0 align 16", LINE_ARG, QUOTES, 5},
    {5, "argument buffers q 0 align 16", LINE_ARG, QUOTES, 5},
    {5, "argument buffer", LINE_ARG, QUOTES, 5},
    {5, "argument buffer ", LINE_BUFFER, QUOTES, 5},
    {5, "argument buffer batch 0 align 16", LINE_BUFFER, QUOTES, 5},
    {5, "argument buffer Q 0 align 16", LINE_BUFFER, QUOTES, 5},
    {5, "argument buffer q", "expected the offset of an argument, got ", QUOTES, 5},
    {5, "argument buffer q -8 align 16", "expected the offset of an argument, got ", QUOTES, 5},
    {5, "argument buffer q 00 align 16", "expected the offset of an argument, got ", QUOTES, 5},
    {5, "argument buffer q 1025 align 16", "expected the offset of an argument, got ", QUOTES, 5},
    {5, "argument buffer q 0", LINE_ALIGN, QUOTES, 5},
    {5, "argument buffer q 0 align 0", LINE_ALIGN, QUOTES, 5},
    {5, "argument buffer q 0 align 12", LINE_ALIGN, QUOTES, 5},
    {5, "argument buffer q 0 align 8192", LINE_ALIGN, QUOTES, 5},
    {5, "argument buffer q 0 align 16 optionally", "expected no more words of an argument, got ", QUOTES, 5},
    {5, "argument buffer q 0 align 16 ", "expected no more words of an argument, got ", QUOTES, 5},
    {5, "argument buffer q 4 align 16",
     "expected an offset that is a multiple of 8, at least 0 and at most 32, got 'argument buffer q 4 align 16'", "",
     5},
    {5, "argument buffer q 40 align 16",
     "expected an offset that is a multiple of 8, at least 0 and at most 32, got 'argument buffer q 40 align 16'", "",
     5},
    {6, "argument buffer lse 0 align 4 optional",
     "expected an offset that is a multiple of 8, at least 8 and at most 32, got 'argument buffer lse 0 align 4 "
     "optional'",
     "", 6},
    {7, "argument i64 stride 16", LINE_VALUE, QUOTES, 7},
    {7, "argument i64 q 16", LINE_VALUE, QUOTES, 7},
    {7, "argument i64 stride_q_batch 16 align 8", "expected no more words of an argument, got ", QUOTES, 7},
    {7, "argument i64 stride_q_batch 20",
     "expected an offset that is a multiple of 8, at least 16 and at most 32, got 'argument i64 stride_q_batch 20'", "",
     7},
    {8, "argument i32 heads_q 26",
     "expected an offset that is a multiple of 4, at least 24 and at most 36, got 'argument i32 heads_q 26'", "", 8},
    {8, "argument i32 heads_q 20",
     "expected an offset that is a multiple of 4, at least 24 and at most 36, got 'argument i32 heads_q 20'", "", 8},
    {9, "argument f32 heads_q 28", "expected a real number that problems have (scale), got ", QUOTES, 9},
    {9, "argument f32 scale 24",
     "expected an offset that is a multiple of 4, at least 28 and at most 36, got 'argument f32 scale 24'", "", 9},
    {11, "argument i32 batch 32", LINE_ANY, QUOTES, 11},

    {10, "constraint", LINE_ANY, QUOTES, 10},
    {10, "constraint ", LINE_LIMIT, QUOTES, 10},
    {10, "constraint less 0 heads_q", LINE_LIMIT, QUOTES, 10},
    {10, "constraint equals heads_q", LINE_LIMIT, QUOTES, 10},
    {10, "constraint equals 0", LINE_LIMIT, QUOTES, 10},
    {10, "constraint equals - heads_q", LINE_LIMIT, QUOTES, 10},
    {10, "constraint equals -0 heads_q", LINE_LIMIT, QUOTES, 10},
    {10, "constraint equals 9223372036854775808 heads_q", LINE_LIMIT, QUOTES, 10},
    {10, "constraint equals -9223372036854775809 heads_q", LINE_LIMIT, QUOTES, 10},
    {10, "constraint equals 0 ", "expression '': expected a number, a name or '(', got its end", "", 10},
    {10, "constraint equals 0 heads_q %", "expression 'heads_q %': expected a number, a name or '(', got its end", "",
     10},
    {10, "constraint equals 0 heads_q\r", "expression 'heads_q?': expected an operator or the end, got '?'", "", 10},
    {10, "constraint equals 0 h\xff", "expression 'h?': " LINE_VALUE, "'h'", 10},

    {13, "instance", LINE_ANY, QUOTES, 13},
    {13, "instance ", LINE_NAME, QUOTES, 13},
    {13, "instance 1st", LINE_NAME, QUOTES, 13},
    {13, "instance a first", LINE_NAME, QUOTES, 13},
    {13, "instance a-first", LINE_NAME, QUOTES, 13},
    {13, NULL, LINE_ANY, "'target gfx1151'", 13},
    {13, "instance b_first", "expected instances in the order of their names, got 'a_second' after 'b_first'", "", 25},
    {13, "instance a_second", "expected each instance once, got 'a_second' twice", "", 25},
    {14, "target ", LINE_TARGET, QUOTES, 14},
    {14, "target navi31", LINE_TARGET, QUOTES, 14},
    {14, "target gfx1151 ", LINE_TARGET, QUOTES, 14},
    {14, "target gfx1151:xnack", LINE_TARGET, QUOTES, 14},
    {14, NULL, LINE_TARGET,
     "'key operation=forward dtype=f16 head_dim=128 head_dim_v=64 mask=causal-bottom-right v_layout=row align=16'", 14},
    {15, "key", LINE_KEY, "'' at the end of 'key'", 15},
    {15, "key ", LINE_KEY, "' ' at the end of 'key '", 15},
    {15, "key operation=backwards " FIELDS, LINE_KEY,
     "' operation=backwards " FIELDS "' at the end of 'key operation=backwards " FIELDS "'", 15},
    {15, "key operation=forward " FIELDS " ", LINE_KEY, "' ' at the end of 'key operation=forward " FIELDS " '", 15},
    {15, "key operation=forward " FIELDS " x=1", LINE_KEY,
     "' x=1' at the end of 'key operation=forward " FIELDS " x=1'", 15},
    {15, "key operation=forward dtype=f16", LINE_KEY, "'' at the end of 'key operation=forward dtype=f16'", 15},
    {15, "key operation=forward dtype=f17", LINE_KEY, "' dtype=f17' at the end of 'key operation=forward dtype=f17'",
     15},
    {15, "key operation=forward dtype=f16 head_dim=", LINE_KEY,
     "' head_dim=' at the end of 'key operation=forward dtype=f16 head_dim='", 15},
    {15, "key operation=forward dtype=f16 head_dim=65536", LINE_KEY,
     "' head_dim=65536' at the end of 'key operation=forward dtype=f16 head_dim=65536'", 15},
    {15, "key dtype=f16 operation=forward", LINE_KEY,
     "' dtype=f16 operation=forward' at the end of 'key dtype=f16 operation=forward'", 15},
    {27, "key operation=pack align=2 v_layout=row", LINE_KEY,
     "' v_layout=row' at the end of 'key operation=pack align=2 v_layout=row'", 27},
    {27, "key operation=pack v_layout=column align=2", LINE_KEY,
     "' v_layout=column align=2' at the end of 'key operation=pack v_layout=column align=2'", 27},
    {16, "launch wave=16 workgroup=128 lds=0", LINE_LAUNCH, QUOTES, 16},
    {16, "launch wave=48 workgroup=96 lds=0", LINE_LAUNCH, QUOTES, 16},
    {16, "launch wave=128 workgroup=128 lds=0", LINE_LAUNCH, QUOTES, 16},
    {16, "launch wave=64 workgroup=32 lds=0", LINE_LAUNCH, QUOTES, 16},
    {16, "launch wave=64 workgroup=96 lds=0", LINE_LAUNCH, QUOTES, 16},
    {16, "launch wave=32 workgroup=0 lds=0", LINE_LAUNCH, QUOTES, 16},
    {16, "launch wave=32 workgroup=1056 lds=0", LINE_LAUNCH, QUOTES, 16},
    {16, "launch wave=32 workgroup=128 lds=4294967296", LINE_LAUNCH, QUOTES, 16},
    {16, "launch wave=32 workgroup=128 lds=0 ", LINE_LAUNCH, QUOTES, 16},
    {16, "launch wave=32 workgroup=128", LINE_LAUNCH, QUOTES, 16},
    {16, NULL, LINE_LAUNCH, "'rank -3'", 16},
    {17, "rank 2147483648", LINE_RANK, QUOTES, 17},
    {17, "rank -2147483649", LINE_RANK, QUOTES, 17},
    {17, "rank +1", LINE_RANK, QUOTES, 17},
    {17, "rank 1 1", LINE_RANK, QUOTES, 17},
    {17, NULL, LINE_RANK, "'uses 0'", 17},
    {18, "uses 1", LINE_USES, QUOTES, 18},
    {18, "uses -1", LINE_USES, QUOTES, 18},
    {18, "uses 18446744073709551616", LINE_USES, QUOTES, 18},
    {18, "uses 0 1", LINE_USES, QUOTES, 18},
    {18, NULL, LINE_USES, "'grid ceil_div(seqlen_q, 64)'", 18},
    {19, "grid", LINE_GRID, QUOTES, 19},
    {19, "grid ", "expression '': expected a number, a name or '(', got its end", "", 19},
    {20, "grid heads", "expression 'heads': " LINE_VALUE, "'heads'", 20},
    {21, NULL, LINE_GRID, "'object 17496 0123456789abcdef a_first.hsaco'", 21},
    {22, "grid batch", LINE_ANY, QUOTES, 22},
    {22, "object", LINE_ANY, QUOTES, 22},
    {22, "object ", LINE_FILE, QUOTES, 22},
    {22, "object 0 0123456789abcdef a_first.hsaco", LINE_FILE, QUOTES, 22},
    {22, "object 4294967296 0123456789abcdef a_first.hsaco", LINE_FILE, QUOTES, 22},
    {22, "object 1 0123456789abcde a_first.hsaco", LINE_FILE, QUOTES, 22},
    {22, "object 1 0123456789ABCDEF a_first.hsaco", LINE_FILE, QUOTES, 22},
    {22, "object 1 0123456789abcdeff a_first.hsaco", LINE_FILE, QUOTES, 22},
    {22, "object 1 0123456789abcdef", LINE_FILE, QUOTES, 22},
    {7, "argument i64 dropout_seed 16", LINE_MODIFIERS, "'dropout_seed'", 21},
    {7, "argument buffer bias 16 align 2", LINE_MODIFIERS, "'bias'", 21},
    {9, "argument f32 softcap 28", LINE_MODIFIERS, "'softcap'", 21},
    {10, "constraint min 1 heads_q + window_left", LINE_MODIFIERS, "'window_left'", 21},
    {11, "constraint equals 0 dropout_offset % 2", LINE_MODIFIERS, "'dropout_offset'", 21},
    {20, "grid ceil_div(tokens_q, 64)", LINE_MODIFIERS, "'tokens_q'", 21},

    {22, "object 1 0123456789abcdef ", LINE_FILE, QUOTES, 22},
    {22, "object 1 0123456789abcdef ../a_first.hsaco", LINE_FILE, QUOTES, 22},
    {22, "object 1 0123456789abcdef ..", LINE_FILE, QUOTES, 22},
    {22, "object 1 0123456789abcdef .hidden", LINE_FILE, QUOTES, 22},
    {22, "object 1 0123456789abcdef -rf", LINE_FILE, QUOTES, 22},
    {22, "object 1 0123456789abcdef /etc/passwd", LINE_FILE, QUOTES, 22},
    {22, "object 1 0123456789abcdef a/b", LINE_FILE, QUOTES, 22},
    {22, "object 1 0123456789abcdef a b", LINE_FILE, QUOTES, 22},
    {22, "object 1 0123456789abcdef a\\b", LINE_FILE, QUOTES, 22},
    {22, "object 1 0123456789abcdef a:b", LINE_FILE, QUOTES, 22},
    {23, "object 1 0123456789abcdef twice.hsaco", LINE_ANY, QUOTES, 23},
    {22, "source 1 0123456789abcdef first.hip", LINE_ANY, "'source 4294967295 fedcba9876543210 a_first.hip'", 23},
    {23, "source x", LINE_FILE, QUOTES, 23},

    {34, "end 1", "expected 'end 2', as many as there are instances, got ", QUOTES, 34},
    {34, "end 3", "expected 'end 2', as many as there are instances, got ", QUOTES, 34},
    {34, "end", LINE_ANY, QUOTES, 34},
    {34, "end two", LINE_ANY, QUOTES, 34},
    {34, "end 2", LINE_END, QUOTES, 34},
    {34, "end 2 ", LINE_END, QUOTES, 34},
    {34, "end 2x0123456789abcdef", LINE_END, QUOTES, 34},
    {34, "end 2 0123456789abcde", LINE_END, QUOTES, 34},
    {34, "end 2 0123456789ABCDEF", LINE_END, QUOTES, 34},
    {34, "end 2 0123456789abcdef0", LINE_END, QUOTES, 34},
    {34, "end 2 0123456789abcdef ", LINE_END, QUOTES, 34},
    {34, "end 1 0123456789abcdef", "expected 'end 2', as many as there are instances, got ", QUOTES, 34},
    {34, "end 2 0123456789abcdef\n", "expected nothing after 'end 2 0123456789abcdef', got more", "", 34},
    {34, "end 2 0123456789abcdef\nend 2", "expected nothing after 'end 2 0123456789abcdef', got more", "", 34},
    {34, NULL, "expected another line, got the end of a file that was cut off", "", 34},
    {33, "end 2", LINE_GRID, QUOTES, 33},
    {25, "end 1 0123456789abcdef", "expected nothing after 'end 1 0123456789abcdef', got more", "", 25},
};

Test(index, wrong_lines) {
    for (size_t i = 0; i < sizeof wrong_lines / sizeof *wrong_lines; i++) {
        const struct wrong *wrong = &wrong_lines[i];
        char *text = with_line(wrong->number, wrong->line), expected[2048];
        bool quotes = !wrong->got;
        snprintf(expected, sizeof expected, "lib/fmha.index:%d: %s%s%s%s" CURE, wrong->at, wrong->expected,
                 quotes ? "'" : "", quotes ? wrong->line : wrong->got, quotes ? "'" : "");
        assert_refused(text, strlen(text), expected);
        free(text);
    }
}

/* With a modifier in its key an instance may name them. */
Test(index, of_modifiers) {
    struct fmha_index *index;
    char *text = with_line(
        15, "key operation=forward dtype=f16 head_dim=128 head_dim_v=64 mask=causal-bottom-right v_layout=row align=16 "
            "window=sliding bias=f32 varlen=packed modifier=0123abcd");
    cr_assert_eq(fmha_index_parse("lib/fmha.index", text, strlen(text), &index), FMHA_OK, "%s", fmha_last_error());
    const struct fmha_descriptor *first = fmha_index_at(index, 0);
    cr_assert_eq(first->key.modifiers, (uint32_t)(FMHA_KEY_WINDOW | FMHA_KEY_BIAS * FMHA_KEY_BIAS_F32 |
                                                  FMHA_KEY_VARLEN * FMHA_KEY_VARLEN_PACKED));
    cr_assert_eq(first->key.modifier, 0x0123abcd);
    fmha_index_free(index);
    free(text);
}

Test(index, names_have_a_limit) {
    char line[512], expected[1024];
    for (int length = 255; length <= 256; length++) {
        struct fmha_index *index;
        sprintf(line, "instance a%0*d", length - 1, 0);
        char *text = with_line(13, line);
        if (length == 255) {
            cr_assert_eq(parse(text, strlen(text), &index), FMHA_OK, "%s", fmha_last_error());
            cr_assert_eq(strlen(fmha_index_at(index, 0)->name), 255);
            fmha_index_free(index);
        } else {
            snprintf(expected, sizeof expected, "lib/fmha.index:13: " LINE_NAME "'%.200s'" CURE, line);
            assert_refused(text, strlen(text), expected);
        }
        free(text);
    }
}

/* A file that a NUL cuts must not be read as if it ended there. */
Test(index, a_nul_is_no_end) {
    static const struct {
        const char *before; /* of the NUL that stands in the place of the next byte */
        const char *expected;
    } cases[] = {
        {"a_first.hs", "lib/fmha.index:22: " LINE_FILE "'object 17496 0123456789abcdef a_first.hs'" CURE},
        {"instance a_", "lib/fmha.index:13: " LINE_NAME "'instance a_'" CURE},
        {"target gfx942:sramecc+", "lib/fmha.index:26: " LINE_TARGET "'target gfx942:sramecc+'" CURE},
        {"grid heads", "lib/fmha.index:20: expression 'heads': " LINE_VALUE "'heads'" CURE},
        {"mask=causal-bottom-right v_layout=row",
         "lib/fmha.index:15: " LINE_KEY "' v_layout=row' at the end of 'key operation=forward dtype=f16 head_dim=128 "
         "head_dim_v=64 mask=causal-bottom-right v_layout=row'" CURE},
        {"rank -", "lib/fmha.index:17: " LINE_RANK "'rank -'" CURE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = with_line(0, NULL);
        size_t bytes = strlen(text);
        char *at = strstr(text, cases[i].before);
        cr_assert(at);
        at[strlen(cases[i].before)] = '\0';
        assert_refused(text, bytes, cases[i].expected);
        free(text);
    }
}

Test(index, truncated_anywhere_is_refused) {
    char *text = with_line(0, NULL);
    for (size_t bytes = 0; bytes < strlen(text); bytes++) {
        struct fmha_index *index;
        cr_assert_eq(parse(text, bytes, &index), FMHA_ERROR_IO, "%zu bytes", bytes);
        cr_assert_null(index);
        cr_assert(strncmp(fmha_last_error(), "lib/fmha.index:", 15) == 0);
    }
    assert_refused(text, 0, "lib/fmha.index:1: expected another line, got the end of a file that was cut off" CURE);
    assert_refused(text, strlen(text) - 1,
                   "lib/fmha.index:34: expected another line, got the end of a file that was cut off" CURE);
    free(text);
}

/* Reads everything that an index says, for the sanitizers. */
static void use(const struct fmha_index *index) {
    static const struct fmha_operands operands = {.value = {[FMHA_VALUE_HEADS_K] = 1}};
    for (size_t i = 0; i < fmha_index_count(index); i++) {
        const struct fmha_descriptor *descriptor = fmha_index_at(index, i);
        unsigned char block[FMHA_ARGUMENT_BYTES_MAX];
        char why[512];
        uint32_t grid[3];
        bool empty;
        int failed;
        cr_assert(strlen(descriptor->name) > 0);
        cr_assert(!descriptor->object || (strlen(descriptor->object) > 0 && !strchr(descriptor->object, '/')));
        cr_assert(!descriptor->source || (strlen(descriptor->source) > 0 && !strchr(descriptor->source, '/')));
        if (!fmha_descriptor_serves(descriptor, &operands, &failed)) {
            fmha_descriptor_explain(descriptor, &operands, failed, why, sizeof why);
            cr_assert(strncmp(why, "expected ", 9) == 0);
        }
        fmha_descriptor_grid(descriptor, &operands, grid, &empty, &failed);
        fmha_descriptor_pack(descriptor, &operands, block);
    }
}

#define WRONG_HASH "lib/fmha.index: expected the bytes that its last line names, got others" CURE

Test(index, any_bit_flipped_is_refused) {
    char *text = with_line(0, NULL);
    size_t bytes = strlen(text), by_hash = 0;
    for (size_t at = 0; at < bytes; at++) {
        for (int bit = 0; bit < 8; bit++) {
            struct fmha_index *index;
            text[at] = (char)(text[at] ^ 1 << bit);
            cr_assert_eq(parse(text, bytes, &index), FMHA_ERROR_IO, "bit %d of byte %zu", bit, at);
            cr_assert_null(index);
            bool hash = strcmp(fmha_last_error(), WRONG_HASH) == 0;
            cr_assert(hash || strncmp(fmha_last_error(), "lib/fmha.index:", 15) == 0, "%s", fmha_last_error());
            by_hash += hash;
            text[at] = (char)(text[at] ^ 1 << bit);
        }
    }
    cr_assert_gt(by_hash, 100, "expected flips that make other indexes, got %zu", by_hash);
    free(text);
}

/* Another word that would do, and one that would not: the error of a line is told first. */
Test(index, hash_is_checked_after_the_lines) {
    static const struct {
        const char *from, *to, *expected;
    } cases[] = {
        {"rank -3", "rank -4", WRONG_HASH},
        {"rank -3", "rank -x", "lib/fmha.index:17: " LINE_RANK "'rank -x'" CURE},
        {"end 2", "end 1", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = with_line(0, NULL), expected[256];
        char *at = strstr(text, cases[i].from);
        cr_assert(at);
        memcpy(at, cases[i].to, strlen(cases[i].to));
        snprintf(expected, sizeof expected,
                 "lib/fmha.index:34: expected 'end 2', as many as there are instances, got 'end 1 %.16s'" CURE,
                 text + strlen(text) - HASH_BYTES + 1);
        assert_refused(text, strlen(text), cases[i].expected ? cases[i].expected : expected);
        free(text);
    }
}

/* The same with a hash that was put right, as an attacker would: an index that can be used, or an error. */
Test(index, any_bit_flipped_and_hashed_is_an_index_or_an_error) {
    char *text = with_line(0, NULL);
    size_t bytes = strlen(text);
    char *end = strstr(text, "\nend 2 ") + 1, *hash = text + bytes - HASH_BYTES;
    for (size_t at = 0; at < (size_t)(end - text); at++) {
        for (int bit = 0; bit < 8; bit++) {
            struct fmha_index *index;
            text[at] = (char)(text[at] ^ 1 << bit);
            put_hash(text, end, hash);
            if (parse(text, bytes, &index) == FMHA_OK) {
                use(index);
                fmha_index_free(index);
            } else {
                cr_assert_null(index);
                cr_assert(strncmp(fmha_last_error(), "lib/fmha.index:", 15) == 0);
                cr_assert_str_neq(fmha_last_error(), WRONG_HASH);
            }
            text[at] = (char)(text[at] ^ 1 << bit);
        }
    }
    free(text);
}

Test(index, that_does_not_fit_into_memory) {
    struct fmha_index *index;
    cr_assert_eq(fmha_index_parse("x", "", SIZE_MAX, &index), FMHA_ERROR_MEMORY);
    cr_assert_null(index);
    cr_assert_str_eq(fmha_last_error(), "x: expected an index that fits into memory, got 18446744073709551615 bytes");
}

/* The numbers of FNV's own test vectors. */
Test(index, hash) {
    cr_assert_eq(fmha_index_hash("", 0), UINT64_C(0xcbf29ce484222325));
    cr_assert_eq(fmha_index_hash("a", 1), UINT64_C(0xaf63dc4c8601ec8c));
    cr_assert_eq(fmha_index_hash("foobar", 6), UINT64_C(0x85944171f73967e8));
}

/* Instances by the thousand, as large libraries have them: names in order, shared and unshared interfaces. */
Test(index, of_many) {
    enum { COUNT = 5000 };
    size_t size = 64 + COUNT * 600;
    char *text = malloc(size), *at = text;
    cr_assert(text);
    at += sprintf(at, "fmha-index 1\nabi 1\nmade-by a test\n");
    for (int i = 0; i < COUNT; i++) {
        if (i % 5 == 0) {
            at += sprintf(at, "interface %d 8\nargument i32 batch 0\nconstraint max %d seqlen_q\n", i / 5, i);
        }
        at += sprintf(at, "instance n%05d\n", i);
        for (int line = 14; line <= 17; line++) {
            at += sprintf(at, "%s\n", lines[line]);
        }
        at += sprintf(at, "uses %d\ngrid %d\ngrid heads_q\ngrid batch\n", i / 10, i);
    }
    char *end = at;
    at += sprintf(at, "end %d", COUNT);
    at = put_hash(text, end, at);
    struct fmha_index *index;
    cr_assert_eq(parse(text, (size_t)(at - text), &index), FMHA_OK, "%s", fmha_last_error());
    cr_assert_eq(fmha_index_count(index), COUNT);
    for (int i = 0; i < COUNT; i++) {
        const struct fmha_descriptor *descriptor = fmha_index_at(index, (size_t)i);
        const int64_t values[FMHA_VALUE_COUNT] = {0};
        char name[16];
        int64_t grid;
        sprintf(name, "n%05d", i);
        cr_assert_str_eq(descriptor->name, name);
        cr_assert_eq(descriptor->interface->constraints[0].bound, i / 10 * 5);
        cr_assert(fmha_expression_evaluate(&descriptor->grid[0], values, &grid) && grid == i);
    }
    fmha_index_free(index);
    free(text);
}
