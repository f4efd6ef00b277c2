/* What programs that were compiled against an earlier header rely on. A failure here is a broken promise (fmha.h), not
 * a number to correct: fields are appended, numbers are never reused. */
#include <criterion/criterion.h>
#include <stddef.h>

#include "fmha.h"

#define EXPECT_OFFSET(type, member, offset)                                                                            \
    cr_expect_eq(offsetof(type, member), (size_t)(offset), #type "." #member " has moved to %zu",                      \
                 offsetof(type, member))

Test(abi, numbers_of_statuses) {
    const fmha_status statuses[] = {FMHA_OK,
                                    FMHA_ERROR_ARGUMENT,
                                    FMHA_ERROR_NO_DRIVER,
                                    FMHA_ERROR_NO_DEVICE,
                                    FMHA_ERROR_WRONG_CHIP,
                                    FMHA_ERROR_NO_COMPILER,
                                    FMHA_ERROR_COMPILE,
                                    FMHA_ERROR_MEMORY,
                                    FMHA_ERROR_IO,
                                    FMHA_ERROR_DRIVER,
                                    FMHA_ERROR_UNSUPPORTED,
                                    FMHA_ERROR_KERNEL,
                                    FMHA_ERROR_NO_INSTANCE};
    for (int i = 0; i < 13; i++) {
        cr_expect_eq((int)statuses[i], i);
    }
    cr_expect_eq(sizeof(fmha_status), 4);
}

Test(abi, numbers_of_words) {
    cr_expect_eq(FMHA_DTYPE_F16, 1);
    cr_expect_eq(FMHA_DTYPE_BF16, 2);
    cr_expect_eq(FMHA_DTYPE_F32, 3);
    cr_expect_eq(FMHA_MASK_NONE, 0);
    cr_expect_eq(FMHA_MASK_CAUSAL_BOTTOM_RIGHT, 1);
    cr_expect_eq(FMHA_MASK_CAUSAL_TOP_LEFT, 2);
    cr_expect_eq(FMHA_V_ROW, 0);
    cr_expect_eq(FMHA_V_TRANSPOSED, 1);
    cr_expect_eq(FMHA_VARLEN_NONE, 0);
    cr_expect_eq(FMHA_VARLEN_PACKED, 1);
    cr_expect_eq(FMHA_VARLEN_PADDED, 2);
    cr_expect_eq(FMHA_IMAGE_CODE_OBJECT, 0);
    cr_expect_eq(FMHA_IMAGE_HOST_OBJECT, 1);
    cr_expect_eq(FMHA_ACCESS_READ, 1);
    cr_expect_eq(FMHA_ACCESS_WRITE, 2);
    cr_expect_eq(FMHA_ACCESS_READ_WRITE, 3);
}

Test(abi, tensors) {
    EXPECT_OFFSET(fmha_tensor, data, 0);
    EXPECT_OFFSET(fmha_tensor, stride_batch, 8);
    EXPECT_OFFSET(fmha_tensor, stride_head, 16);
    EXPECT_OFFSET(fmha_tensor, stride_row, 24);
    cr_expect_eq(sizeof(fmha_tensor), 32);
}

