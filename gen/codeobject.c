#include "codeobject.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cubin.h"
#include "msgpack.h"

/* ---- Facts ----------------------------------------------------------------------------------------------------------
 */

/* Low byte of e_flags, for objects whose note does not name the target (LLVM's EF_AMDGPU_MACH_*). */
static const struct {
    uint8_t machine;
    const char *target;
} machines[] = {
    {0x2c, "gfx900"},        {0x2d, "gfx902"},         {0x2e, "gfx904"},          {0x2f, "gfx906"},
    {0x30, "gfx908"},        {0x31, "gfx909"},         {0x32, "gfx90c"},          {0x33, "gfx1010"},
    {0x34, "gfx1011"},       {0x35, "gfx1012"},        {0x36, "gfx1030"},         {0x37, "gfx1031"},
    {0x38, "gfx1032"},       {0x39, "gfx1033"},        {0x3d, "gfx1035"},         {0x3e, "gfx1034"},
    {0x3f, "gfx90a"},        {0x41, "gfx1100"},        {0x42, "gfx1013"},         {0x43, "gfx1150"},
    {0x44, "gfx1103"},       {0x45, "gfx1036"},        {0x46, "gfx1101"},         {0x47, "gfx1102"},
    {0x48, "gfx1200"},       {0x49, "gfx1250"},        {0x4a, "gfx1151"},         {0x4c, "gfx942"},
    {0x4e, "gfx1201"},       {0x4f, "gfx950"},         {0x51, "gfx9-generic"},    {0x52, "gfx10-1-generic"},
    {0x55, "gfx1152"},       {0x58, "gfx1153"},        {0x53, "gfx10-3-generic"}, {0x54, "gfx11-generic"},
    {0x59, "gfx12-generic"}, {0x5f, "gfx9-4-generic"},
};

/* Vector registers of one SIMD: how many there are for a wave of 32 (of 64 where that is the only one) and in which
 * steps they are handed out. Wave64 on chips that have both sees half of each. And the LDS that a workgroup's waves
 * share, and its steps. The longest matching prefix counts. */
static const struct register_file {
    const char *prefix;
    int total, granule, waves_max;
    bool wave64_only;
    int lds_kib, lds_granule;
} register_files[] = {
    {"gfx9", 256, 4, 10, true, 64, 512},
    {"gfx90a", 512, 8, 8, true, 64, 512},
    {"gfx94", 512, 8, 8, true, 64, 512},
    {"gfx95", 512, 8, 8, true, 160, 1280},
    {"gfx9-4-generic", 512, 8, 8, true, 64, 512},
    {"gfx101", 1024, 8, 20, false, 128, 512},
    {"gfx10-1", 1024, 8, 20, false, 128, 512},
    {"gfx103", 1024, 16, 16, false, 128, 512},
    {"gfx10-3", 1024, 16, 16, false, 128, 512},
    {"gfx11", 1024, 16, 16, false, 128, 512},
    {"gfx1100", 1536, 24, 16, false, 128, 512},
    {"gfx1101", 1536, 24, 16, false, 128, 512},
    {"gfx1151", 1536, 24, 16, false, 128, 512},
    {"gfx120", 1536, 24, 16, false, 128, 512},
    {"gfx12-generic", 1536, 24, 16, false, 128, 512},
    {"sm_80", 512, 8, 16, false, 164, 128},
    {"sm_89", 512, 8, 12, false, 100, 128},
    {"sm_90", 512, 8, 16, false, 228, 128},
};

static const struct register_file *file_of(const char *target) {
    const struct register_file *file = NULL;
    size_t best = 0;
    for (size_t i = 0; i < sizeof register_files / sizeof *register_files; i++) {
        size_t length = strlen(register_files[i].prefix);
        if (length > best && strncmp(target, register_files[i].prefix, length) == 0) {
            file = &register_files[i];
            best = length;
        }
    }
    return file;
}

int codeobject_usual_wave(const char *target) {
    const struct register_file *file = file_of(target);
    return file != NULL && file->wave64_only ? 64 : 32;
}

bool codeobject_unified_file(const char *target) {
    const struct register_file *file = file_of(target);
    return file != NULL && file->wave64_only && file->total == 512;
}

