#include "assembly.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lines
 * ------------------------------------------------------------------------------------------------------------------ */

struct line {
    const char *label, *block_name, *instruction; /* NULL: none; not terminated */
    size_t label_length, block_name_length, instruction_length;
    bool local; /* of the label: a place inside a function */
    bool ends;  /* the function that is open ends here */
};

static bool is_symbol_character(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '@';
}

/* ".LBB0_4" of compilers, "L12" of llvm-objdump, "BB0_4" of older compilers. */
static bool is_local_label(const char *label, size_t length) {
    size_t at = 0;
    if (length > 1 && label[0] == '.') {
        return true;
    }
    if (length > 2 && label[0] == 'B' && label[1] == 'B') {
        at = 2;
    } else if (length > 1 && label[0] == 'L') {
        at = 1;
    } else {
        return false;
    }
    while (at < length && (isdigit((unsigned char)label[at]) || (label[0] == 'B' && label[at] == '_'))) {
        at++;
    }
    return at == length;
}

static size_t trim(const char **text, size_t length) {
    while (length > 0 && isspace((unsigned char)**text)) {
        (*text)++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)(*text)[length - 1])) {
        length--;
    }
    return length;
}

static size_t without_comment(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] == ';' || (text[i] == '/' && i + 1 < length && (text[i + 1] == '/' || text[i + 1] == '*'))) {
            return i;
        }
    }
    return length;
}

static bool begins(const char *text, size_t length, const char *prefix) {
    size_t size = strlen(prefix);
    return length >= size && memcmp(text, prefix, size) == 0;
}

/* "0000000000001700 <name>:" or "<L0>:". */
static bool objdump_label(const char *text, size_t length, struct line *line) {
    size_t at = 0;
    while (at < length && isxdigit((unsigned char)text[at])) {
        at++;
    }
    at += at > 0 && at < length && text[at] == ' ';
    if (at >= length || text[at] != '<' || length - at < 4 || text[length - 1] != ':' || text[length - 2] != '>') {
        return false;
    }
    line->label = text + at + 1;
    line->label_length = length - at - 3;
    return true;
}

static struct line read_line(const char *text, size_t length) {
    struct line line = {0};
    length = trim(&text, length);
    if (begins(text, length, "; %bb.")) {
        size_t end = 2;
        while (end < length && text[end] != ':') {
            end++;
        }
        line.block_name = text + 2;
        line.block_name_length = end - 2;
        return line;
    }
    length = trim(&text, without_comment(text, length));
    if (length == 0 || begins(text, length, "...")) {
        return line;
    }
    if (begins(text, length, "Disassembly of section") || begins(text, length, ".size") ||
        begins(text, length, ".section") || begins(text, length, ".end_amdgpu_metadata")) {
        line.ends = true;
        return line;
    }
    if (objdump_label(text, length, &line)) {
        line.local = is_local_label(line.label, line.label_length);
        return line;
    }
    size_t symbol = 0;
    while (symbol < length && is_symbol_character(text[symbol])) {
        symbol++;
    }
    if (symbol > 0 && symbol < length && text[symbol] == ':' && (symbol + 1 == length || text[symbol + 1] != ':')) {
        line.label = text;
        line.label_length = symbol;
        line.local = is_local_label(text, symbol);
        line.ends = begins(text, length, ".Lfunc_end");
        text += symbol + 1;
        length = trim(&text, length - symbol - 1);
    }
    if (length > 0 && (text[0] != '.' || begins(text, length, ".long"))) {
        line.instruction = text;
        line.instruction_length = length;
    }
    return line;
}

/* ---- The kernel that is wanted
 * ---------------------------------------------------------------------------------------------- */

struct range {
    const char *begin, *end;
    int first_line;
};

static bool next_line(const char **at, const char *end, const char **line, size_t *length) {
    if (*at >= end) {
        return false;
    }
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    *line = *at;
    *length = (size_t)((newline != NULL ? newline : end) - *at);
    *at = newline != NULL ? newline + 1 : end;
    return true;
}