Test(abi, forward_problem) {
    EXPECT_OFFSET(fmha_forward_problem, struct_bytes, 0);
    EXPECT_OFFSET(fmha_forward_problem, dtype, 8);
    EXPECT_OFFSET(fmha_forward_problem, mask, 12);
    EXPECT_OFFSET(fmha_forward_problem, v_layout, 16);
    EXPECT_OFFSET(fmha_forward_problem, head_dim, 20);
    EXPECT_OFFSET(fmha_forward_problem, head_dim_v, 24);
    EXPECT_OFFSET(fmha_forward_problem, scale, 28);
    EXPECT_OFFSET(fmha_forward_problem, batch, 32);
    EXPECT_OFFSET(fmha_forward_problem, heads_q, 40);
    EXPECT_OFFSET(fmha_forward_problem, heads_k, 48);
    EXPECT_OFFSET(fmha_forward_problem, seqlen_q, 56);
    EXPECT_OFFSET(fmha_forward_problem, seqlen_k, 64);
    EXPECT_OFFSET(fmha_forward_problem, q, 72);
    EXPECT_OFFSET(fmha_forward_problem, k, 104);
    EXPECT_OFFSET(fmha_forward_problem, v, 136);
    EXPECT_OFFSET(fmha_forward_problem, o, 168);
    EXPECT_OFFSET(fmha_forward_problem, lse, 200);
    EXPECT_OFFSET(fmha_forward_problem, workspace, 208);
    EXPECT_OFFSET(fmha_forward_problem, workspace_bytes, 216);
    EXPECT_OFFSET(fmha_forward_problem, stream, 224);
    EXPECT_OFFSET(fmha_forward_problem, window, 232);
    EXPECT_OFFSET(fmha_forward_problem, window_left, 236);
    EXPECT_OFFSET(fmha_forward_problem, window_right, 240);
    EXPECT_OFFSET(fmha_forward_problem, sink_keys, 244);
    EXPECT_OFFSET(fmha_forward_problem, softcap, 248);
    EXPECT_OFFSET(fmha_forward_problem, dropout, 252);
    EXPECT_OFFSET(fmha_forward_problem, varlen, 256);
    EXPECT_OFFSET(fmha_forward_problem, page_size, 260);
    EXPECT_OFFSET(fmha_forward_problem, block_mask_q, 264);
    EXPECT_OFFSET(fmha_forward_problem, block_mask_k, 268);
    EXPECT_OFFSET(fmha_forward_problem, bias_dtype, 272);
    EXPECT_OFFSET(fmha_forward_problem, modifier, 276);
    EXPECT_OFFSET(fmha_forward_problem, prefix_lengths, 280);
    EXPECT_OFFSET(fmha_forward_problem, alibi_slopes, 288);
    EXPECT_OFFSET(fmha_forward_problem, sink, 296);
    EXPECT_OFFSET(fmha_forward_problem, head_scale, 304);
    EXPECT_OFFSET(fmha_forward_problem, cu_seqlens_q, 312);
    EXPECT_OFFSET(fmha_forward_problem, cu_seqlens_k, 320);
    EXPECT_OFFSET(fmha_forward_problem, seqlens_q, 328);
    EXPECT_OFFSET(fmha_forward_problem, seqlens_k, 336);
    EXPECT_OFFSET(fmha_forward_problem, block_table, 344);
    EXPECT_OFFSET(fmha_forward_problem, bias, 352);
    EXPECT_OFFSET(fmha_forward_problem, attn_mask, 384);
    EXPECT_OFFSET(fmha_forward_problem, block_mask, 416);
    EXPECT_OFFSET(fmha_forward_problem, stride_alibi_batch, 448);
    EXPECT_OFFSET(fmha_forward_problem, stride_block_table, 456);
    EXPECT_OFFSET(fmha_forward_problem, tokens_q, 464);
    EXPECT_OFFSET(fmha_forward_problem, dropout_seed, 472);
    EXPECT_OFFSET(fmha_forward_problem, dropout_offset, 480);
    EXPECT_OFFSET(fmha_forward_problem, modifier_values, 488);
    EXPECT_OFFSET(fmha_forward_problem, modifier_buffers, 520);
    EXPECT_OFFSET(fmha_forward_problem, kv_dtype, 552);
    EXPECT_OFFSET(fmha_forward_problem, kv_scale, 556);
    EXPECT_OFFSET(fmha_forward_problem, k_scale, 560);
    EXPECT_OFFSET(fmha_forward_problem, v_scale, 592);
    cr_expect_geq(sizeof(fmha_forward_problem), 624);
}