int codeobject_waves_per_simd(const char *target, int wave, int vgpr) {
    const struct register_file *file = file_of(target);
    if (file == NULL || (wave != 64 && (wave != 32 || file->wave64_only)) || vgpr < 0) {
        return 0;
    }
    int halves = wave == 64 && !file->wave64_only ? 2 : 1;
    int granule = file->granule / halves, total = file->total / halves;
    if (vgpr > total) {
        return 0;
    }
    int allocated = vgpr == 0 ? granule : (vgpr + granule - 1) / granule * granule;
    int waves = total / allocated;
    return waves > file->waves_max ? file->waves_max : waves;
}

/* What a workgroup's waves share: on RDNA a workgroup processor (two compute units, unless compiled with -mcumode), on
 * other chips a compute unit. Both have four SIMDs. A workgroup of several waves takes one of the unit's barriers. */
enum { SIMDS = 4, BARRIERS_OF_COMPUTE_UNIT = 16 };

static int smaller(int left, int right) {
    return left < right ? left : right;
}

void resources_set_waves(struct resources *resources) {
    const struct register_file *file = file_of(resources->target);
    resources->waves_by_lds = resources->waves_per_simd = 0;
    if (file == NULL || resources->waves_by_vgpr == 0 || resources->workgroup_max < 1 || resources->lds_bytes < 0) {
        resources->waves_per_simd = resources->waves_by_vgpr;
        return;
    }
    int lds_bytes = file->lds_kib << 10, granule = file->lds_granule;
    int waves = (resources->workgroup_max - 1) / resources->wave + 1;
    int groups = resources->waves_by_vgpr * SIMDS / waves;
    if (waves > 1) {
        groups = smaller(groups, file->wave64_only ? BARRIERS_OF_COMPUTE_UNIT : 2 * BARRIERS_OF_COMPUTE_UNIT);
    }
    if (resources->lds_bytes > 0) {
        int steps = (resources->lds_bytes - 1) / granule + 1;
        int groups_by_lds = smaller(lds_bytes / granule / steps, file->waves_max * SIMDS);
        resources->waves_by_lds = smaller((groups_by_lds * waves + SIMDS - 1) / SIMDS, file->waves_max);
        groups = smaller(groups, groups_by_lds);
    }
    resources->waves_per_simd = (groups * waves + SIMDS - 1) / SIMDS;
}

/* ---- The kernels of one object
 * ----------------------------------------------------------------------------------------- */

static const struct {
    const char *key;
    size_t offset;
} number_keys[] = {
    {".vgpr_count", offsetof(struct resources, vgpr)},
    {".agpr_count", offsetof(struct resources, agpr)},
    {".sgpr_count", offsetof(struct resources, sgpr)},
    {".vgpr_spill_count", offsetof(struct resources, vgpr_spills)},
    {".sgpr_spill_count", offsetof(struct resources, sgpr_spills)},
    {".private_segment_fixed_size", offsetof(struct resources, scratch_bytes)},
    {".group_segment_fixed_size", offsetof(struct resources, lds_bytes)},
    {".kernarg_segment_size", offsetof(struct resources, kernarg_bytes)},
    {".wavefront_size", offsetof(struct resources, wave)},
    {".max_flat_workgroup_size", offsetof(struct resources, workgroup_max)},
};

struct search {
    const char *symbol;    /* wanted; NULL: the only one */
    struct resources *out; /* of the kernel that was taken */
    char target[64];
    char names[1024]; /* of all kernels, for the message */
    int kernels, taken;
};

/* Location of a number that the report wants, NULL: of no interest. */
static int *number_of(struct resources *kernel, const char *key, size_t length) {
    for (size_t i = 0; i < sizeof number_keys / sizeof *number_keys; i++) {
        if (strlen(number_keys[i].key) == length && memcmp(number_keys[i].key, key, length) == 0) {
            return (int *)(void *)((char *)kernel + number_keys[i].offset);
        }
    }
    return NULL;
}

static bool same(const char *text, size_t length, const char *literal) {
    return strlen(literal) == length && memcmp(text, literal, length) == 0;
}

static void copy_text(char *to, size_t size, const char *from, size_t length) {
    size_t kept = length < size ? length : size - 1;
    memcpy(to, from, kept);
    to[kept] = 0;
}