/* A kernel is a function that holds s_endpgm; device functions return by s_setpc_b64. */
static bool find_kernel(const char *text, size_t length, const char *wanted, char symbol[256], struct range *range,
                        struct error *error) {
    const char *at = text, *end = text + length, *bytes, *name = NULL;
    size_t bytes_length, name_length = 0;
    struct range open = {0};
    char names[1024] = "";
    int number = 0, kernels = 0, taken = 0;
    bool counted = false;
    while (next_line(&at, end, &bytes, &bytes_length)) {
        number++;
        struct line line = read_line(bytes, bytes_length);
        if (line.label != NULL && !line.local) {
            name = line.label;
            name_length = line.label_length < 255 ? line.label_length : 255;
            open = (struct range){bytes, end, number};
            counted = false;
        } else if (line.ends) {
            name = NULL;
        }
        if (name == NULL || counted || line.instruction == NULL ||
            !begins(line.instruction, line.instruction_length, "s_endpgm")) {
            continue;
        }
        counted = true;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%.*s", kernels > 0 ? ", " : "", (int)name_length, name);
        kernels++;
        if (wanted == NULL || (strlen(wanted) == name_length && memcmp(wanted, name, name_length) == 0)) {
            if (taken == 0) {
                memcpy(symbol, name, name_length);
                symbol[name_length] = 0;
                *range = open;
            }
            taken++;
        }
    }
    if (kernels == 0) {
        return error_set(error, ERROR_USAGE,
                         "assembly: expected the text of an AMD GPU kernel (a label, instructions, s_endpgm), found "
                         "none in %d lines; give what clang -S or llvm-objdump -d --symbolize-operands prints",
                         number);
    }
    if (taken == 0) {
        return error_set(error, ERROR_USAGE, "assembly: expected kernel '%s', got %s; name one of those", wanted,
                         names);
    }
    if (wanted == NULL && kernels > 1) {
        return error_set(error, ERROR_USAGE, "assembly: expected one kernel, got %d: %s; name one of them", kernels,
                         names);
    }
    return true;
}

/* ---- Instructions and blocks
 * ------------------------------------------------------------------------------------------ */

struct label {
    const char *name; /* ".LBB0_4", or "%bb.3" of a comment, which names a block and is no target */
    size_t length;
    int instruction; /* the one that follows */
};

struct parse {
    struct assembly *assembly;
    struct label *labels, *sorted; /* in program order, by name */
    int label_count, label_room, instruction_room;
    int *targets; /* per instruction, and one behind the last: where a branch goes, NOWHERE */
    bool *leads;  /* likewise: a block begins here */
};

enum { NOWHERE = -1 };

static bool out_of_memory(struct error *error) {
    return error_set(error, ERROR_RUN, "assembly: out of memory; report on one kernel alone");
}

/* Makes room for one more element of *(T **)array. */
static bool grow(void *array, int count, int *room, size_t size) {
    void *old, *bigger;
    if (count < *room) {
        return true;
    }
    int wanted = *room > 0 ? *room * 2 : 64;
    memcpy(&old, array, sizeof old);
    if (*room > INT_MAX / 2 || (bigger = reallocarray(old, (size_t)wanted, size)) == NULL) {
        return false;
    }
    memcpy(array, &bigger, sizeof bigger);
    *room = wanted;
    return true;
}

static bool add_label(struct parse *parse, const char *name, size_t length) {
    if (!grow(&parse->labels, parse->label_count, &parse->label_room, sizeof *parse->labels)) {
        return false;
    }
    parse->labels[parse->label_count++] = (struct label){name, length, parse->assembly->instruction_count};
    return true;
}

