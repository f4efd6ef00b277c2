/* NAME.json, compared whole with what the manual of the format shows. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <string.h>

#include "interface.h"

static void make(struct instance *instance) {
    *instance = (struct instance){
        .workgroup = 128, .lds_bytes = 17408, .argument_count = 3, .argument_bytes = 24, .constraint_count = 2};
    struct spec *spec = &instance->spec;
    spec_init(spec);
    strcpy(spec->arch, "gfx1151");
    for (int id = 0; id < SPEC_FIELD_COUNT; id++)
        spec->value[id] = spec_fields[id].always ? 0 : spec_fields[id].neutral;
    spec->value[SPEC_HEAD_DIM] = spec->value[SPEC_HEAD_DIM_V] = 128;
    spec->value[SPEC_MASK] = 1;
    spec->value[SPEC_BLOCK_M] = 64;
    spec->value[SPEC_BLOCK_K] = 32;
    spec->value[SPEC_WAVES] = 4;
    spec->value[SPEC_V_SLICES] = 1;
    spec_name(spec, instance->name);
    strcpy(instance->grid[0], "ceil_div(seqlen_q, 64)");
    strcpy(instance->grid[1], "heads_q");
    strcpy(instance->grid[2], "batch");
    instance->arguments[0] =
        (struct argument){"q", ARGUMENT_BUFFER, "f16", "read", false, "batch seqlen_q", "stride_q 1", 0, 8, 16};
    instance->arguments[1] = (struct argument){"lse", ARGUMENT_BUFFER, "f32", "write", true, "batch", "1", 8, 8, 4};
    instance->arguments[2] = (struct argument){"stride_q", ARGUMENT_VALUE, "i64", "", false, "", "", 16, 8, 0};
    instance->constraints[0] = (struct constraint){"heads_q % heads_k", "equals", 0};
    instance->constraints[1] = (struct constraint){"stride", "max", INT64_C(9223372036854775807)};
}

static char *compact(const char *json) {
    cJSON *parsed = cJSON_Parse(json);
    cr_assert_not_null(parsed, "not JSON: %s", json);
    char *printed = cJSON_PrintUnformatted(parsed);
    cJSON_Delete(parsed);
    return printed;
}

Test(interface, holds_all_that_a_launcher_needs) {
    struct instance instance;
    struct error error;
    struct text out = {0};
    make(&instance);
    const struct resources resources = {
        .vgpr = 222, .sgpr = 40, .vgpr_spills = 1, .sgpr_spills = 2, .waves_per_simd = 6};
    const char *const flags[] = {"-O3", "-x"};
    cr_assert(interface_text(&instance, &resources, "clang version 22.1.8", flags, 2, "0123", "4567", &out, &error));
    cr_assert_eq(out.bytes[out.length - 1], '\n');
    cr_assert(strstr(out.bytes, "9223372036854775807"), "64 bits were rounded");
    char *got = compact(out.bytes);
    const char *expected =
        "{\"fmha\":1,\"symbol\":\"fmha_forward_gfx1151_f16_d128_causal_m64k32w4\",\"arch\":\"gfx1151\",\"operation\":"
        "\"forward\","
        "\"spec\":{\"dtype\":\"f16\",\"head_dim\":128,\"head_dim_v\":128,\"mask\":\"causal-bottom-right\",\"align\":16,"
        "\"orientation\":\"kq\",\"wave\":32,\"matrix\":\"16x16\",\"block_m\":64,\"block_k\":32,\"waves\":4,\"k_path\":"
        "\"lds\",\"v_path\":"
        "\"lds\","
        "\"q_path\":\"register\",\"pipeline\":1,\"gqa\":1},"
        "\"constraints\":[{\"field\":\"heads_q % "
        "heads_k\",\"equals\":0},{\"field\":\"stride\",\"max\":9.2233720368547758e+18}],"
        "\"workgroup\":[128,1,1],\"grid\":[\"ceil_div(seqlen_q, 64)\",\"heads_q\",\"batch\"],\"lds_bytes\":17408,"
        "\"lds_dynamic_bytes\":0,\"arguments\":["
        "{\"name\":\"q\",\"kind\":\"buffer\",\"dtype\":\"f16\",\"access\":\"read\",\"shape\":[\"batch\",\"seqlen_q\"],"
        "\"strides\":[\"stride_q\",\"1\"],\"offset\":0,\"size\":8,\"align\":16},"
        "{\"name\":\"lse\",\"kind\":\"buffer\",\"dtype\":\"f32\",\"access\":\"write\",\"optional\":true,\"shape\":["
        "\"batch\"],"
        "\"strides\":[\"1\"],\"offset\":8,\"size\":8,\"align\":4},"
        "{\"name\":\"stride_q\",\"kind\":\"value\",\"type\":\"i64\",\"offset\":16,\"size\":8}],\"argument_bytes\":24,"
        "\"resources\":{\"vgpr\":222,\"sgpr\":40,\"spills\":3,\"scratch_bytes\":0,\"waves_per_simd\":6},"
        "\"compiler\":\"clang version "
        "22.1.8\",\"flags\":[\"-O3\",\"-x\"],\"source_hash\":\"0123\",\"object_hash\":\"4567\"}";
    cr_assert_str_eq(got, expected, "got\n%s\nexpected\n%s", got, expected);
    cJSON_free(got);
    text_free(&out);
}

Test(interface, without_a_compiler) {
    struct instance instance;
    struct error error;
    struct text out = {0};
    make(&instance);
    strcpy(instance.spec.set[0].name, "PAD");
    strcpy(instance.spec.set[0].value, "16");
    instance.spec.set_count = 1;
    instance.spec.value[SPEC_V_LAYOUT] = 1;
    cr_assert(interface_text(&instance, NULL, NULL, NULL, 0, "0123", NULL, &out, &error));
    cr_assert(!strstr(out.bytes, "resources") && !strstr(out.bytes, "compiler") && !strstr(out.bytes, "flags"));
    char *got = compact(out.bytes);
    cr_assert(strstr(got, "\"v_layout\":\"transposed\",\"align\":16"));
    cr_assert(strstr(got, "\"gqa\":1,\"set\":{\"PAD\":\"16\"}}"));
    cJSON_free(got);
    text_free(&out);
}

/* Examples of FIPS 180-4. */
Test(interface, hashes_are_sha256) {
    char hash[INTERFACE_HASH_SIZE];
    interface_hash("abc", 3, hash);
    cr_assert_str_eq(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    interface_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hash);
    cr_assert_str_eq(hash, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}