/* The symbol of a kernel is that of its descriptor, "NAME.kd", without the suffix; ".name" is the same in all but old
 * objects. */
static void note_symbol(struct resources *kernel, const char *key, size_t key_length, const char *value,
                        size_t length) {
    if (same(key, key_length, ".symbol") && length > 3 && memcmp(value + length - 3, ".kd", 3) == 0) {
        copy_text(kernel->symbol, sizeof kernel->symbol, value, length - 3);
    } else if (same(key, key_length, ".name") && kernel->symbol[0] == 0) {
        copy_text(kernel->symbol, sizeof kernel->symbol, value, length);
    }
}

static void search_offer(struct search *search, const struct resources *kernel) {
    size_t used = strlen(search->names);
    snprintf(search->names + used, sizeof search->names - used, "%s%s", search->kernels > 0 ? ", " : "",
             kernel->symbol);
    search->kernels++;
    if (search->symbol == NULL || strcmp(search->symbol, kernel->symbol) == 0) {
        if (search->taken == 0) {
            *search->out = *kernel;
        }
        search->taken++;
    }
}

/* "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-" to the part after the double hyphen. */
static void search_target(struct search *search, const char *value, size_t length) {
    size_t start = 0;
    for (size_t i = 0; i + 1 < length; i++) {
        if (value[i] == '-' && value[i + 1] == '-') {
            start = i + 2;
        }
    }
    copy_text(search->target, sizeof search->target, value + start, length - start);
}

static void set_waves(struct resources *out) {
    out->waves_by_vgpr = codeobject_waves_per_simd(out->target, out->wave, out->vgpr);
    resources_set_waves(out);
}

static bool search_finish(struct search *search, struct error *error) {
    struct resources *out = search->out;
    if (search->kernels == 0) {
        memset(out, 0, sizeof *out);
        return error_set(error, ERROR_USAGE,
                         "code object: expected a kernel, its metadata lists none; compile a kernel for the device");
    }
    if (search->taken == 0) {
        memset(out, 0, sizeof *out);
        return error_set(error, ERROR_USAGE, "code object: expected kernel '%s', got %s; name one of those",
                         search->symbol, search->names);
    }
    if (search->symbol == NULL && search->kernels > 1) {
        memset(out, 0, sizeof *out);
        return error_set(error, ERROR_USAGE, "code object: expected one kernel, got %d: %s; name one of them",
                         search->kernels, search->names);
    }
    if (out->wave != 32 && out->wave != 64) {
        int wave = out->wave;
        memset(out, 0, sizeof *out);
        return error_set(error, ERROR_USAGE, "code object: expected .wavefront_size 32 or 64, got %d; compile it again",
                         wave);
    }
    memcpy(out->target, search->target, sizeof out->target);
    set_waves(out);
    return true;
}

/* ---- Metadata -------------------------------------------------------------------------------------------------------
 */

static bool read_kernel(struct msgpack_reader *reader, struct search *search) {
    struct msgpack_item map, key, value;
    struct resources kernel = {0};
    if (!msgpack_next(reader, &map) || map.kind != MSGPACK_MAP) {
        return false;
    }
    for (uint64_t i = 0; i < map.number; i++) {
        if (!msgpack_next(reader, &key) || key.kind != MSGPACK_STRING || !msgpack_next(reader, &value)) {
            return false;
        }
        int *number = number_of(&kernel, key.text, key.length);
        if (number != NULL) {
            if (value.kind != MSGPACK_NUMBER || value.number > INT_MAX) {
                return false;
            }
            *number = (int)value.number;
        } else if (value.kind == MSGPACK_STRING) {
            note_symbol(&kernel, key.text, key.length, value.text, value.length);
        } else if (!msgpack_skip(reader, &value)) {
            return false;
        }
    }
    search_offer(search, &kernel);
    return true;
}