/* "// 000000001A30: BE800000", as llvm-objdump adds to each instruction; 0: it does not. */
static unsigned long long address_of(const char *text, size_t length) {
    unsigned long long address = 0;
    size_t at = 0, digits = 0;
    while (at + 3 < length && memcmp(text + at, "// ", 3) != 0) {
        at++;
    }
    for (at += 3; at < length && isxdigit((unsigned char)text[at]) && digits < 16; at++, digits++) {
        int c = tolower((unsigned char)text[at]);
        address = address * 16 + (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return digits > 0 && at < length && text[at] == ':' ? address : 0;
}

static bool add_instruction(struct parse *parse, const char *text, int line, unsigned long long address) {
    struct assembly *assembly = parse->assembly;
    if (!grow(&assembly->instructions, assembly->instruction_count, &parse->instruction_room,
              sizeof *assembly->instructions)) {
        return false;
    }
    struct instruction *instruction = &assembly->instructions[assembly->instruction_count++];
    instruction_classify(text, instruction);
    instruction->line = line;
    instruction->address = address;
    return true;
}

/* The kernel's lines, copied so that each instruction is a string of its own. */
static bool read_instructions(struct parse *parse, const struct range *range, struct error *error) {
    struct assembly *assembly = parse->assembly;
    size_t length = (size_t)(range->end - range->begin), bytes_length;
    assembly->text = malloc(length + 1);
    if (assembly->text == NULL) {
        return out_of_memory(error);
    }
    memcpy(assembly->text, range->begin, length);
    assembly->text[length] = 0;
    const char *at = assembly->text, *end = at + length, *bytes;
    for (int number = range->first_line; next_line(&at, end, &bytes, &bytes_length); number++) {
        struct line line = read_line(bytes, bytes_length);
        if (line.ends || (number > range->first_line && line.label != NULL && !line.local)) {
            break;
        }
        if (line.block_name != NULL && !add_label(parse, line.block_name, line.block_name_length)) {
            return out_of_memory(error);
        }
        bool mark = begins(line.label, line.label_length, ".Ltmp") || begins(line.label, line.label_length, ".Lfunc_");
        if (line.label != NULL && line.local && !mark && !add_label(parse, line.label, line.label_length)) {
            return out_of_memory(error);
        }
        if (line.instruction != NULL) {
            char *text = assembly->text + (line.instruction - assembly->text);
            const char *behind = line.instruction + line.instruction_length;
            unsigned long long address = address_of(behind, (size_t)(bytes + bytes_length - behind));
            text[line.instruction_length] = 0; /* was a comment, a newline or the end */
            if (!add_instruction(parse, text, number, address)) {
                return out_of_memory(error);
            }
        }
    }
    return true;
}

static int compare_labels(const void *left, const void *right) {
    const struct label *a = left, *b = right;
    int order = memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

enum ending { FALLS, JUMPS, CHOOSES, LEAVES };

static enum ending ending_of(const struct instruction *instruction) {
    const char *text = instruction->text;
    if (instruction->unit != MIX_BRANCH || strncmp(text, "s_swappc", 8) == 0 || strncmp(text, "s_call", 6) == 0) {
        return FALLS; /* a call returns */
    }
    return strncmp(text, "s_branch", 8) == 0 ? JUMPS : strncmp(text, "s_cbranch_", 10) == 0 ? CHOOSES : LEAVES;
}

/* Resolves the branch's target; one that is no label of this kernel leaves it. */
static bool resolve(struct parse *parse, int branch, struct error *error) {
    const struct instruction *instruction = &parse->assembly->instructions[branch];
    const char *operand = instruction->text + instruction_mnemonic(instruction->text), *comma;
    while ((comma = strchr(operand, ',')) != NULL) {
        operand = comma + 1;
    }
    operand += strspn(operand, " \t<");
    struct label key = {operand, strcspn(operand, " \t>"), 0};
    const struct label *found = bsearch(&key, parse->sorted, (size_t)parse->label_count, sizeof key, compare_labels);
    if (found == NULL && (isdigit((unsigned char)operand[0]) || operand[0] == '-')) {
        return error_set(error, ERROR_USAGE,
                         "assembly: line %d: expected a branch to a label, got '%.80s'; disassemble with llvm-objdump "
                         "-d --symbolize-operands",
                         instruction->line, instruction->text);
    }
    parse->targets[branch] = found != NULL ? found->instruction : NOWHERE;
    return true;
}

static bool find_leaders(struct parse *parse, struct error *error) {
    size_t slots = (size_t)parse->assembly->instruction_count + 1, labels = (size_t)parse->label_count;
    parse->targets = malloc(slots * sizeof *parse->targets);
    parse->leads = calloc(slots, sizeof *parse->leads);
    parse->sorted = malloc((labels + 1) * sizeof *parse->sorted);
    if (parse->targets == NULL || parse->leads == NULL || parse->sorted == NULL) {
        return out_of_memory(error);
    }
    if (labels > 0) {
        memcpy(parse->sorted, parse->labels, labels * sizeof *parse->sorted);
        qsort(parse->sorted, labels, sizeof *parse->sorted, compare_labels);
    }
    parse->leads[0] = true;
    for (int i = 0; i < parse->assembly->instruction_count; i++) {
        enum ending ending = ending_of(&parse->assembly->instructions[i]);
        parse->targets[i] = NOWHERE;
        if ((ending == JUMPS || ending == CHOOSES) && !resolve(parse, i, error)) {
            return false;
        }
        parse->leads[i + 1] = parse->leads[i + 1] || ending != FALLS;
        if (parse->targets[i] != NOWHERE) {
            parse->leads[parse->targets[i]] = true;
        }
    }
    return true;
}

/* Names a block after the first label or comment in front of it, else after its predecessor. `label` advances. */
static void name_block(const struct parse *parse, int block, int *label) {
    struct assembly_block *blocks = parse->assembly->blocks;
    while (*label < parse->label_count && parse->labels[*label].instruction < blocks[block].first) {
        ++*label;
    }
    if (*label < parse->label_count && parse->labels[*label].instruction == blocks[block].first) {
        const struct label *name = &parse->labels[*label];
        snprintf(blocks[block].label, sizeof blocks->label, "%.*s", (int)(name->length < 60 ? name->length : 60),
                 name->name);
    } else if (block == 0) {
        snprintf(blocks[block].label, sizeof blocks->label, "entry");
    } else {
        char before[sizeof blocks->label];
        memcpy(before, blocks[block - 1].label, sizeof before);
        snprintf(blocks[block].label, sizeof blocks->label, "%.62s+", before);
    }
}

static bool make_blocks(struct parse *parse, struct error *error) {
    struct assembly *assembly = parse->assembly;
    int label = 0, *block_of = malloc(((size_t)assembly->instruction_count + 1) * sizeof *block_of);
    int count = 0;
    for (int i = 0; i < assembly->instruction_count; i++) {
        count += parse->leads[i];
    }
    assembly->blocks = calloc((size_t)count, sizeof *assembly->blocks);
    if (block_of == NULL || assembly->blocks == NULL) {
        free(block_of);
        return out_of_memory(error);
    }
    for (int i = 0; i < assembly->instruction_count; i++) {
        if (parse->leads[i]) {
            assembly->blocks[assembly->block_count] = (struct assembly_block){.first = i, .successors = {-1, -1}};
            name_block(parse, assembly->block_count++, &label);
        }
        struct assembly_block *block = &assembly->blocks[assembly->block_count - 1];
        block_of[i] = assembly->block_count - 1;
        block->count++;
        instruction_count(&assembly->instructions[i], &block->mix);
        const char *text = assembly->instructions[i].text;
        assembly->calls += strncmp(text, "s_swappc", 8) == 0 || strncmp(text, "s_call", 6) == 0;
    }
    block_of[assembly->instruction_count] = -1;
    for (int i = 0; i < assembly->block_count; i++) {
        struct assembly_block *block = &assembly->blocks[i];
        int last = block->first + block->count - 1, target = parse->targets[last];
        enum ending ending = ending_of(&assembly->instructions[last]);
        if (ending == FALLS || ending == CHOOSES) {
            block->successors[0] = block_of[last + 1];
        }
        if (target != NOWHERE) {
            block->successors[ending == JUMPS ? 0 : 1] = block_of[target];
        }
    }
    free(block_of);
    return true;
}

/* ---- Loops
 * ------------------------------------------------------------------------------------------------------------ */

struct graph {
    const struct assembly *assembly;
    int *from, *predecessors; /* of block b: predecessors[from[b]] up to from[b + 1] */
    int *sequence;            /* reachable blocks in reverse postorder */
    int reachable;
    int *dominator; /* the assembly's */
    int *stack;
    bool *member;
};

static void number_blocks(struct graph *graph, int *order) {
    const struct assembly *assembly = graph->assembly;
    int n = assembly->block_count, depth = 0, finished = 0;
    int *next = graph->dominator; /* free until the dominators are computed */
    for (int i = 0; i < n; i++) {
        order[i] = -1;
        next[i] = 0;
    }
    graph->stack[depth++] = 0;
    order[0] = -2; /* seen */
    while (depth > 0) {
        int block = graph->stack[depth - 1];
        if (next[block] < 2) {
            int successor = assembly->blocks[block].successors[next[block]++];
            if (successor >= 0 && order[successor] == -1) {
                order[successor] = -2;
                graph->stack[depth++] = successor;
            }
        } else {
            depth--;
            graph->sequence[n - ++finished] = block;
        }
    }
    memmove(graph->sequence, graph->sequence + (n - finished), (size_t)finished * sizeof *graph->sequence);
    graph->reachable = finished;
    for (int i = 0; i < finished; i++) {
        order[graph->sequence[i]] = i;
    }
}

static void collect_predecessors(struct graph *graph) {
    const struct assembly *assembly = graph->assembly;
    int n = assembly->block_count;
    for (int pass = 0; pass < 2; pass++) { /* count, then place */
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < 2; k++) {
                int successor = assembly->blocks[i].successors[k];
                if (successor >= 0 && assembly->order[i] >= 0 && pass == 0) {
                    graph->from[successor + 1]++;
                } else if (successor >= 0 && assembly->order[i] >= 0) {
                    graph->predecessors[graph->stack[successor]++] = i;
                }
            }
        }
        for (int i = 0; i < n && pass == 0; i++) {
            graph->from[i + 1] += graph->from[i];
            graph->stack[i] = graph->from[i];
        }
    }
}

/* Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm. */
static void find_dominators(struct graph *graph) {
    const int *order = graph->assembly->order;
    for (int i = 0; i < graph->assembly->block_count; i++) {
        graph->dominator[i] = -1;
    }
    graph->dominator[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 1; i < graph->reachable; i++) {
            int block = graph->sequence[i], common = -1;
            for (int k = graph->from[block]; k < graph->from[block + 1]; k++) {
                int other = graph->predecessors[k];
                if (graph->dominator[other] < 0) {
                    continue;
                }
                while (common >= 0 && common != other) {
                    if (order[common] > order[other]) {
                        common = graph->dominator[common];
                    } else {
                        other = graph->dominator[other];
                    }
                }
                common = other;
            }
            changed = changed || graph->dominator[block] != common;
            graph->dominator[block] = common;
        }
    }
}