Test(abi, decode_problem) {
    EXPECT_OFFSET(fmha_decode_problem, struct_bytes, 0);
    EXPECT_OFFSET(fmha_decode_problem, dtype, 8);
    EXPECT_OFFSET(fmha_decode_problem, mask, 12);
    EXPECT_OFFSET(fmha_decode_problem, v_layout, 16);
    EXPECT_OFFSET(fmha_decode_problem, head_dim, 20);
    EXPECT_OFFSET(fmha_decode_problem, head_dim_v, 24);
    EXPECT_OFFSET(fmha_decode_problem, scale, 28);
    EXPECT_OFFSET(fmha_decode_problem, batch, 32);
    EXPECT_OFFSET(fmha_decode_problem, heads_q, 40);
    EXPECT_OFFSET(fmha_decode_problem, heads_k, 48);
    EXPECT_OFFSET(fmha_decode_problem, seqlen_q, 56);
    EXPECT_OFFSET(fmha_decode_problem, seqlen_k, 64);
    EXPECT_OFFSET(fmha_decode_problem, splits, 72);
    EXPECT_OFFSET(fmha_decode_problem, q, 80);
    EXPECT_OFFSET(fmha_decode_problem, k, 112);
    EXPECT_OFFSET(fmha_decode_problem, v, 144);
    EXPECT_OFFSET(fmha_decode_problem, o, 176);
    EXPECT_OFFSET(fmha_decode_problem, lse, 208);
    EXPECT_OFFSET(fmha_decode_problem, workspace, 216);
    EXPECT_OFFSET(fmha_decode_problem, workspace_bytes, 224);
    EXPECT_OFFSET(fmha_decode_problem, stream, 232);
    EXPECT_OFFSET(fmha_decode_problem, window, 240);
    EXPECT_OFFSET(fmha_decode_problem, window_left, 244);
    EXPECT_OFFSET(fmha_decode_problem, window_right, 248);
    EXPECT_OFFSET(fmha_decode_problem, sink_keys, 252);
    EXPECT_OFFSET(fmha_decode_problem, softcap, 256);
    EXPECT_OFFSET(fmha_decode_problem, varlen, 260);
    EXPECT_OFFSET(fmha_decode_problem, page_size, 264);
    EXPECT_OFFSET(fmha_decode_problem, bias_dtype, 268);
    EXPECT_OFFSET(fmha_decode_problem, kv_dtype, 272);
    EXPECT_OFFSET(fmha_decode_problem, kv_scale, 276);
    EXPECT_OFFSET(fmha_decode_problem, modifier, 280);
    EXPECT_OFFSET(fmha_decode_problem, prefix_lengths, 288);
    EXPECT_OFFSET(fmha_decode_problem, alibi_slopes, 296);
    EXPECT_OFFSET(fmha_decode_problem, sink, 304);
    EXPECT_OFFSET(fmha_decode_problem, head_scale, 312);
    EXPECT_OFFSET(fmha_decode_problem, cu_seqlens_q, 320);
    EXPECT_OFFSET(fmha_decode_problem, cu_seqlens_k, 328);
    EXPECT_OFFSET(fmha_decode_problem, seqlens_q, 336);
    EXPECT_OFFSET(fmha_decode_problem, seqlens_k, 344);
    EXPECT_OFFSET(fmha_decode_problem, block_table, 352);
    EXPECT_OFFSET(fmha_decode_problem, bias, 360);
    EXPECT_OFFSET(fmha_decode_problem, attn_mask, 392);
    EXPECT_OFFSET(fmha_decode_problem, stride_alibi_batch, 424);
    EXPECT_OFFSET(fmha_decode_problem, stride_block_table, 432);
    EXPECT_OFFSET(fmha_decode_problem, tokens_q, 440);
    EXPECT_OFFSET(fmha_decode_problem, modifier_values, 448);
    EXPECT_OFFSET(fmha_decode_problem, modifier_buffers, 480);
    EXPECT_OFFSET(fmha_decode_problem, k_scale, 512);
    EXPECT_OFFSET(fmha_decode_problem, v_scale, 544);
    cr_expect_geq(sizeof(fmha_decode_problem), 576);
}

Test(abi, mla_problem) {
    EXPECT_OFFSET(fmha_mla_problem, struct_bytes, 0);
    EXPECT_OFFSET(fmha_mla_problem, dtype, 8);
    EXPECT_OFFSET(fmha_mla_problem, mask, 12);
    EXPECT_OFFSET(fmha_mla_problem, kv_dtype, 16);
    EXPECT_OFFSET(fmha_mla_problem, kv_scale, 20);
    EXPECT_OFFSET(fmha_mla_problem, scale_rule, 24);
    EXPECT_OFFSET(fmha_mla_problem, varlen, 28);
    EXPECT_OFFSET(fmha_mla_problem, page_size, 32);
    EXPECT_OFFSET(fmha_mla_problem, head_dim, 36);
    EXPECT_OFFSET(fmha_mla_problem, head_dim_v, 40);
    EXPECT_OFFSET(fmha_mla_problem, scale, 44);
    EXPECT_OFFSET(fmha_mla_problem, batch, 48);
    EXPECT_OFFSET(fmha_mla_problem, heads_q, 56);
    EXPECT_OFFSET(fmha_mla_problem, seqlen_q, 64);
    EXPECT_OFFSET(fmha_mla_problem, seqlen_k, 72);
    EXPECT_OFFSET(fmha_mla_problem, tokens_q, 80);
    EXPECT_OFFSET(fmha_mla_problem, splits, 88);
    EXPECT_OFFSET(fmha_mla_problem, q, 96);
    EXPECT_OFFSET(fmha_mla_problem, kv, 128);
    EXPECT_OFFSET(fmha_mla_problem, kv_scales, 160);
    EXPECT_OFFSET(fmha_mla_problem, o, 192);
    EXPECT_OFFSET(fmha_mla_problem, lse, 224);
    EXPECT_OFFSET(fmha_mla_problem, cu_seqlens_q, 232);
    EXPECT_OFFSET(fmha_mla_problem, cu_seqlens_k, 240);
    EXPECT_OFFSET(fmha_mla_problem, seqlens_q, 248);
    EXPECT_OFFSET(fmha_mla_problem, seqlens_k, 256);
    EXPECT_OFFSET(fmha_mla_problem, block_table, 264);
    EXPECT_OFFSET(fmha_mla_problem, stride_block_table, 272);
    EXPECT_OFFSET(fmha_mla_problem, workspace, 280);
    EXPECT_OFFSET(fmha_mla_problem, workspace_bytes, 288);
    EXPECT_OFFSET(fmha_mla_problem, stream, 296);
    cr_expect_geq(sizeof(fmha_mla_problem), 304);
}