static bool read_metadata(struct msgpack_reader reader, struct search *search) {
    struct msgpack_item map, key, value;
    if (!msgpack_next(&reader, &map) || map.kind != MSGPACK_MAP) {
        return false;
    }
    for (uint64_t i = 0; i < map.number; i++) {
        if (!msgpack_next(&reader, &key) || key.kind != MSGPACK_STRING || !msgpack_next(&reader, &value)) {
            return false;
        }
        if (same(key.text, key.length, "amdhsa.kernels") && value.kind == MSGPACK_ARRAY) {
            for (uint64_t k = 0; k < value.number; k++) {
                if (!read_kernel(&reader, search)) {
                    return false;
                }
            }
        } else if (same(key.text, key.length, "amdhsa.target") && value.kind == MSGPACK_STRING) {
            search_target(search, value.text, value.length);
        } else if (!msgpack_skip(&reader, &value)) {
            return false;
        }
    }
    return true;
}

/* ---- ELF
 * ---------------------------------------------------------------------------------------------------------------- */

static bool within(size_t length, uint64_t offset, uint64_t size) {
    return offset <= length && size <= length - offset;
}

static bool cut_short(struct error *error, const char *what, uint64_t offset, uint64_t size, size_t length) {
    return error_set(error, ERROR_USAGE,
                     "code object: %s: expected %llu bytes at offset %llu, got a file of %zu bytes; it is cut short or "
                     "damaged: compile it again",
                     what, (unsigned long long)size, (unsigned long long)offset, length);
}

/* Finds the metadata in one run of notes. */
static bool find_note(const uint8_t *notes, size_t length, struct msgpack_reader *metadata) {
    size_t at = 0;
    while (length - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        memcpy(&note, notes + at, sizeof note);
        at += sizeof note;
        uint64_t name = ((uint64_t)note.n_namesz + 3) / 4 * 4, content = ((uint64_t)note.n_descsz + 3) / 4 * 4;
        if (name > length - at || note.n_descsz > length - at - name) {
            return false;
        }
        if (note.n_type == 32 /* NT_AMDGPU_METADATA */ && note.n_namesz == 7 && memcmp(notes + at, "AMDGPU", 7) == 0) {
            metadata->at = notes + at + name;
            metadata->end = metadata->at + note.n_descsz;
            return true;
        }
        at = content > length - at - name ? length : at + name + content;
    }
    return false;
}

/* Linked objects have their notes in a program header, relocatable ones in a section alone. */
static bool find_metadata(const uint8_t *bytes, size_t length, const Elf64_Ehdr *header,
                          struct msgpack_reader *metadata, struct error *error) {
    if (header->e_phnum > 0) {
        uint64_t size = (uint64_t)header->e_phnum * header->e_phentsize;
        if (header->e_phentsize != sizeof(Elf64_Phdr) || !within(length, header->e_phoff, size)) {
            return cut_short(error, "program headers", header->e_phoff, size, length);
        }
        for (size_t i = 0; i < header->e_phnum; i++) {
            Elf64_Phdr segment;
            memcpy(&segment, bytes + header->e_phoff + i * sizeof segment, sizeof segment);
            if (segment.p_type == PT_NOTE) {
                if (!within(length, segment.p_offset, segment.p_filesz)) {
                    return cut_short(error, "notes", segment.p_offset, segment.p_filesz, length);
                }
                if (find_note(bytes + segment.p_offset, (size_t)segment.p_filesz, metadata)) {
                    return true;
                }
            }
        }
    } else if (header->e_shnum > 0) {
        uint64_t size = (uint64_t)header->e_shnum * header->e_shentsize;
        if (header->e_shentsize != sizeof(Elf64_Shdr) || !within(length, header->e_shoff, size)) {
            return cut_short(error, "section headers", header->e_shoff, size, length);
        }
        for (size_t i = 0; i < header->e_shnum; i++) {
            Elf64_Shdr section;
            memcpy(&section, bytes + header->e_shoff + i * sizeof section, sizeof section);
            if (section.sh_type == SHT_NOTE) {
                if (!within(length, section.sh_offset, section.sh_size)) {
                    return cut_short(error, "notes", section.sh_offset, section.sh_size, length);
                }
                if (find_note(bytes + section.sh_offset, (size_t)section.sh_size, metadata)) {
                    return true;
                }
            }
        }
    }
    return error_set(error, ERROR_USAGE,
                     "code object: expected an AMDGPU metadata note (code object version 3 and later), found none; "
                     "compile it with a current compiler, unstripped");
}