bool assembly_dominates(const struct assembly *assembly, int above, int block) {
    while (assembly->order[block] > assembly->order[above]) {
        block = assembly->dominator[block];
    }
    return block == above;
}

static bool is_header(const struct graph *graph, int block) {
    for (int k = graph->from[block]; k < graph->from[block + 1]; k++) {
        if (assembly_dominates(graph->assembly, block, graph->predecessors[k])) {
            return true;
        }
    }
    return false;
}

/* Adds a block to the loop in graph->member; those whose predecessors are still to be added are on the stack. */
static int enter(struct graph *graph, int block, int *depth) {
    if (graph->member[block]) {
        return 0;
    }
    graph->member[block] = true;
    graph->stack[(*depth)++] = block;
    return 1;
}

/* The natural loop of all back edges to `header`, in graph->member; returns its number of blocks. */
static int collect_loop(struct graph *graph, int header) {
    int depth = 0, count = 1;
    memset(graph->member, 0, (size_t)graph->assembly->block_count * sizeof *graph->member);
    graph->member[header] = true;
    for (int k = graph->from[header]; k < graph->from[header + 1]; k++) {
        if (assembly_dominates(graph->assembly, header, graph->predecessors[k])) {
            count += enter(graph, graph->predecessors[k], &depth);
        }
    }
    while (depth > 0) {
        int block = graph->stack[--depth];
        for (int k = graph->from[block]; k < graph->from[block + 1]; k++) {
            count += enter(graph, graph->predecessors[k], &depth);
        }
    }
    return count;
}