Test(abi, pack_problem) {
    EXPECT_OFFSET(fmha_pack_problem, struct_bytes, 0);
    EXPECT_OFFSET(fmha_pack_problem, transposed, 8);
    EXPECT_OFFSET(fmha_pack_problem, batch, 16);
    EXPECT_OFFSET(fmha_pack_problem, from, 48);
    EXPECT_OFFSET(fmha_pack_problem, to, 80);
    EXPECT_OFFSET(fmha_pack_problem, stream, 112);
    cr_expect_geq(sizeof(fmha_pack_problem), 120);
}

Test(abi, tune_options_and_results) {
    EXPECT_OFFSET(fmha_tune_options, struct_bytes, 0);
    EXPECT_OFFSET(fmha_tune_options, rounds, 8);
    EXPECT_OFFSET(fmha_tune_options, warmup_rounds, 12);
    EXPECT_OFFSET(fmha_tune_options, seed, 16);
    EXPECT_OFFSET(fmha_tune_options, libraries, 24);
    EXPECT_OFFSET(fmha_tune_options, progress, 32);
    EXPECT_OFFSET(fmha_tune_options, progress_context, 40);
    EXPECT_OFFSET(fmha_tune_result, instance, 0);
    EXPECT_OFFSET(fmha_tune_result, unit, 16);
    EXPECT_OFFSET(fmha_tune_result, median, 24);
    EXPECT_OFFSET(fmha_tune_result, runs, 48);
    EXPECT_OFFSET(fmha_tune_result, best, 52);
    EXPECT_OFFSET(fmha_tune_result, note, 56);
}

Test(abi, other_structs) {
    EXPECT_OFFSET(fmha_consideration, instance, 0);
    EXPECT_OFFSET(fmha_consideration, library, 8);
    EXPECT_OFFSET(fmha_consideration, taken, 16);
    EXPECT_OFFSET(fmha_consideration, verdict, 24);
    EXPECT_OFFSET(fmha_source, text, 0);
    EXPECT_OFFSET(fmha_source, symbol, 8);
    EXPECT_OFFSET(fmha_source, path, 16);
    EXPECT_OFFSET(fmha_source, wave, 24);
    EXPECT_OFFSET(fmha_launch_config, grid, 0);
    EXPECT_OFFSET(fmha_launch_config, workgroup, 12);
    EXPECT_OFFSET(fmha_launch_config, lds_dynamic_bytes, 24);
    EXPECT_OFFSET(fmha_launch_config, arguments, 32);
    EXPECT_OFFSET(fmha_launch_config, argument_bytes, 40);
    EXPECT_OFFSET(fmha_launch_config, stream, 48);
    EXPECT_OFFSET(fmha_device_info, driver, 0);
    EXPECT_OFFSET(fmha_device_info, arch, 8);
    EXPECT_OFFSET(fmha_device_info, name, 16);
    EXPECT_OFFSET(fmha_device_info, image_kind, 24);
    EXPECT_OFFSET(fmha_device_info, ordinal, 28);
    EXPECT_OFFSET(fmha_device_info, compute_units, 32);
    EXPECT_OFFSET(fmha_device_info, lds_bytes_workgroup, 40);
    EXPECT_OFFSET(fmha_tensor_view, shape, 32);
    EXPECT_OFFSET(fmha_tensor_view, strides, 80);
    EXPECT_OFFSET(fmha_tensor_view, access, 128);
}

/* Callers allocate these, or step over arrays of them, and nothing tells their size: they keep it. */
Test(abi, structs_that_never_grow) {
    cr_expect_eq(sizeof(fmha_source), 32);
    cr_expect_eq(sizeof(fmha_launch_config), 56);
    cr_expect_eq(sizeof(fmha_device_info), 48);
    cr_expect_eq(sizeof(fmha_tensor_view), 136);
    cr_expect_eq(sizeof(fmha_finding), 16);
    cr_expect_eq(sizeof(fmha_counter), 24);
}

/* The header of one version with the library of the next: the numbers are the library's own. */
Test(abi, versions) {
    cr_expect_eq(fmha_abi_version(), FMHA_ABI_VERSION);
    cr_expect_str_eq(fmha_version(), FMHA_VERSION);
}