static void target_from_flags(const Elf64_Ehdr *header, char target[64]) {
    static const char *const xnack[] = {"", "", ":xnack-", ":xnack+"};
    static const char *const sramecc[] = {"", "", ":sramecc-", ":sramecc+"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        if (machines[i].machine == (header->e_flags & 0xff)) {
            snprintf(target, 64, "%s%s%s", machines[i].target, sramecc[header->e_flags >> 10 & 3],
                     xnack[header->e_flags >> 8 & 3]);
        }
    }
}

bool codeobject_is_elf(const void *bytes, size_t length) {
    return length >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0;
}

static bool read_header(const uint8_t *bytes, size_t length, Elf64_Ehdr *header, struct error *error) {
    static const char bundle[] = "__CLANG_OFFLOAD_BUNDLE__";
    if ((length >= sizeof bundle - 1 && memcmp(bytes, bundle, sizeof bundle - 1) == 0) ||
        (length >= 4 && memcmp(bytes, "CCOB", 4) == 0)) {
        return error_set(error, ERROR_USAGE,
                         "code object: expected a bare ELF file, got a clang offload bundle; compile with "
                         "--no-gpu-bundle-output or take the chip's part out with clang-offload-bundler --unbundle");
    }
    if (!codeobject_is_elf(bytes, length)) {
        return error_set(error, ERROR_USAGE,
                         "code object: expected an ELF file, got %zu bytes of something else; give a code object "
                         "as fmhagen build or clang --offload-device-only writes it",
                         length);
    }
    if (length < sizeof *header) {
        return cut_short(error, "ELF header", 0, sizeof *header, length);
    }
    memcpy(header, bytes, sizeof *header);
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        (header->e_machine != EM_AMDGPU && header->e_machine != EM_CUDA)) {
        return error_set(error, ERROR_USAGE,
                         "code object: expected an ELF file for AMD GPUs (machine 224, 64-bit, little endian), got "
                         "machine %d, class %d, byte order %d; compile with --offload-device-only",
                         header->e_machine, header->e_ident[EI_CLASS], header->e_ident[EI_DATA]);
    }
    return true;
}

bool codeobject_resources(const void *bytes, size_t length, const char *symbol, struct resources *resources,
                          struct error *error) {
    Elf64_Ehdr header;
    struct msgpack_reader metadata;
    struct search search = {.symbol = symbol, .out = resources};
    memset(resources, 0, sizeof *resources);
    if (!read_header(bytes, length, &header, error)) {
        return false;
    }
    if (header.e_machine == EM_CUDA) {
        if (!cubin_resources(bytes, length, &header, symbol, resources, error)) {
            return false;
        }
        set_waves(resources);
        return true;
    }
    if (!find_metadata(bytes, length, &header, &metadata, error)) {
        return false;
    }
    if (!read_metadata(metadata, &search)) {
        memset(resources, 0, sizeof *resources);
        return error_set(error, ERROR_USAGE,
                         "code object: metadata note of %zu bytes: expected MessagePack with amdhsa.kernels, got "
                         "something else; it is damaged: compile it again",
                         (size_t)(metadata.end - metadata.at));
    }
    if (search.target[0] == 0) {
        target_from_flags(&header, search.target);
    }
    return search_finish(&search, error);
}

/* ---- Assembly text
 * ------------------------------------------------------------------------------------------------------ */

static const char metadata_begin[] = ".amdgpu_metadata", metadata_end[] = ".end_amdgpu_metadata";

bool codeobject_has_metadata(const char *text, size_t length) {
    return memmem(text, length, metadata_begin, sizeof metadata_begin - 1) != NULL;
}

/* A line of the YAML that LLVM prints: "    .key:   value". False for a line of another form. */
static bool split_line(const char *line, size_t length, size_t *indent, bool *item, const char **key,
                       size_t *key_length, const char **value, size_t *value_length) {
    size_t at = 0;
    while (at < length && line[at] == ' ') {
        at++;
    }
    *indent = at;
    *item = at + 1 < length && line[at] == '-' && line[at + 1] == ' ';
    at += *item ? 2 : 0;
    const char *colon = memchr(line + at, ':', length - at);
    if (colon == NULL) {
        return false;
    }
    *key = line + at;
    *key_length = (size_t)(colon - *key);
    at = (size_t)(colon - line) + 1;
    while (at < length && line[at] == ' ') {
        at++;
    }
    while (length > at && (line[length - 1] == '\r' || line[length - 1] == ' ')) {
        length--;
    }
    if (length - at >= 2 && (line[at] == '\'' || line[at] == '"') && line[length - 1] == line[at]) {
        at++;
        length--;
    }
    *value = line + at;
    *value_length = length - at;
    return true;
}