static int compare_blocks(const void *left, const void *right) {
    return *(const int *)left - *(const int *)right;
}

static bool holds_block(const struct assembly_loop *loop, int block) {
    return bsearch(&block, loop->blocks, (size_t)loop->block_count, sizeof block, compare_blocks) != NULL;
}

/* Around each loop the smallest other one that holds its header; headers differ, so equal sizes cannot nest. */
static void nest_loops(struct assembly *assembly) {
    for (int i = 0; i < assembly->loop_count; i++) {
        struct assembly_loop *loop = &assembly->loops[i];
        for (int k = 0; k < assembly->loop_count; k++) {
            const struct assembly_loop *other = &assembly->loops[k];
            if (k != i && holds_block(other, loop->header) &&
                (loop->parent < 0 || other->block_count < assembly->loops[loop->parent].block_count)) {
                loop->parent = k;
            }
        }
    }
    for (int i = 0; i < assembly->loop_count; i++) {
        for (int k = i; k >= 0; k = assembly->loops[k].parent) {
            assembly->loops[i].depth++;
        }
    }
}

static bool loop_holds(const struct assembly *assembly, int loop, enum mix_id id) {
    bool holds = false;
    for (int k = 0; k < assembly->loops[loop].block_count; k++) {
        holds = holds || assembly->blocks[assembly->loops[loop].blocks[k]].mix.count[id] > 0;
    }
    return holds;
}

