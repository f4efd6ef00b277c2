	.amdgcn_target "amdgcn-amd-amdhsa--gfx1151"
	.amdhsa_code_object_version 5
	.text
	.globl	hand
	.p2align	8
	.type	hand,@function
hand:                                   ; @hand
.Lfunc_begin0:
; %bb.0:
	s_load_b64 s[0:1], s[2:3], 0x0
	v_mov_b32_e32 v16, 0
	s_waitcnt lgkmcnt(0)
.LBB0_1:                                ; =>This Loop Header: Depth=1
	s_mov_b32 s6, 4
.Ltmp0:
	v_add_nc_u32_e32 v40, 16, v40
.LBB0_2:                                ;   Parent Loop BB0_1 Depth=1
	ds_load_b128 v[0:3], v40
	ds_load_2addr_b64 v[4:7], v40 offset0:1 offset1:2
	global_load_b128 v[8:11], v41, s[0:1]
	global_load_u16 v12, v41, s[0:1]
	s_waitcnt vmcnt(1) lgkmcnt(0)
	v_wmma_f32_16x16x16_f16 v[16:23], v[0:7], v[24:31], v[16:23]
	v_dual_mul_f32 v42, v43, v44 :: v_dual_mov_b32 v45, v46
	v_dual_mov_b32 v42, v43 :: v_dual_mov_b32 v45, v46
	v_exp_f32_e32 v42, v42
	v_cvt_pk_rtz_f16_f32_e32 v42, v42, v43
	v_pk_mul_f16 v42, v42, v43
	v_mov_b32_dpp v42, v43 row_shr:1 row_mask:0xf bank_mask:0xf
	v_permlanex16_b32 v42, v43, s4, s5
	ds_bpermute_b32 v42, v43, v44
	s_delay_alu instid0(VALU_DEP_1)
	v_cmp_gt_f32_e32 vcc_lo, v42, v43
	s_cbranch_vccz .LBB0_4
; %bb.3:                                ;   in Loop: Header=BB0_2 Depth=2
	v_mul_f32_e32 v16, v42, v16         ; a comment; with a semicolon
	v_mul_f32_e32 v17, v42, v17         // and one of the other kind
	v_rcp_f32_e32 v42, v42
	v_mul_f32_e32 v18, v42, v18
.LBB0_4:                                ;   in Loop: Header=BB0_2 Depth=2
	ds_store_b32 v40, v42
	s_waitcnt lgkmcnt(0)
	s_barrier
	s_add_i32 s6, s6, -1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .LBB0_2
; %bb.5:
	s_mov_b32 s6, 2
.LBB0_6:                                ;   Parent Loop BB0_1 Depth=1
	scratch_load_b32 v13, off, off offset:4
	buffer_load_b32 v14, v40, s[8:11], 0 offen
	s_buffer_load_b32 s7, s[8:11], 0x0
	v_cndmask_b32_e32 v0, v1, v2, vcc_lo
	v_cndmask_b32_e32 v1, v1, v2, vcc_lo
	v_cndmask_b32_e32 v2, v1, v2, vcc_lo
	v_cndmask_b32_e32 v3, v1, v2, vcc_lo
	v_cndmask_b32_e32 v4, v1, v2, vcc_lo
	v_cndmask_b32_e32 v5, v1, v2, vcc_lo
	v_cndmask_b32_e32 v6, v1, v2, vcc_lo
	v_cndmask_b32_e32 v7, v1, v2, vcc_lo
	v_readfirstlane_b32 s7, v1
	v_mov_b32_e32 v44, v45
	v_mul_lo_u32 v45, v45, v44
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_wmma_f32_16x16x16_f16 v[16:23], v[0:7], v[24:31], v[16:23]
	global_store_b64 v40, v[16:17], s[0:1]
	buffer_gl0_inv
	s_add_i32 s6, s6, -1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .LBB0_6
; %bb.7:
	s_add_i32 s8, s8, -1
	s_cmp_lg_u32 s8, 0
	s_cbranch_scc1 .LBB0_1
; %bb.8:
	global_store_b128 v40, v[16:19], s[0:1]
	s_endpgm
.Lfunc_end0:
	.size	hand, .Lfunc_end0-hand
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel hand
		.amdhsa_group_segment_fixed_size 2048
		.amdhsa_private_segment_fixed_size 16
		.amdhsa_enable_private_segment 1
		.amdhsa_next_free_vgpr 47
		.amdhsa_next_free_sgpr 12
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .address_space:  global
        .name:           not_the_kernel
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 2048
    .kernarg_segment_align: 8
    .kernarg_segment_size: 8
    .max_flat_workgroup_size: 128
    .name:           hand
    .private_segment_fixed_size: 16
    .sgpr_count:     14
    .sgpr_spill_count: 0
    .symbol:         hand.kd
    .vgpr_count:     47
    .vgpr_spill_count: 1
    .wavefront_size: 32
amdhsa.target:   amdgcn-amd-amdhsa--gfx1151
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