static bool parse_number(const char *value, size_t length, int *number) {
    int64_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        if (value[i] < '0' || value[i] > '9' || (sum = sum * 10 + (value[i] - '0')) > INT_MAX) {
            return false;
        }
    }
    *number = (int)sum;
    return length > 0;
}

bool codeobject_resources_assembly(const char *text, size_t length, const char *symbol, struct resources *resources,
                                   struct error *error) {
    struct search search = {.symbol = symbol, .out = resources};
    struct resources kernel = {0};
    bool in_kernels = false, in_kernel = false;
    size_t kernel_indent = 0;
    memset(resources, 0, sizeof *resources);
    const char *at = memmem(text, length, metadata_begin, sizeof metadata_begin - 1), *end = text + length;
    if (at == NULL) {
        return error_set(error, ERROR_USAGE,
                         "assembly: expected .amdgpu_metadata, found none; give what the compiler wrote, not its "
                         "disassembly");
    }
    const char *stop = memmem(at, (size_t)(end - at), metadata_end, sizeof metadata_end - 1);
    end = stop != NULL ? stop : end;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *line = at, *key, *value;
        size_t line_length = (size_t)((newline != NULL ? newline : end) - line), indent, key_length, value_length;
        bool item;
        at = newline != NULL ? newline + 1 : end;
        if (!split_line(line, line_length, &indent, &item, &key, &key_length, &value, &value_length)) {
            continue;
        }
        if (in_kernel && ((item && indent == kernel_indent) || (!item && indent <= kernel_indent))) {
            search_offer(&search, &kernel);
            in_kernel = false;
        }
        if (indent == 0 && !item) {
            in_kernels = same(key, key_length, "amdhsa.kernels");
            if (same(key, key_length, "amdhsa.target")) {
                search_target(&search, value, value_length);
            }
            continue;
        }
        if (in_kernels && !in_kernel && item) {
            in_kernel = true;
            kernel_indent = indent;
            memset(&kernel, 0, sizeof kernel);
        }
        if (!in_kernel || indent + (item ? 2 : 0) != kernel_indent + 2) {
            continue; /* an argument of the kernel, or another list */
        }
        int *number = number_of(&kernel, key, key_length);
        if (number == NULL) {
            note_symbol(&kernel, key, key_length, value, value_length);
        } else if (!parse_number(value, value_length, number)) {
            memset(resources, 0, sizeof *resources);
            return error_set(error, ERROR_USAGE,
                             "assembly: metadata: expected a number for %.*s, got '%.*s'; give what the compiler wrote",
                             (int)key_length, key, (int)(value_length > 64 ? 64 : value_length), value);
        }
    }
    if (in_kernel) {
        search_offer(&search, &kernel);
    }
    static const char directive[] = ".amdgcn_target \"";
    const char *target = memmem(text, length, directive, sizeof directive - 1);
    if (search.target[0] == 0 && target != NULL) {
        const char *name = target + sizeof directive - 1, *quote = memchr(name, '"', (size_t)(text + length - name));
        search_target(&search, name, quote != NULL ? (size_t)(quote - name) : 0);
    }
    return search_finish(&search, error);
}

/* ---- Spills
 * --------------------------------------------------------------------------------------------------------------- */

bool resources_clean(const struct resources *resources, struct error *error) {
    if (resources->vgpr_spills == 0 && resources->sgpr_spills == 0 && resources->scratch_bytes == 0) {
        return true;
    }
    return error_set(
        error, ERROR_RUN,
        "%s: expected no spills and no scratch memory, got %d spilled VGPRs, %d spilled SGPRs and %d bytes "
        "of scratch per work item with %d VGPRs on %s; take smaller tiles (--block-m, --block-k), more "
        "waves for the same tile (--waves), or Q in LDS (--q-path lds)",
        resources->symbol, resources->vgpr_spills, resources->sgpr_spills, resources->scratch_bytes, resources->vgpr,
        resources->target);
}