bool assembly_innermost(const struct assembly *assembly, int loop, enum mix_id id) {
    bool innermost = loop_holds(assembly, loop, id);
    for (int i = 0; i < assembly->loop_count && innermost; i++) {
        innermost = assembly->loops[i].parent != loop || !loop_holds(assembly, i, id);
    }
    return innermost;
}

static bool find_loops(struct graph *graph, struct assembly *assembly) {
    int room = 0;
    for (int header = 0; header < assembly->block_count; header++) {
        if (!is_header(graph, header)) {
            continue;
        }
        int count = collect_loop(graph, header);
        if (!grow(&assembly->loops, assembly->loop_count, &room, sizeof *assembly->loops)) {
            return false;
        }
        struct assembly_loop *loop = &assembly->loops[assembly->loop_count++];
        *loop = (struct assembly_loop){.header = header, .parent = -1};
        loop->blocks = malloc((size_t)count * sizeof *loop->blocks);
        if (loop->blocks == NULL) {
            return false;
        }
        for (int block = 0; block < assembly->block_count; block++) {
            if (graph->member[block]) {
                loop->blocks[loop->block_count++] = block;
            }
        }
    }
    nest_loops(assembly);
    return true;
}

static bool analyse(struct assembly *assembly) {
    size_t n = (size_t)assembly->block_count;
    assembly->order = malloc(n * sizeof(int));
    assembly->dominator = malloc(n * sizeof(int));
    struct graph graph = {.assembly = assembly,
                          .from = calloc(n + 1, sizeof(int)),
                          .predecessors = malloc(2 * n * sizeof(int)),
                          .sequence = malloc(n * sizeof(int)),
                          .dominator = assembly->dominator,
                          .stack = malloc(n * sizeof(int)),
                          .member = malloc(n * sizeof(bool))};
    bool good = graph.from && graph.predecessors && graph.sequence && graph.dominator && graph.stack && graph.member &&
                assembly->order;
    if (good) {
        number_blocks(&graph, assembly->order);
        collect_predecessors(&graph);
        find_dominators(&graph);
        good = find_loops(&graph, assembly);
    }
    free(graph.from);
    free(graph.predecessors);
    free(graph.sequence);
    free(graph.stack);
    free(graph.member);
    return good;
}

bool assembly_parse(const char *text, size_t length, const char *symbol, struct assembly *assembly,
                    struct error *error) {
    struct range range;
    struct parse parse = {.assembly = assembly};
    memset(assembly, 0, sizeof *assembly);
    if (!find_kernel(text, length, symbol, assembly->symbol, &range, error)) {
        return false;
    }
    bool good = read_instructions(&parse, &range, error) && find_leaders(&parse, error) && make_blocks(&parse, error);
    if (good && !analyse(assembly)) {
        good = out_of_memory(error);
    }
    free(parse.labels);
    free(parse.sorted);
    free(parse.targets);
    free(parse.leads);
    if (!good) {
        assembly_free(assembly);
    }
    return good;
}

void assembly_free(struct assembly *assembly) {
    for (int i = 0; i < assembly->loop_count; i++) {
        free(assembly->loops[i].blocks);
    }
    free(assembly->text);
    free(assembly->instructions);
    free(assembly->blocks);
    free(assembly->order);
    free(assembly->dominator);
    free(assembly->loops);
    memset(assembly, 0, sizeof *assembly);
}
