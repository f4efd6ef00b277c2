	.amdgcn_target "amdgcn-amd-amdhsa--gfx1151"
	.amdhsa_code_object_version 6
	.text
	.protected	fmha_forward_gfx1151_f16_d64_m64k32w4
	.globl	fmha_forward_gfx1151_f16_d64_m64k32w4
fmha_forward_gfx1151_f16_d64_m64k32w4:
	s_load_b128 s[24:27], s[0:1], 0x88
	v_and_b32_e32 v147, 31, v0
	v_lshrrev_b32_e32 v156, 5, v0
	s_waitcnt lgkmcnt(0)
	s_abs_i32 s5, s25
	s_abs_i32 s8, s24
	s_cvt_f32_u32 s6, s5
	s_sub_i32 s7, 0, s5
	s_delay_alu instid0(SALU_CYCLE_2) | instskip(NEXT) | instid1(TRANS32_DEP_1)
	v_rcp_iflag_f32_e32 v1, s6
	v_readfirstlane_b32 s6, v1
	s_mul_f32 s6, s6, 0x4f7ffffe
	s_delay_alu instid0(SALU_CYCLE_3) | instskip(NEXT) | instid1(SALU_CYCLE_3)
	s_cvt_u32_f32 s6, s6
	s_mul_i32 s7, s7, s6
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
	s_mul_hi_u32 s7, s6, s7
	s_add_i32 s6, s6, s7
	s_xor_b32 s7, s24, s25
	s_mul_hi_u32 s6, s8, s6
	s_ashr_i32 s7, s7, 31
	s_mul_i32 s9, s6, s5
	s_delay_alu instid0(SALU_CYCLE_1)
	s_sub_i32 s8, s8, s9
	s_add_i32 s9, s6, 1
	s_sub_i32 s10, s8, s5
	s_cmp_ge_u32 s8, s5
	s_cselect_b32 s6, s9, s6
	s_cselect_b32 s8, s10, s8
	s_add_i32 s9, s6, 1
	s_cmp_ge_u32 s8, s5
	v_readfirstlane_b32 s8, v0
	s_cselect_b32 s5, s9, s6
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
	s_xor_b32 s5, s5, s7
	s_sub_i32 s34, s5, s7
	s_load_b32 s5, s[0:1], 0x98
	s_abs_i32 s6, s34
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(SALU_CYCLE_3)
	s_cvt_f32_u32 s7, s6
	v_rcp_iflag_f32_e32 v1, s7
	v_cmp_eq_u32_e64 s7, 0, v147
	s_delay_alu instid0(TRANS32_DEP_1)
	v_readfirstlane_b32 s24, v1
	s_and_saveexec_b32 s9, s7
	v_dual_mov_b32 v2, 0 :: v_dual_lshlrev_b32 v1, 2, v156
	ds_store_b32 v1, v2 offset:9728
	s_or_b32 exec_lo, exec_lo, s9
	s_lshr_b32 s8, s8, 1
	s_lshl_b32 s2, s2, 6
	s_and_b32 s39, s8, 0x7ffffff0
	s_ashr_i32 s38, s4, 31
	s_add_i32 s39, s39, s2
	s_ashr_i32 s33, s3, 31
	s_cmp_lt_i32 s27, 1
	s_cbranch_scc1 .LBB0_7
	s_load_b512 s[8:23], s[0:1], 0x20
	s_mul_f32 s2, s24, 0x4f7ffffe
	s_clause 0x1
	s_load_b128 s[28:31], s[0:1], 0x0
	s_load_b64 s[24:25], s[0:1], 0x10
	v_and_b32_e32 v11, 15, v0
	s_sub_i32 s35, 0, s6
	s_cvt_u32_f32 s2, s2
	s_add_i32 s26, s26, -1
	s_abs_i32 s36, s3
	v_or_b32_e32 v1, s39, v11
	s_mul_i32 s35, s35, s2
	s_ashr_i32 s34, s34, 31
	s_mul_hi_u32 s35, s2, s35
	v_lshrrev_b32_e32 v158, 2, v0
	v_min_i32_e32 v1, s26, v1
	s_add_i32 s2, s2, s35
	v_lshrrev_b32_e32 v157, 4, v147
	s_mul_hi_u32 s2, s36, s2
	v_bfe_u32 v161, v0, 2, 1
	v_ashrrev_i32_e32 v2, 31, v1
	v_lshrrev_b32_e32 v166, 6, v0
	s_waitcnt lgkmcnt(0)
	s_mul_i32 s26, s8, s38
	s_mul_hi_u32 s35, s8, s4
	s_mul_i32 s9, s9, s4
	s_add_i32 s26, s35, s26
	s_mul_i32 s8, s8, s4
	s_add_i32 s9, s26, s9
	s_mul_i32 s35, s10, s33
	s_lshl_b64 s[8:9], s[8:9], 1
	s_mul_hi_u32 s26, s10, s3
	s_add_u32 s28, s28, s8
	s_mul_i32 s11, s11, s3
	s_addc_u32 s29, s29, s9
	s_add_i32 s9, s26, s35
	s_mul_i32 s8, s10, s3
	s_add_i32 s9, s9, s11
	v_mul_lo_u32 v3, s12, v2
	s_lshl_b64 s[8:9], s[8:9], 1
	v_mul_lo_u32 v4, s13, v1
	s_add_u32 s10, s28, s8
	s_addc_u32 s11, s29, s9
	s_ashr_i32 s8, s27, 31
	v_mad_u64_u32 v[1:2], null, s12, v1, 0
	s_lshr_b32 s8, s8, 27
	s_xor_b32 s12, s33, s34
	s_add_i32 s8, s27, s8
	s_add_i32 s9, s2, 1
	s_ashr_i32 s26, s8, 5
	s_mul_i32 s8, s2, s6
	v_add3_u32 v2, v2, v3, v4
	s_sub_i32 s8, s36, s8
	v_mov_b32_e32 v3, v0
	s_sub_i32 s13, s8, s6
	s_cmp_ge_u32 s8, s6
	v_lshlrev_b64 v[1:2], 1, v[1:2]
	s_cselect_b32 s2, s9, s2
	s_cselect_b32 s8, s13, s8
	s_add_i32 s9, s2, 1
	s_cmp_ge_u32 s8, s6
	s_mul_i32 s6, s14, s38
	s_mul_hi_u32 s8, s14, s4
	s_cselect_b32 s2, s9, s2
	s_add_i32 s6, s8, s6
	s_mul_i32 s8, s15, s4
	s_xor_b32 s2, s2, s12
	s_add_i32 s9, s6, s8
	s_mul_i32 s8, s14, s4
	s_sub_i32 s2, s2, s12
	s_lshl_b64 s[8:9], s[8:9], 1
	s_ashr_i32 s6, s2, 31
	s_add_u32 s12, s30, s8
	s_mul_i32 s8, s16, s6
	s_mul_hi_u32 s13, s16, s2
	s_addc_u32 s14, s31, s9
	s_add_i32 s8, s13, s8
	s_mul_i32 s9, s17, s2
	v_add_co_u32 v1, vcc_lo, s10, v1
	s_add_i32 s9, s8, s9
	s_mul_i32 s8, s16, s2
	s_mul_hi_u32 s10, s20, s4
	s_lshl_b64 s[8:9], s[8:9], 1
	v_add_co_ci_u32_e64 v2, null, s11, v2, vcc_lo
	s_add_u32 s28, s12, s8
	s_mul_i32 s8, s20, s38
	s_addc_u32 s29, s14, s9
	s_add_i32 s8, s10, s8
	s_mul_i32 s9, s21, s4
	s_mul_i32 s6, s22, s6
	s_add_i32 s9, s8, s9
	s_mul_i32 s8, s20, s4
	s_clause 0x1
	global_load_b128 v[37:40], v[1:2], off offset:48
	global_load_b128 v[33:36], v[1:2], off offset:32
	s_lshl_b64 s[16:17], s[8:9], 1
	s_mul_hi_u32 s8, s22, s2
	s_add_u32 s10, s24, s16
	s_addc_u32 s11, s25, s17
	s_add_i32 s6, s8, s6
	s_mul_i32 s8, s23, s2
	s_clause 0x3
	global_load_b128 v[45:48], v[1:2], off offset:16
	global_load_b128 v[41:44], v[1:2], off
	global_load_b128 v[53:56], v[1:2], off offset:112
	global_load_b128 v[49:52], v[1:2], off offset:96
	s_add_i32 s9, s6, s8
	s_mul_i32 s8, s22, s2
	s_clause 0x1
	global_load_b128 v[61:64], v[1:2], off offset:80
	global_load_b128 v[57:60], v[1:2], off offset:64
	v_lshrrev_b32_e32 v1, 3, v3
	s_lshl_b64 s[20:21], s[8:9], 1
	s_load_b64 s[22:23], s[0:1], 0x60
	s_add_u32 s30, s10, s20
	s_addc_u32 s31, s11, s21
	s_add_i32 s2, s27, -1
	v_cmp_gt_u32_e32 vcc_lo, s27, v1
	v_lshlrev_b32_e32 v2, 4, v3
	s_lshl_b32 s40, s18, 1
	s_mul_f32 s42, s5, 0x3fb8aa3b
	v_dual_cndmask_b32 v3, s2, v1 :: v_dual_lshlrev_b32 v162, 4, v0
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_3) | instid1(VALU_DEP_4)
	v_and_b32_e32 v1, 0x70, v2
	v_lshlrev_b32_e32 v164, 1, v0
	v_lshlrev_b32_e32 v165, 2, v0
	v_and_b32_e32 v163, 24, v158
	v_mad_u64_u32 v[1:2], null, s40, v3, v[1:2]
	v_mov_b32_e32 v2, v0
	v_mul_u32_u24_e32 v160, 0x48, v11
	v_mul_u32_u24_e32 v159, 40, v11
	s_waitcnt lgkmcnt(0)
	s_lshl_b32 s41, s22, 1
	s_cmp_lt_u32 s27, 32
	global_load_b128 v[137:140], v1, s[28:29]
	v_lshrrev_b32_e32 v1, 3, v2
	v_lshlrev_b32_e32 v2, 4, v2
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_nc_u32_e32 v1, 16, v1
	v_cmp_gt_u32_e32 vcc_lo, s27, v1
	v_cndmask_b32_e32 v3, s2, v1, vcc_lo
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_and_b32_e32 v1, 0x70, v2
	v_mad_u64_u32 v[1:2], null, s40, v3, v[1:2]
	v_mov_b32_e32 v2, v0
	global_load_b128 v[141:144], v1, s[28:29]
	v_lshrrev_b32_e32 v8, 2, v2
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_and_b32_e32 v7, 0x3ffffff8, v8
	v_cmp_gt_u32_e32 vcc_lo, s27, v7
	v_or_b32_e32 v5, 2, v7
	v_lshlrev_b32_e32 v1, 2, v2
	v_or_b32_e32 v2, 1, v7
	v_or_b32_e32 v6, 3, v7
	v_cndmask_b32_e32 v3, s2, v7, vcc_lo
	v_or_b32_e32 v9, 4, v7
	v_and_b32_e32 v1, 0x7c, v1
	v_cmp_gt_u32_e32 vcc_lo, s27, v2
	v_or_b32_e32 v10, 5, v7
	v_or_b32_e32 v12, 6, v7
	v_cndmask_b32_e32 v4, s2, v2, vcc_lo
	v_mad_u64_u32 v[2:3], null, v3, s41, v[1:2]
	v_cmp_gt_u32_e32 vcc_lo, s27, v5
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_2) | instid1(VALU_DEP_2)
	v_mad_u64_u32 v[3:4], null, v4, s41, v[1:2]
	v_cndmask_b32_e32 v4, s2, v5, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s27, v6
	v_mad_u64_u32 v[4:5], null, v4, s41, v[1:2]
	v_cndmask_b32_e32 v6, s2, v6, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s27, v9
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_2) | instid1(VALU_DEP_2)
	v_mad_u64_u32 v[5:6], null, v6, s41, v[1:2]
	v_cndmask_b32_e32 v9, s2, v9, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s27, v10
	v_mad_u64_u32 v[6:7], null, v9, s41, v[1:2]
	v_or_b32_e32 v7, 7, v8
	v_cndmask_b32_e32 v8, s2, v10, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s27, v12
	v_cndmask_b32_e32 v9, s2, v12, vcc_lo
	s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_2) | instid1(VALU_DEP_4)
	v_cmp_gt_u32_e32 vcc_lo, s27, v7
	v_cndmask_b32_e32 v10, s2, v7, vcc_lo
	v_mad_u64_u32 v[7:8], null, v8, s41, v[1:2]
	v_mad_u64_u32 v[8:9], null, v9, s41, v[1:2]
	s_delay_alu instid0(VALU_DEP_3)
	v_mad_u64_u32 v[9:10], null, v10, s41, v[1:2]
	s_clause 0x7
	global_load_b32 v148, v2, s[30:31]
	global_load_b32 v149, v3, s[30:31]
	global_load_b32 v150, v4, s[30:31]
	global_load_b32 v153, v5, s[30:31]
	global_load_b32 v154, v6, s[30:31]
	global_load_b32 v155, v7, s[30:31]
	global_load_b32 v151, v8, s[30:31]
	global_load_b32 v152, v9, s[30:31]
	v_cmp_eq_u32_e32 vcc_lo, 0, v157
	s_cbranch_scc1 .LBB0_8
	v_dual_mov_b32 v65, 0xff800000 :: v_dual_and_b32 v2, 30, v158
	v_and_b32_e32 v1, 0x70, v162
	v_mul_lo_u32 v3, v156, s22
	v_dual_mov_b32 v25, 0 :: v_dual_lshlrev_b32 v4, 2, v147
	v_and_or_b32 v5, v158, 14, v166
	s_delay_alu instid0(VALU_DEP_4)
	v_mad_u64_u32 v[145:146], null, v2, s18, v[1:2]
	v_mov_b32_e32 v146, 0
	v_and_b32_e32 v6, 48, v164
	v_and_b32_e32 v7, 12, v165
	v_lshl_add_u32 v167, v3, 4, v4
	v_or_b32_e32 v2, 16, v5
	v_dual_mov_b32 v29, v146 :: v_dual_lshlrev_b32 v4, 1, v163
	v_mov_b32_e32 v26, v146
	v_mov_b32_e32 v27, v146
	v_or3_b32 v3, v161, v7, v6
	v_or3_b32 v6, v6, v161, v7
	v_mad_u32_u24 v168, 0x90, v5, v1
	v_mad_u32_u24 v169, 0x90, v2, v1
	v_dual_mov_b32 v31, v146 :: v_dual_lshlrev_b32 v172, 1, v160
	v_mad_u32_u24 v170, 0x50, v3, v4
	v_mad_u32_u24 v171, 0x50, v6, v4
	v_dual_mov_b32 v28, v146 :: v_dual_lshlrev_b32 v173, 1, v159
	v_dual_mov_b32 v30, v146 :: v_dual_mov_b32 v17, 0
	v_dual_mov_b32 v32, v146 :: v_dual_mov_b32 v9, 0
	v_dual_mov_b32 v18, v146 :: v_dual_mov_b32 v1, 0
	v_mov_b32_e32 v19, v146
	v_mov_b32_e32 v20, v146
	v_mov_b32_e32 v21, v146
	v_mov_b32_e32 v22, v146
	v_mov_b32_e32 v23, v146
	v_mov_b32_e32 v24, v146
	v_mov_b32_e32 v10, v146
	v_mov_b32_e32 v11, v146
	v_mov_b32_e32 v12, v146
	v_mov_b32_e32 v13, v146
	v_mov_b32_e32 v14, v146
	v_mov_b32_e32 v15, v146
	v_mov_b32_e32 v16, v146
	v_mov_b32_e32 v2, v146
	v_mov_b32_e32 v3, v146
	v_mov_b32_e32 v4, v146
	v_mov_b32_e32 v5, v146
	v_mov_b32_e32 v6, v146
	v_mov_b32_e32 v7, v146
	v_mov_b32_e32 v8, v146
	s_mov_b32 s8, 0
	s_add_i32 s5, s26, -1
	s_lshl_b64 s[34:35], s[18:19], 5
	s_lshl_b64 s[36:37], s[22:23], 2
	s_mov_b32 s9, s8
	s_mov_b32 s10, s8
	s_mov_b32 s11, s8
	s_mov_b32 s12, s8
	s_mov_b32 s13, s8
	s_mov_b32 s14, s8
	s_mov_b32 s15, s8
	s_mov_b32 s6, 0x76543210
	s_mov_b32 s43, s8
.LBB0_5:
	s_delay_alu instid0(SALU_CYCLE_1)
	s_add_i32 s43, s43, 1
	s_waitcnt vmcnt(6)
	v_perm_b32 v66, v149, v148, 0x5040100
	s_min_i32 s44, s43, s5
	s_waitcnt vmcnt(4)
	v_perm_b32 v67, v153, v150, 0x5040100
	s_ashr_i32 s45, s44, 31
	s_lshl_b32 s2, s44, 5
	s_lshr_b64 s[44:45], s[44:45], 27
	s_mul_i32 s47, s2, s19
	s_mul_hi_u32 s49, s2, s18
	s_mul_i32 s46, s2, s18
	s_mul_i32 s50, s2, s23
	s_mul_hi_u32 s51, s2, s22
	s_mul_i32 s48, s2, s22
	s_add_i32 s2, s49, s47
	s_mul_i32 s45, s44, s18
	s_mul_i32 s49, s44, s22
	s_add_i32 s47, s2, s45
	s_waitcnt vmcnt(2)
	v_perm_b32 v68, v155, v154, 0x5040100
	s_lshl_b64 s[44:45], s[46:47], 1
	s_waitcnt vmcnt(0)
	v_perm_b32 v69, v152, v151, 0x5040100
	s_add_u32 s44, s28, s44
	s_addc_u32 s45, s29, s45
	s_add_u32 s46, s44, s34
	v_perm_b32 v70, v149, v148, 0x7060302
	v_perm_b32 v71, v153, v150, 0x7060302
	v_perm_b32 v72, v155, v154, 0x7060302
	v_perm_b32 v73, v152, v151, 0x7060302
	s_addc_u32 s47, s45, s35
	s_add_i32 s2, s51, s50
	s_delay_alu instid0(SALU_CYCLE_1)
	s_add_i32 s49, s2, s49
	s_barrier
	ds_store_b128 v168, v[137:140]
	ds_store_b128 v169, v[141:144]
	ds_store_b128 v170, v[66:69] offset:4608
	ds_store_b128 v171, v[70:73] offset:4768
	s_waitcnt lgkmcnt(0)
	s_barrier
	global_load_b128 v[137:140], v145, s[44:45]
	s_lshl_b64 s[44:45], s[48:49], 1
	s_add_u32 s44, s30, s44
	global_load_b128 v[141:144], v145, s[46:47]
	s_addc_u32 s45, s31, s45
	s_lshl_b64 s[46:47], s[22:23], 1
	v_add_co_u32 v66, s2, s44, v167
	global_load_b32 v148, v167, s[44:45]
	s_add_u32 s44, s44, s46
	v_add_co_ci_u32_e64 v67, null, s45, 0, s2
	s_addc_u32 s45, s45, s47
	v_add_co_u32 v68, s2, s44, v167
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_add_co_ci_u32_e64 v69, null, s45, 0, s2
	v_add_co_u32 v66, s2, v66, s36
	v_add_co_ci_u32_e64 v67, null, s37, v67, s2
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v68, s2, v68, s36
	v_add_co_ci_u32_e64 v69, null, s37, v69, s2
	s_delay_alu instid0(VALU_DEP_4)
	v_add_co_u32 v70, s2, v66, s36
	s_clause 0x1
	global_load_b32 v149, v167, s[44:45]
	global_load_b32 v150, v[66:67], off
	v_add_co_ci_u32_e64 v71, null, s37, v67, s2
	v_add_co_u32 v66, s2, v68, s36
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_add_co_ci_u32_e64 v67, null, s37, v69, s2
	v_add_co_u32 v72, s2, v70, s36
	v_add_co_ci_u32_e64 v73, null, s37, v71, s2
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_add_co_u32 v74, s2, v66, s36
	v_add_co_ci_u32_e64 v75, null, s37, v67, s2
	s_clause 0x4
	global_load_b32 v153, v[68:69], off
	global_load_b32 v154, v[70:71], off
	global_load_b32 v155, v[66:67], off
	global_load_b32 v151, v[72:73], off
	global_load_b32 v152, v[74:75], off
	v_mov_b32_e32 v174, v65
	ds_load_b128 v[65:68], v172
	ds_load_b128 v[69:72], v172 offset:16
	ds_load_b128 v[113:116], v172 offset:2304
	ds_load_b128 v[117:120], v172 offset:2320
	ds_load_b128 v[89:92], v172 offset:32
	ds_load_b128 v[93:96], v172 offset:48
	ds_load_b128 v[73:76], v172 offset:2336
	ds_load_b128 v[77:80], v172 offset:2352
	v_dual_mov_b32 v128, s15 :: v_dual_mov_b32 v127, s14
	v_dual_mov_b32 v126, s13 :: v_dual_mov_b32 v125, s12
	v_dual_mov_b32 v124, s11 :: v_dual_mov_b32 v123, s10
	v_dual_mov_b32 v122, s9 :: v_dual_mov_b32 v121, s8
	ds_load_b128 v[81:84], v172 offset:64
	ds_load_b128 v[85:88], v172 offset:80
	ds_load_b128 v[97:100], v172 offset:2368
	ds_load_b128 v[101:104], v172 offset:2384
	ds_load_b128 v[105:108], v172 offset:96
	ds_load_b128 v[109:112], v172 offset:112
	ds_load_b128 v[129:132], v172 offset:2400
	ds_load_b128 v[133:136], v172 offset:2416
	ds_load_b128 v[175:178], v173 offset:4608
	ds_load_b128 v[179:182], v173 offset:4624
	ds_load_b128 v[183:186], v173 offset:5888
	ds_load_b128 v[187:190], v173 offset:5904
	ds_load_b128 v[191:194], v173 offset:7168
	ds_load_b128 v[195:198], v173 offset:7184
	ds_load_b128 v[199:202], v173 offset:8448
	ds_load_b128 v[203:206], v173 offset:8464
	ds_load_b128 v[207:210], v173 offset:4640
	ds_load_b128 v[211:214], v173 offset:4656
	ds_load_b128 v[215:218], v173 offset:5920
	ds_load_b128 v[219:222], v173 offset:5936
	s_waitcnt lgkmcnt(26)
	v_wmma_f32_16x16x16_f16 v[223:230], v[65:72], v[41:48], v[121:128]
	s_waitcnt lgkmcnt(24)
	v_wmma_f32_16x16x16_f16 v[65:72], v[113:120], v[41:48], v[121:128]
	ds_load_b128 v[113:116], v173 offset:7200
	ds_load_b128 v[117:120], v173 offset:7216
	s_waitcnt lgkmcnt(24)
	v_wmma_f32_16x16x16_f16 v[223:230], v[89:96], v[33:40], v[223:230]
	ds_load_b128 v[89:92], v173 offset:8480
	ds_load_b128 v[93:96], v173 offset:8496
	s_waitcnt lgkmcnt(24)
	v_wmma_f32_16x16x16_f16 v[65:72], v[73:80], v[33:40], v[65:72]
	s_waitcnt lgkmcnt(22)
	v_wmma_f32_16x16x16_f16 v[223:230], v[81:88], v[57:64], v[223:230]
	s_waitcnt lgkmcnt(20)
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_wmma_f32_16x16x16_f16 v[65:72], v[97:104], v[57:64], v[65:72]
	s_waitcnt lgkmcnt(18)
	v_wmma_f32_16x16x16_f16 v[223:230], v[105:112], v[49:56], v[223:230]
	s_waitcnt lgkmcnt(16)
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_wmma_f32_16x16x16_f16 v[65:72], v[129:136], v[49:56], v[65:72]
	v_dual_mul_f32 v73, s42, v223 :: v_dual_mul_f32 v74, s42, v224
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_dual_mul_f32 v75, s42, v225 :: v_dual_mul_f32 v76, s42, v226
	v_dual_mul_f32 v81, s42, v65 :: v_dual_mul_f32 v66, s42, v66
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_2) | instid1(VALU_DEP_3)
	v_max3_f32 v65, v174, v73, v74
	v_dual_mul_f32 v77, s42, v227 :: v_dual_mul_f32 v78, s42, v228
	v_dual_mul_f32 v79, s42, v229 :: v_dual_mul_f32 v80, s42, v230
	v_max3_f32 v65, v65, v75, v76
	v_dual_mul_f32 v67, s42, v67 :: v_dual_mul_f32 v68, s42, v68
	v_dual_mul_f32 v69, s42, v69 :: v_dual_mul_f32 v70, s42, v70
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_max3_f32 v65, v65, v77, v78
	v_dual_mul_f32 v71, s42, v71 :: v_dual_mul_f32 v72, s42, v72
	v_max3_f32 v65, v65, v79, v80
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_max3_f32 v65, v65, v81, v66
	v_max3_f32 v65, v65, v67, v68
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_max3_f32 v65, v65, v69, v70
	v_max3_f32 v65, v65, v71, v72
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_permlanex16_b32 v82, v65, s6, 0xfedcba98 op_sel:[1,1]
	v_max_f32_e32 v82, v82, v82
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_max_f32_e32 v65, v65, v82
	v_cmp_neq_f32_e64 s2, 0xff800000, v65
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_cndmask_b32_e64 v82, 0, v65, s2
	v_sub_f32_e32 v79, v79, v82
	v_sub_f32_e32 v80, v80, v82
	v_sub_f32_e32 v83, v174, v82
	v_sub_f32_e32 v73, v73, v82
	v_sub_f32_e32 v75, v75, v82
	v_exp_f32_e32 v79, v79
	v_exp_f32_e32 v80, v80
	v_sub_f32_e32 v76, v76, v82
	v_sub_f32_e32 v77, v77, v82
	v_sub_f32_e32 v78, v78, v82
	v_sub_f32_e32 v81, v81, v82
	v_sub_f32_e32 v66, v66, v82
	v_sub_f32_e32 v67, v67, v82
	v_sub_f32_e32 v68, v68, v82
	v_sub_f32_e32 v69, v69, v82
	v_sub_f32_e32 v70, v70, v82
	v_sub_f32_e32 v71, v71, v82
	v_sub_f32_e32 v72, v72, v82
	v_cvt_f16_f32_e32 v87.l, v79
	v_cvt_f16_f32_e32 v87.h, v80
	v_sub_f32_e32 v74, v74, v82
	v_exp_f32_e32 v82, v83
	v_exp_f32_e32 v84, v70
	v_exp_f32_e32 v78, v78
	v_exp_f32_e32 v66, v66
	v_exp_f32_e32 v74, v74
	v_mul_f32_e32 v28, v82, v28
	v_exp_f32_e32 v73, v73
	v_mul_f32_e32 v24, v82, v24
	v_exp_f32_e32 v75, v75
	v_mul_f32_e32 v31, v82, v31
	v_exp_f32_e32 v76, v76
	v_mul_f32_e32 v23, v82, v23
	v_mul_f32_e32 v20, v82, v20
	v_exp_f32_e32 v77, v77
	v_mul_f32_e32 v12, v82, v12
	v_exp_f32_e32 v67, v67
	v_dual_add_f32 v70, v73, v74 :: v_dual_mul_f32 v27, v82, v27
	v_exp_f32_e32 v68, v68
	v_mul_f32_e32 v25, v82, v25
	v_exp_f32_e32 v86, v72
	s_delay_alu instid0(VALU_DEP_2)
	v_add_f32_e32 v70, v70, v75
	v_exp_f32_e32 v81, v81
	v_cvt_f16_f32_e32 v72.l, v77
	v_cvt_f16_f32_e32 v72.h, v78
	v_mul_f32_e32 v32, v82, v32
	v_add_f32_e32 v70, v70, v76
	v_exp_f32_e32 v83, v69
	v_cvt_f16_f32_e32 v69.h, v74
	v_cvt_f16_f32_e32 v69.l, v73
	v_cvt_f16_f32_e32 v88.h, v86
	v_add_f32_e32 v70, v70, v77
	v_exp_f32_e32 v85, v71
	v_cvt_f16_f32_e32 v71.l, v75
	v_cvt_f16_f32_e32 v71.h, v76
	v_cvt_f16_f32_e32 v75.h, v66
	v_add_f32_e32 v70, v70, v78
	v_cvt_f16_f32_e32 v76.l, v67
	v_cvt_f16_f32_e32 v77.l, v83
	v_permlanex16_b32 v74, v71, s6, 0xfedcba98 op_sel:[1,1]
	v_mul_f32_e32 v8, v82, v8
	v_add_f32_e32 v70, v70, v79
	v_cvt_f16_f32_e32 v75.l, v81
	v_cvt_f16_f32_e32 v76.h, v68
	v_cvt_f16_f32_e32 v77.h, v84
	v_cvt_f16_f32_e32 v88.l, v85
	v_add_f32_e32 v70, v70, v80
	v_permlanex16_b32 v73, v69, s6, 0xfedcba98 op_sel:[1,1]
	v_permlanex16_b32 v78, v72, s6, 0xfedcba98 op_sel:[1,1]
	v_permlanex16_b32 v79, v87, s6, 0xfedcba98 op_sel:[1,1]
	v_mul_f32_e32 v29, v82, v29
	v_add_f32_e32 v70, v70, v81
	v_mul_f32_e32 v26, v82, v26
	v_mul_f32_e32 v22, v82, v22
	v_mul_f32_e32 v19, v82, v19
	v_mul_f32_e32 v18, v82, v18
	v_add_f32_e32 v66, v70, v66
	v_mul_f32_e32 v17, v82, v17
	v_mul_f32_e32 v16, v82, v16
	v_mul_f32_e32 v14, v82, v14
	v_mul_f32_e32 v10, v82, v10
	v_add_f32_e32 v99, v66, v67
	v_mul_f32_e32 v21, v82, v21
	v_cndmask_b32_e32 v67, v74, v71, vcc_lo
	v_cndmask_b32_e32 v71, v71, v74, vcc_lo
	v_mul_f32_e32 v6, v82, v6
	v_dual_add_f32 v74, v99, v68 :: v_dual_mul_f32 v5, v82, v5
	v_mul_f32_e32 v3, v82, v3
	v_mul_f32_e32 v2, v82, v2
	v_mul_f32_e32 v1, v82, v1
	s_delay_alu instid0(VALU_DEP_4)
	v_add_f32_e32 v83, v74, v83
	v_permlanex16_b32 v80, v75, s6, 0xfedcba98 op_sel:[1,1]
	v_mul_f32_e32 v15, v82, v15
	v_mul_f32_e32 v13, v82, v13
	v_permlanex16_b32 v81, v76, s6, 0xfedcba98 op_sel:[1,1]
	v_dual_add_f32 v83, v83, v84 :: v_dual_mul_f32 v30, v82, v30
	v_permlanex16_b32 v97, v77, s6, 0xfedcba98 op_sel:[1,1]
	v_mul_f32_e32 v11, v82, v11
	v_mul_f32_e32 v7, v82, v7
	v_permlanex16_b32 v98, v88, s6, 0xfedcba98 op_sel:[1,1]
	v_mul_f32_e32 v4, v82, v4
	v_cndmask_b32_e32 v66, v73, v69, vcc_lo
	v_cndmask_b32_e32 v70, v69, v73, vcc_lo
	v_cndmask_b32_e32 v68, v78, v72, vcc_lo
	v_dual_cndmask_b32 v72, v72, v78 :: v_dual_cndmask_b32 v69, v79, v87
	v_cndmask_b32_e32 v73, v87, v79, vcc_lo
	v_add_f32_e32 v83, v83, v85
	v_mul_f32_e32 v9, v82, v9
	v_mul_f32_e32 v82, v82, v146
	v_cndmask_b32_e32 v74, v80, v75, vcc_lo
	v_cndmask_b32_e32 v78, v75, v80, vcc_lo
	v_cndmask_b32_e32 v75, v81, v76, vcc_lo
	v_cndmask_b32_e32 v79, v76, v81, vcc_lo
	v_cndmask_b32_e32 v76, v97, v77, vcc_lo
	v_dual_cndmask_b32 v80, v77, v97 :: v_dual_cndmask_b32 v77, v98, v88
	v_cndmask_b32_e32 v81, v88, v98, vcc_lo
	s_waitcnt lgkmcnt(14)
	v_wmma_f32_16x16x16_f16 v[25:32], v[175:182], v[66:73], v[25:32]
	s_waitcnt lgkmcnt(12)
	v_wmma_f32_16x16x16_f16 v[17:24], v[183:190], v[66:73], v[17:24]
	s_waitcnt lgkmcnt(10)
	v_wmma_f32_16x16x16_f16 v[9:16], v[191:198], v[66:73], v[9:16]
	s_waitcnt lgkmcnt(8)
	v_wmma_f32_16x16x16_f16 v[1:8], v[199:206], v[66:73], v[1:8]
	v_add_f32_e32 v66, v83, v86
	s_waitcnt lgkmcnt(6)
	v_wmma_f32_16x16x16_f16 v[25:32], v[207:214], v[74:81], v[25:32]
	s_waitcnt lgkmcnt(4)
	v_wmma_f32_16x16x16_f16 v[17:24], v[215:222], v[74:81], v[17:24]
	s_waitcnt lgkmcnt(2)
	v_wmma_f32_16x16x16_f16 v[9:16], v[113:120], v[74:81], v[9:16]
	s_waitcnt lgkmcnt(0)
	v_wmma_f32_16x16x16_f16 v[1:8], v[89:96], v[74:81], v[1:8]
	v_add_f32_e32 v146, v66, v82
	s_cmp_lg_u32 s26, s43
	s_cbranch_scc1 .LBB0_5
	s_mov_b32 s43, s26
	s_branch .LBB0_9
.LBB0_7:
	v_mov_b32_e32 v25, 0
	s_delay_alu instid0(VALU_DEP_1)
	v_dual_mov_b32 v77, 0xff800000 :: v_dual_mov_b32 v26, v25
	v_mov_b32_e32 v27, v25
	v_mov_b32_e32 v28, v25
	v_mov_b32_e32 v29, v25
	v_mov_b32_e32 v30, v25
	v_mov_b32_e32 v31, v25
	v_mov_b32_e32 v32, v25
	v_dual_mov_b32 v17, v25 :: v_dual_mov_b32 v18, v26
	v_dual_mov_b32 v9, v25 :: v_dual_mov_b32 v10, v26
	v_dual_mov_b32 v1, v25 :: v_dual_mov_b32 v2, v26
	v_dual_mov_b32 v19, v27 :: v_dual_mov_b32 v20, v28
	v_dual_mov_b32 v21, v29 :: v_dual_mov_b32 v22, v30
	v_dual_mov_b32 v23, v31 :: v_dual_mov_b32 v24, v32
	v_dual_mov_b32 v11, v27 :: v_dual_mov_b32 v12, v28
	v_dual_mov_b32 v13, v29 :: v_dual_mov_b32 v14, v30
	v_dual_mov_b32 v15, v31 :: v_dual_mov_b32 v16, v32
	v_dual_mov_b32 v3, v27 :: v_dual_mov_b32 v4, v28
	v_dual_mov_b32 v5, v29 :: v_dual_mov_b32 v6, v30
	v_dual_mov_b32 v7, v31 :: v_dual_mov_b32 v8, v32
	v_mov_b32_e32 v146, v25
	s_branch .LBB0_28
.LBB0_8:
	v_mov_b32_e32 v25, 0
	s_mov_b32 s43, 0
	s_delay_alu instid0(VALU_DEP_1)
	v_dual_mov_b32 v65, 0xff800000 :: v_dual_mov_b32 v26, v25
	v_mov_b32_e32 v27, v25
	v_mov_b32_e32 v28, v25
	v_mov_b32_e32 v29, v25
	v_mov_b32_e32 v30, v25
	v_mov_b32_e32 v31, v25
	v_mov_b32_e32 v32, v25
	v_dual_mov_b32 v17, v25 :: v_dual_mov_b32 v18, v26
	v_dual_mov_b32 v9, v25 :: v_dual_mov_b32 v10, v26
	v_dual_mov_b32 v1, v25 :: v_dual_mov_b32 v2, v26
	v_dual_mov_b32 v19, v27 :: v_dual_mov_b32 v20, v28
	v_dual_mov_b32 v21, v29 :: v_dual_mov_b32 v22, v30
	v_dual_mov_b32 v23, v31 :: v_dual_mov_b32 v24, v32
	v_dual_mov_b32 v11, v27 :: v_dual_mov_b32 v12, v28
	v_dual_mov_b32 v13, v29 :: v_dual_mov_b32 v14, v30
	v_dual_mov_b32 v15, v31 :: v_dual_mov_b32 v16, v32
	v_dual_mov_b32 v3, v27 :: v_dual_mov_b32 v4, v28
	v_dual_mov_b32 v5, v29 :: v_dual_mov_b32 v6, v30
	v_dual_mov_b32 v7, v31 :: v_dual_mov_b32 v8, v32
	v_mov_b32_e32 v146, v25
.LBB0_9:
	s_add_i32 s2, s27, 31
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
	s_ashr_i32 s5, s2, 31
	s_lshr_b32 s5, s5, 27
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
	s_add_i32 s2, s2, s5
	s_ashr_i32 s2, s2, 5
	s_cmp_lg_u32 s43, 0
	s_cselect_b32 s6, -1, 0
	s_cmp_lt_i32 s43, s2
	s_cselect_b32 s5, -1, 0
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
	s_and_b32 s6, s6, s5
	s_and_not1_b32 vcc_lo, exec_lo, s6
	s_cbranch_vccnz .LBB0_11
	s_lshl_b32 s6, s43, 5
	s_lshr_b32 s10, s43, 27
	s_mul_i32 s8, s6, s19
	s_mul_hi_u32 s9, s6, s18
	s_sub_i32 s12, s27, s6
	s_add_i32 s8, s9, s8
	s_mul_i32 s9, s10, s18
	s_mul_i32 s11, s6, s23
	s_add_i32 s9, s8, s9
	s_mul_i32 s8, s6, s18
	s_mul_hi_u32 s14, s6, s22
	s_lshl_b64 s[8:9], s[8:9], 1
	s_mul_i32 s15, s10, s22
	s_add_u32 s8, s28, s8
	s_addc_u32 s9, s29, s9
	s_add_i32 s13, s12, -1
	v_mov_b32_e32 v66, v0
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_3) | instid1(VALU_DEP_2)
	v_lshrrev_b32_e32 v67, 3, v66
	v_lshlrev_b32_e32 v66, 4, v66
	s_mul_i32 s10, s6, s22
	s_add_i32 s6, s14, s11
	v_cmp_gt_u32_e32 vcc_lo, s12, v67
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_2) | instid1(VALU_DEP_1)
	v_and_b32_e32 v66, 0x70, v66
	s_add_i32 s11, s6, s15
	v_cndmask_b32_e32 v67, s13, v67, vcc_lo
	v_mad_u64_u32 v[66:67], null, s40, v67, v[66:67]
	v_mov_b32_e32 v67, v0
	global_load_b128 v[137:140], v66, s[8:9]
	v_lshrrev_b32_e32 v66, 3, v67
	v_lshlrev_b32_e32 v67, 4, v67
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_nc_u32_e32 v68, 16, v66
	v_and_b32_e32 v66, 0x70, v67
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_cmp_gt_u32_e32 vcc_lo, s12, v68
	v_cndmask_b32_e32 v67, s13, v68, vcc_lo
	v_mad_u64_u32 v[66:67], null, s40, v67, v[66:67]
	v_mov_b32_e32 v67, v0
	global_load_b128 v[141:144], v66, s[8:9]
	v_lshrrev_b32_e32 v73, 2, v67
	v_lshlrev_b32_e32 v66, 2, v67
	s_lshl_b64 s[8:9], s[10:11], 1
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	s_add_u32 s8, s30, s8
	v_and_b32_e32 v72, 0x3ffffff8, v73
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_and_b32_e32 v66, 0x7c, v66
	s_addc_u32 s9, s31, s9
	v_cmp_gt_u32_e32 vcc_lo, s12, v72
	v_or_b32_e32 v69, 1, v72
	v_or_b32_e32 v70, 2, v72
	v_or_b32_e32 v71, 3, v72
	v_or_b32_e32 v74, 4, v72
	v_cndmask_b32_e32 v67, s13, v72, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s12, v69
	v_or_b32_e32 v75, 5, v72
	v_or_b32_e32 v76, 6, v72
	s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_4) | instid1(VALU_DEP_4)
	v_mad_u64_u32 v[67:68], null, v67, s41, v[66:67]
	v_cndmask_b32_e32 v68, s13, v69, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s12, v70
	v_cndmask_b32_e32 v70, s13, v70, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s12, v71
	v_mad_u64_u32 v[68:69], null, v68, s41, v[66:67]
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_2) | instid1(VALU_DEP_2)
	v_mad_u64_u32 v[69:70], null, v70, s41, v[66:67]
	v_cndmask_b32_e32 v71, s13, v71, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s12, v74
	v_mad_u64_u32 v[70:71], null, v71, s41, v[66:67]
	v_cndmask_b32_e32 v74, s13, v74, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s12, v75
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_4) | instid1(VALU_DEP_4)
	v_mad_u64_u32 v[71:72], null, v74, s41, v[66:67]
	v_or_b32_e32 v72, 7, v73
	v_cndmask_b32_e32 v73, s13, v75, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s12, v76
	v_cndmask_b32_e32 v74, s13, v76, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s12, v72
	v_cndmask_b32_e32 v75, s13, v72, vcc_lo
	v_mad_u64_u32 v[72:73], null, v73, s41, v[66:67]
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_mad_u64_u32 v[73:74], null, v74, s41, v[66:67]
	v_mad_u64_u32 v[74:75], null, v75, s41, v[66:67]
	s_clause 0x7
	global_load_b32 v148, v67, s[8:9]
	global_load_b32 v149, v68, s[8:9]
	global_load_b32 v150, v69, s[8:9]
	global_load_b32 v153, v70, s[8:9]
	global_load_b32 v154, v71, s[8:9]
	global_load_b32 v155, v72, s[8:9]
	global_load_b32 v151, v73, s[8:9]
	global_load_b32 v152, v74, s[8:9]
.LBB0_11:
	s_and_not1_b32 vcc_lo, exec_lo, s5
	s_mov_b32 s5, -1
	s_cbranch_vccnz .LBB0_23
	v_and_or_b32 v66, v158, 14, v166
	v_and_b32_e32 v67, 48, v164
	v_and_b32_e32 v68, 12, v165
	v_and_b32_e32 v69, 0x70, v162
	v_lshlrev_b32_e32 v70, 1, v163
	v_or_b32_e32 v71, 16, v66
	v_mul_u32_u24_e32 v75, 0x50, v158
	v_or3_b32 v73, v67, v161, v68
	v_or3_b32 v72, v161, v68, v67
	v_mad_u32_u24 v66, 0x90, v66, v69
	v_mad_u32_u24 v67, 0x90, v71, v69
	v_cmp_gt_u32_e64 s5, 0x100, v0
	v_mad_u32_u24 v69, 0x50, v73, v70
	v_and_b32_e32 v73, 3, v0
	v_mad_u32_u24 v68, 0x50, v72, v70
	v_lshlrev_b32_e32 v70, 2, v156
	v_lshlrev_b32_e32 v71, 1, v160
	v_lshlrev_b32_e32 v72, 3, v157
	v_lshlrev_b32_e32 v76, 4, v73
	v_cmp_eq_u32_e64 s6, 0, v157
	v_lshlrev_b32_e32 v73, 1, v159
	v_or_b32_e32 v74, 0xffffff80, v0
	s_mov_b32 s8, 0
	v_add3_u32 v75, v75, v76, 0x1200
	v_mov_b32_e32 v76, 0
	s_mov_b32 s9, s8
	s_mov_b32 s10, s8
	s_mov_b32 s11, s8
	s_mov_b32 s12, s8
	s_mov_b32 s13, s8
	s_mov_b32 s14, s8
	s_mov_b32 s15, s8
	s_mov_b32 s34, 0x76543210
	s_mov_b32 s35, s8
	s_branch .LBB0_15
.LBB0_13:
	s_or_b32 exec_lo, exec_lo, s35
	s_mov_b32 s35, 1
	s_waitcnt lgkmcnt(0)
	s_barrier
.LBB0_14:
	ds_load_b128 v[77:80], v71
	ds_load_b128 v[81:84], v71 offset:16
	ds_load_b128 v[85:88], v71 offset:32
	ds_load_b128 v[89:92], v71 offset:48
	v_dual_mov_b32 v100, s15 :: v_dual_mov_b32 v99, s14
	v_dual_mov_b32 v98, s13 :: v_dual_mov_b32 v97, s12
	v_dual_mov_b32 v96, s11 :: v_dual_mov_b32 v95, s10
	v_dual_mov_b32 v94, s9 :: v_dual_mov_b32 v93, s8
	s_waitcnt lgkmcnt(2)
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_wmma_f32_16x16x16_f16 v[101:108], v[77:84], v[41:48], v[93:100]
	s_waitcnt lgkmcnt(0)
	v_wmma_f32_16x16x16_f16 v[101:108], v[85:92], v[33:40], v[101:108]
	ds_load_b128 v[77:80], v71 offset:64
	ds_load_b128 v[81:84], v71 offset:80
	ds_load_b128 v[85:88], v71 offset:96
	ds_load_b128 v[89:92], v71 offset:112
	s_waitcnt lgkmcnt(2)
	v_wmma_f32_16x16x16_f16 v[101:108], v[77:84], v[57:64], v[101:108]
	s_waitcnt lgkmcnt(0)
	s_delay_alu instid0(VALU_DEP_1)
	v_wmma_f32_16x16x16_f16 v[101:108], v[85:92], v[49:56], v[101:108]
	ds_load_b128 v[77:80], v71 offset:2304
	ds_load_b128 v[81:84], v71 offset:2320
	ds_load_b128 v[85:88], v71 offset:2336
	ds_load_b128 v[89:92], v71 offset:2352
	s_waitcnt lgkmcnt(2)
	v_wmma_f32_16x16x16_f16 v[109:116], v[77:84], v[41:48], v[93:100]
	s_waitcnt lgkmcnt(0)
	s_delay_alu instid0(VALU_DEP_1)
	v_wmma_f32_16x16x16_f16 v[109:116], v[85:92], v[33:40], v[109:116]
	ds_load_b128 v[77:80], v71 offset:2368
	ds_load_b128 v[81:84], v71 offset:2384
	ds_load_b128 v[85:88], v71 offset:2400
	ds_load_b128 v[89:92], v71 offset:2416
	s_waitcnt lgkmcnt(2)
	v_wmma_f32_16x16x16_f16 v[109:116], v[77:84], v[57:64], v[109:116]
	s_waitcnt lgkmcnt(0)
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_3) | instid1(VALU_DEP_3)
	v_wmma_f32_16x16x16_f16 v[109:116], v[85:92], v[49:56], v[109:116]
	v_lshl_or_b32 v77, s43, 5, v72
	v_dual_mul_f32 v78, s42, v101 :: v_dual_mul_f32 v79, s42, v102
	v_dual_mul_f32 v80, s42, v103 :: v_dual_mul_f32 v81, s42, v104
	v_sub_nc_u32_e32 v77, s27, v77
	v_dual_mul_f32 v82, s42, v105 :: v_dual_mul_f32 v83, s42, v106
	v_dual_mul_f32 v85, s42, v107 :: v_dual_mul_f32 v86, s42, v108
	s_delay_alu instid0(VALU_DEP_3)
	v_cmp_lt_i32_e32 vcc_lo, 0, v77
	v_dual_mul_f32 v87, s42, v109 :: v_dual_mul_f32 v88, s42, v110
	v_dual_mul_f32 v89, s42, v111 :: v_dual_mul_f32 v90, s42, v112
	v_cndmask_b32_e32 v78, 0xff800000, v78, vcc_lo
	v_cmp_lt_i32_e32 vcc_lo, 1, v77
	v_dual_mul_f32 v91, s42, v113 :: v_dual_mul_f32 v92, s42, v114
	v_dual_mul_f32 v93, s42, v115 :: v_dual_mul_f32 v94, s42, v116
	v_cndmask_b32_e32 v79, 0xff800000, v79, vcc_lo
	v_cmp_lt_i32_e32 vcc_lo, 2, v77
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_4) | instid1(VALU_DEP_2)
	v_max3_f32 v84, v65, v78, v79
	v_cndmask_b32_e32 v80, 0xff800000, v80, vcc_lo
	v_cmp_lt_i32_e32 vcc_lo, 3, v77
	v_cndmask_b32_e32 v81, 0xff800000, v81, vcc_lo
	v_cmp_lt_i32_e32 vcc_lo, 4, v77
	v_max3_f32 v84, v84, v80, v81
	v_cndmask_b32_e32 v82, 0xff800000, v82, vcc_lo
	v_cmp_lt_i32_e32 vcc_lo, 5, v77
	v_cndmask_b32_e32 v83, 0xff800000, v83, vcc_lo
	v_cmp_lt_i32_e32 vcc_lo, 6, v77
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_4) | instid1(VALU_DEP_2)
	v_max3_f32 v84, v84, v82, v83
	v_cndmask_b32_e32 v85, 0xff800000, v85, vcc_lo
	v_cmp_lt_i32_e32 vcc_lo, 7, v77
	v_cndmask_b32_e32 v86, 0xff800000, v86, vcc_lo
	v_cmp_lt_i32_e32 vcc_lo, 16, v77
	v_max3_f32 v84, v84, v85, v86
	v_cndmask_b32_e32 v87, 0xff800000, v87, vcc_lo
	v_cmp_lt_i32_e32 vcc_lo, 17, v77
	v_cndmask_b32_e32 v88, 0xff800000, v88, vcc_lo
	v_cmp_lt_i32_e32 vcc_lo, 18, v77
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_4) | instid1(VALU_DEP_2)
	v_max3_f32 v84, v84, v87, v88
	v_cndmask_b32_e32 v89, 0xff800000, v89, vcc_lo
	v_cmp_lt_i32_e32 vcc_lo, 19, v77
	v_cndmask_b32_e32 v90, 0xff800000, v90, vcc_lo
	v_cmp_lt_i32_e32 vcc_lo, 20, v77
	v_max3_f32 v84, v84, v89, v90
	v_cndmask_b32_e32 v91, 0xff800000, v91, vcc_lo
	v_cmp_lt_i32_e32 vcc_lo, 21, v77
	v_cndmask_b32_e32 v92, 0xff800000, v92, vcc_lo
	v_cmp_lt_i32_e32 vcc_lo, 22, v77
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_3) | instid1(VALU_DEP_1)
	v_max3_f32 v84, v84, v91, v92
	v_cndmask_b32_e32 v93, 0xff800000, v93, vcc_lo
	v_cmp_lt_i32_e32 vcc_lo, 23, v77
	v_cndmask_b32_e32 v94, 0xff800000, v94, vcc_lo
	v_max3_f32 v77, v84, v93, v94
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_permlanex16_b32 v84, v77, s34, 0xfedcba98 op_sel:[1,1]
	v_max_f32_e32 v84, v84, v84
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_max_f32_e32 v77, v77, v84
	v_cmp_neq_f32_e32 vcc_lo, 0xff800000, v77
	v_cndmask_b32_e32 v84, 0, v77, vcc_lo
	s_delay_alu instid0(VALU_DEP_1)
	v_sub_f32_e32 v78, v78, v84
	v_sub_f32_e32 v79, v79, v84
	v_sub_f32_e32 v65, v65, v84
	v_sub_f32_e32 v80, v80, v84
	v_sub_f32_e32 v83, v83, v84
	v_exp_f32_e32 v78, v78
	v_exp_f32_e32 v79, v79
	v_exp_f32_e32 v65, v65
	v_sub_f32_e32 v81, v81, v84
	v_sub_f32_e32 v82, v82, v84
	v_sub_f32_e32 v85, v85, v84
	v_sub_f32_e32 v86, v86, v84
	v_exp_f32_e32 v80, v80
	v_exp_f32_e32 v83, v83
	v_sub_f32_e32 v87, v87, v84
	v_sub_f32_e32 v88, v88, v84
	v_sub_f32_e32 v90, v90, v84
	v_sub_f32_e32 v91, v91, v84
	v_dual_sub_f32 v94, v94, v84 :: v_dual_mul_f32 v29, v65, v29
	v_exp_f32_e32 v81, v81
	v_exp_f32_e32 v82, v82
	v_sub_f32_e32 v89, v89, v84
	v_dual_mul_f32 v31, v65, v31 :: v_dual_sub_f32 v92, v92, v84
	v_sub_f32_e32 v93, v93, v84
	v_exp_f32_e32 v84, v85
	v_exp_f32_e32 v85, v86
	v_exp_f32_e32 v86, v87
	v_add_f32_e32 v87, v78, v79
	v_cvt_f16_f32_e32 v95.l, v78
	v_exp_f32_e32 v88, v88
	v_mul_f32_e32 v27, v65, v27
	v_exp_f32_e32 v90, v90
	v_add_f32_e32 v87, v87, v80
	v_exp_f32_e32 v92, v92
	v_exp_f32_e32 v94, v94
	v_cvt_f16_f32_e32 v95.h, v79
	v_cvt_f16_f32_e32 v80.l, v80
	v_add_f32_e32 v87, v87, v81
	v_mul_f32_e32 v25, v65, v25
	v_cvt_f16_f32_e32 v80.h, v81
	v_cvt_f16_f32_e32 v81.l, v82
	v_cvt_f16_f32_e32 v81.h, v83
	v_add_f32_e32 v78, v87, v82
	v_exp_f32_e32 v89, v89
	v_cvt_f16_f32_e32 v87.l, v84
	v_cvt_f16_f32_e32 v87.h, v85
	v_cvt_f16_f32_e32 v103.l, v86
	v_add_f32_e32 v78, v78, v83
	v_mul_f32_e32 v96, v65, v146
	v_permlanex16_b32 v79, v95, s34, 0xfedcba98 op_sel:[1,1]
	v_permlanex16_b32 v83, v80, s34, 0xfedcba98 op_sel:[1,1]
	v_cvt_f16_f32_e32 v103.h, v88
	v_add_f32_e32 v78, v78, v84
	v_permlanex16_b32 v84, v81, s34, 0xfedcba98 op_sel:[1,1]
	v_cvt_f16_f32_e32 v104.l, v89
	v_cvt_f16_f32_e32 v104.h, v90
	v_cvt_f16_f32_e32 v105.h, v92
	v_add_f32_e32 v78, v78, v85
	v_exp_f32_e32 v91, v91
	v_permlanex16_b32 v85, v87, s34, 0xfedcba98 op_sel:[1,1]
	v_cndmask_b32_e64 v82, v95, v79, s6
	v_cvt_f16_f32_e32 v109.h, v94
	v_add_f32_e32 v78, v78, v86
	v_exp_f32_e32 v93, v93
	v_mul_f32_e32 v32, v65, v32
	v_mul_f32_e32 v30, v65, v30
	v_mul_f32_e32 v28, v65, v28
	v_add_f32_e32 v78, v78, v88
	v_cvt_f16_f32_e32 v105.l, v91
	v_mul_f32_e32 v26, v65, v26
	v_permlanex16_b32 v106, v103, s34, 0xfedcba98 op_sel:[1,1]
	v_permlanex16_b32 v107, v104, s34, 0xfedcba98 op_sel:[1,1]
	v_dual_add_f32 v78, v78, v89 :: v_dual_mul_f32 v23, v65, v23
	v_cvt_f16_f32_e32 v109.l, v93
	v_permlanex16_b32 v108, v105, s34, 0xfedcba98 op_sel:[1,1]
	v_cndmask_b32_e64 v102, v106, v103, s6
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_dual_add_f32 v78, v78, v90 :: v_dual_mul_f32 v21, v65, v21
	v_permlanex16_b32 v110, v109, s34, 0xfedcba98 op_sel:[1,1]
	v_cndmask_b32_e64 v106, v103, v106, s6
	v_cndmask_b32_e64 v103, v107, v104, s6
	s_delay_alu instid0(VALU_DEP_4)
	v_add_f32_e32 v78, v78, v91
	v_mul_f32_e32 v19, v65, v19
	v_cndmask_b32_e64 v107, v104, v107, s6
	v_cndmask_b32_e64 v104, v108, v105, s6
	v_cndmask_b32_e64 v108, v105, v108, s6
	v_dual_add_f32 v78, v78, v92 :: v_dual_mul_f32 v15, v65, v15
	v_cndmask_b32_e64 v105, v110, v109, s6
	v_cndmask_b32_e64 v109, v109, v110, s6
	v_mul_f32_e32 v24, v65, v24
	s_delay_alu instid0(VALU_DEP_4)
	v_add_f32_e32 v86, v78, v93
	v_mul_f32_e32 v17, v65, v17
	v_cndmask_b32_e64 v78, v79, v95, s6
	v_cndmask_b32_e64 v79, v83, v80, s6
	v_cndmask_b32_e64 v83, v80, v83, s6
	v_dual_add_f32 v86, v86, v94 :: v_dual_mul_f32 v13, v65, v13
	v_cndmask_b32_e64 v80, v84, v81, s6
	v_cndmask_b32_e64 v84, v81, v84, s6
	v_cndmask_b32_e64 v81, v85, v87, s6
	v_cndmask_b32_e64 v85, v87, v85, s6
	v_add_f32_e32 v146, v86, v96
	ds_load_b128 v[86:89], v73 offset:4608
	ds_load_b128 v[90:93], v73 offset:4624
	ds_load_b128 v[94:97], v73 offset:4640
	ds_load_b128 v[98:101], v73 offset:4656
	v_mul_f32_e32 v22, v65, v22
	v_mul_f32_e32 v20, v65, v20
	v_mul_f32_e32 v18, v65, v18
	v_mul_f32_e32 v16, v65, v16
	v_mul_f32_e32 v14, v65, v14
	v_mul_f32_e32 v12, v65, v12
	v_mul_f32_e32 v11, v65, v11
	v_mul_f32_e32 v10, v65, v10
	v_mul_f32_e32 v9, v65, v9
	v_mul_f32_e32 v8, v65, v8
	v_mul_f32_e32 v7, v65, v7
	v_mul_f32_e32 v6, v65, v6
	v_mul_f32_e32 v5, v65, v5
	v_mul_f32_e32 v4, v65, v4
	v_mul_f32_e32 v3, v65, v3
	v_mul_f32_e32 v2, v65, v2
	v_mul_f32_e32 v1, v65, v1
	s_waitcnt lgkmcnt(2)
	v_wmma_f32_16x16x16_f16 v[25:32], v[86:93], v[78:85], v[25:32]
	s_waitcnt lgkmcnt(0)
	s_delay_alu instid0(VALU_DEP_1)
	v_wmma_f32_16x16x16_f16 v[25:32], v[94:101], v[102:109], v[25:32]
	ds_load_b128 v[86:89], v73 offset:5888
	ds_load_b128 v[90:93], v73 offset:5904
	ds_load_b128 v[94:97], v73 offset:5920
	ds_load_b128 v[98:101], v73 offset:5936
	s_waitcnt lgkmcnt(2)
	v_wmma_f32_16x16x16_f16 v[17:24], v[86:93], v[78:85], v[17:24]
	s_waitcnt lgkmcnt(0)
	s_delay_alu instid0(VALU_DEP_1)
	v_wmma_f32_16x16x16_f16 v[17:24], v[94:101], v[102:109], v[17:24]
	ds_load_b128 v[86:89], v73 offset:7168
	ds_load_b128 v[90:93], v73 offset:7184
	ds_load_b128 v[94:97], v73 offset:7200
	ds_load_b128 v[98:101], v73 offset:7216
	s_waitcnt lgkmcnt(2)
	v_wmma_f32_16x16x16_f16 v[9:16], v[86:93], v[78:85], v[9:16]
	s_waitcnt lgkmcnt(0)
	s_delay_alu instid0(VALU_DEP_1)
	v_wmma_f32_16x16x16_f16 v[9:16], v[94:101], v[102:109], v[9:16]
	ds_load_b128 v[86:89], v73 offset:8448
	ds_load_b128 v[90:93], v73 offset:8464
	ds_load_b128 v[94:97], v73 offset:8480
	ds_load_b128 v[98:101], v73 offset:8496
	s_waitcnt lgkmcnt(2)
	v_wmma_f32_16x16x16_f16 v[1:8], v[86:93], v[78:85], v[1:8]
	s_waitcnt lgkmcnt(0)
	s_delay_alu instid0(VALU_DEP_1)
	v_wmma_f32_16x16x16_f16 v[1:8], v[94:101], v[102:109], v[1:8]
	v_mov_b32_e32 v65, v77
	s_and_not1_b32 vcc_lo, exec_lo, s37
	s_mov_b32 s43, s36
	s_cbranch_vccz .LBB0_24
.LBB0_15:
	s_waitcnt vmcnt(7)
	v_and_b32_e32 v77, 0x7c007c00, v148
	s_waitcnt vmcnt(6)
	v_and_b32_e32 v78, 0x7c007c00, v149
	s_waitcnt vmcnt(5)
	v_and_b32_e32 v79, 0x7c007c00, v150
	s_waitcnt vmcnt(4)
	v_and_b32_e32 v80, 0x7c007c00, v153
	s_waitcnt vmcnt(3)
	v_and_b32_e32 v81, 0x7c007c00, v154
	v_add_nc_u32_e32 v77, 0x4000400, v77
	v_add_nc_u32_e32 v78, 0x4000400, v78
	s_waitcnt vmcnt(2)
	v_and_b32_e32 v82, 0x7c007c00, v155
	v_add_nc_u32_e32 v79, 0x4000400, v79
	v_add_nc_u32_e32 v80, 0x4000400, v80
	s_waitcnt vmcnt(0)
	v_and_b32_e32 v83, 0x7c007c00, v152
	v_or_b32_e32 v77, v78, v77
	v_and_b32_e32 v78, 0x7c007c00, v151
	v_add_nc_u32_e32 v81, 0x4000400, v81
	v_add_nc_u32_e32 v82, 0x4000400, v82
	v_perm_b32 v84, v152, v151, 0x7060302
	v_or3_b32 v77, v79, v77, v80
	v_add_nc_u32_e32 v78, 0x4000400, v78
	v_add_nc_u32_e32 v79, 0x4000400, v83
	v_perm_b32 v80, v152, v151, 0x5040100
	v_perm_b32 v83, v155, v154, 0x7060302
	v_or3_b32 v77, v81, v77, v82
	v_perm_b32 v81, v149, v148, 0x7060302
	v_perm_b32 v82, v153, v150, 0x7060302
	s_barrier
	s_delay_alu instid0(VALU_DEP_3)
	v_or3_b32 v77, v78, v77, v79
	v_perm_b32 v78, v153, v150, 0x5040100
	ds_store_b128 v66, v[137:140]
	ds_store_b128 v67, v[141:144]
	v_and_b32_e32 v79, 0x80008000, v77
	v_perm_b32 v77, v149, v148, 0x5040100
	s_delay_alu instid0(VALU_DEP_2)
	v_cmp_ne_u32_e32 vcc_lo, 0, v79
	v_perm_b32 v79, v155, v154, 0x5040100
	s_cmp_lg_u32 vcc_lo, 0
	ds_store_b128 v68, v[77:80] offset:4608
	s_cselect_b32 s36, -1, 0
	ds_store_b128 v69, v[81:84] offset:4768
	s_and_b32 s44, s36, s7
	s_add_i32 s36, s43, 1
	s_and_saveexec_b32 s37, s44
	v_mov_b32_e32 v77, s36
	ds_store_b32 v70, v77 offset:9728
	s_or_b32 exec_lo, exec_lo, s37
	s_cmp_ge_i32 s36, s2
	s_waitcnt lgkmcnt(0)
	s_cselect_b32 s37, -1, 0
	s_barrier
	s_and_b32 vcc_lo, exec_lo, s37
	s_cbranch_vccnz .LBB0_19
	s_lshl_b32 s46, s36, 5
	s_lshr_b32 s47, s36, 27
	s_mul_i32 s44, s46, s19
	s_mul_hi_u32 s45, s46, s18
	s_sub_i32 s48, s27, s46
	s_add_i32 s44, s45, s44
	s_mul_i32 s45, s47, s18
	s_mul_i32 s50, s46, s23
	s_add_i32 s45, s44, s45
	s_mul_i32 s44, s46, s18
	s_mul_hi_u32 s51, s46, s22
	s_lshl_b64 s[44:45], s[44:45], 1
	s_mul_i32 s47, s47, s22
	s_add_u32 s44, s28, s44
	s_addc_u32 s45, s29, s45
	s_add_i32 s49, s48, -1
	v_mov_b32_e32 v77, v0
	s_delay_alu instid0(VALU_DEP_1)
	v_lshrrev_b32_e32 v78, 3, v77
	v_lshlrev_b32_e32 v77, 4, v77
	s_add_i32 s50, s51, s50
	s_mul_i32 s46, s46, s22
	s_add_i32 s47, s50, s47
	v_cmp_gt_u32_e32 vcc_lo, s48, v78
	v_and_b32_e32 v77, 0x70, v77
	v_cndmask_b32_e32 v78, s49, v78, vcc_lo
	s_delay_alu instid0(VALU_DEP_1)
	v_mad_u64_u32 v[77:78], null, s40, v78, v[77:78]
	v_mov_b32_e32 v78, v0
	global_load_b128 v[137:140], v77, s[44:45]
	v_lshrrev_b32_e32 v77, 3, v78
	v_lshlrev_b32_e32 v78, 4, v78
	s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_add_nc_u32_e32 v79, 16, v77
	v_and_b32_e32 v77, 0x70, v78
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_cmp_gt_u32_e32 vcc_lo, s48, v79
	v_cndmask_b32_e32 v78, s49, v79, vcc_lo
	v_mad_u64_u32 v[77:78], null, s40, v78, v[77:78]
	v_mov_b32_e32 v78, v0
	global_load_b128 v[141:144], v77, s[44:45]
	v_lshrrev_b32_e32 v84, 2, v78
	v_lshlrev_b32_e32 v77, 2, v78
	s_lshl_b64 s[44:45], s[46:47], 1
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	s_add_u32 s44, s30, s44
	v_and_b32_e32 v83, 0x3ffffff8, v84
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_and_b32_e32 v77, 0x7c, v77
	s_addc_u32 s45, s31, s45
	v_cmp_gt_u32_e32 vcc_lo, s48, v83
	v_or_b32_e32 v80, 1, v83
	v_or_b32_e32 v81, 2, v83
	v_or_b32_e32 v82, 3, v83
	v_or_b32_e32 v85, 4, v83
	v_cndmask_b32_e32 v78, s49, v83, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s48, v80
	v_or_b32_e32 v86, 5, v83
	v_or_b32_e32 v87, 6, v83
	s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_4) | instid1(VALU_DEP_4)
	v_mad_u64_u32 v[78:79], null, v78, s41, v[77:78]
	v_cndmask_b32_e32 v79, s49, v80, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s48, v81
	v_cndmask_b32_e32 v81, s49, v81, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s48, v82
	v_mad_u64_u32 v[79:80], null, v79, s41, v[77:78]
	s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_2) | instid1(VALU_DEP_2)
	v_mad_u64_u32 v[80:81], null, v81, s41, v[77:78]
	v_cndmask_b32_e32 v82, s49, v82, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s48, v85
	v_mad_u64_u32 v[81:82], null, v82, s41, v[77:78]
	v_cndmask_b32_e32 v85, s49, v85, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s48, v86
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_4) | instid1(VALU_DEP_4)
	v_mad_u64_u32 v[82:83], null, v85, s41, v[77:78]
	v_or_b32_e32 v83, 7, v84
	v_cndmask_b32_e32 v84, s49, v86, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s48, v87
	v_cndmask_b32_e32 v85, s49, v87, vcc_lo
	v_cmp_gt_u32_e32 vcc_lo, s48, v83
	v_cndmask_b32_e32 v86, s49, v83, vcc_lo
	v_mad_u64_u32 v[83:84], null, v84, s41, v[77:78]
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_3)
	v_mad_u64_u32 v[84:85], null, v85, s41, v[77:78]
	v_mad_u64_u32 v[85:86], null, v86, s41, v[77:78]
	s_clause 0x7
	global_load_b32 v148, v78, s[44:45]
	global_load_b32 v149, v79, s[44:45]
	global_load_b32 v150, v80, s[44:45]
	global_load_b32 v153, v81, s[44:45]
	global_load_b32 v154, v82, s[44:45]
	global_load_b32 v155, v83, s[44:45]
	global_load_b32 v151, v84, s[44:45]
	global_load_b32 v152, v85, s[44:45]
.LBB0_19:
	ds_load_b128 v[77:80], v76 offset:9728
	s_waitcnt lgkmcnt(0)
	v_cmp_eq_u32_e32 vcc_lo, s36, v79
	v_cndmask_b32_e64 v79, 0, 1, vcc_lo
	v_cmp_eq_u32_e32 vcc_lo, s36, v78
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_2) | instid1(VALU_DEP_2)
	v_lshlrev_b32_e32 v79, 2, v79
	v_cndmask_b32_e64 v78, 0, 1, vcc_lo
	v_cmp_eq_u32_e32 vcc_lo, s36, v80
	v_lshlrev_b32_e32 v78, 1, v78
	v_cndmask_b32_e64 v80, 0, 1, vcc_lo
	v_cmp_eq_u32_e32 vcc_lo, s36, v77
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_lshlrev_b32_e32 v80, 3, v80
	v_cndmask_b32_e64 v77, 0, 1, vcc_lo
	v_or_b32_e32 v77, v77, v78
	s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_or_b32_e32 v78, v80, v79
	v_and_b32_e32 v77, 3, v77
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
	v_or_b32_e32 v77, v77, v78
	v_and_b32_e32 v77, 15, v77
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
	v_cmp_ne_u32_e32 vcc_lo, 0, v77
	v_cndmask_b32_e64 v77, 0, 1, vcc_lo
	v_readfirstlane_b32 s44, v77
	s_bitcmp0_b32 s44, 0
	s_cbranch_scc1 .LBB0_14
	s_and_saveexec_b32 s35, s5
	s_cbranch_execz .LBB0_13
	v_dual_mov_b32 v77, v75 :: v_dual_mov_b32 v78, v74
	s_mov_b32 s44, 0
.LBB0_22:
	ds_load_b128 v[79:82], v77
	v_add_co_u32 v78, s45, 0x80, v78
	s_xor_b32 s45, s45, -1
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
	s_and_b32 s45, exec_lo, s45
	s_or_b32 s44, s45, s44
	s_waitcnt lgkmcnt(0)
	v_and_b32_e32 v83, 0x7c007c00, v79
	v_and_b32_e32 v84, 0x7c007c00, v80
	v_and_b32_e32 v85, 0x7c007c00, v81
	v_and_b32_e32 v86, 0x7c007c00, v82
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_add_nc_u32_e32 v83, 0x4000400, v83
	v_add_nc_u32_e32 v84, 0x4000400, v84
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_add_nc_u32_e32 v85, 0x4000400, v85
	v_add_nc_u32_e32 v86, 0x4000400, v86
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_lshrrev_b32_e32 v83, 15, v83
	v_lshrrev_b32_e32 v84, 15, v84
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_lshrrev_b32_e32 v85, 15, v85
	v_lshrrev_b32_e32 v86, 15, v86
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_and_b32_e32 v83, 0x10001, v83
	v_and_b32_e32 v84, 0x10001, v84
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_and_b32_e32 v85, 0x10001, v85
	v_and_b32_e32 v86, 0x10001, v86
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_mul_u32_u24_e32 v83, 0xffff, v83
	v_mul_u32_u24_e32 v84, 0xffff, v84
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_mul_u32_u24_e32 v85, 0xffff, v85
	v_mul_u32_u24_e32 v86, 0xffff, v86
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_bfi_b32 v79, v83, 0, v79
	v_bfi_b32 v80, v84, 0, v80
	s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
	v_bfi_b32 v81, v85, 0, v81
	v_bfi_b32 v82, v86, 0, v82
	ds_store_b128 v77, v[79:82]
	v_add_nc_u32_e32 v77, 0xa00, v77
	s_and_not1_b32 exec_lo, exec_lo, s44
	s_cbranch_execnz .LBB0_22
	s_branch .LBB0_13
.LBB0_23:
	v_mov_b32_e32 v77, v65
	s_and_b32 vcc_lo, exec_lo, s5
	s_cbranch_vccz .LBB0_25
	s_branch .LBB0_28
.LBB0_24:
	s_cmp_eq_u32 s35, 0
	s_cselect_b32 s5, -1, 0
	s_delay_alu instid0(SALU_CYCLE_1)
	s_and_b32 vcc_lo, exec_lo, s5
	s_cbranch_vccnz .LBB0_28
.LBB0_25:
	s_lshl_b32 s2, s26, 5
	s_delay_alu instid0(SALU_CYCLE_1)
	s_cmp_ge_i32 s2, s27
	s_cbranch_scc1 .LBB0_28
	s_mul_i32 s6, s23, s2
	s_mul_hi_u32 s7, s22, s2
	s_add_u32 s5, s16, s20
	s_addc_u32 s8, s17, s21
	s_add_i32 s7, s7, s6
	s_mul_i32 s6, s22, s2
	v_and_b32_e32 v0, 16, v0
	s_lshl_b64 s[6:7], s[6:7], 1
	s_delay_alu instid0(SALU_CYCLE_1)
	s_add_u32 s5, s5, s6
	s_addc_u32 s6, s8, s7
	s_add_u32 s5, s24, s5
	s_addc_u32 s6, s25, s6
	s_waitcnt vmcnt(16)
	v_add_co_u32 v33, s5, s5, v0
	s_delay_alu instid0(VALU_DEP_1)
	v_add_co_ci_u32_e64 v34, null, s6, 0, s5
	s_lshl_b64 s[6:7], s[22:23], 1
.LBB0_27:
	global_load_b128 v[35:38], v[33:34], off
	s_waitcnt vmcnt(0)
	v_cvt_f32_f16_e32 v0, v35.l
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v35.l|
	v_cvt_f32_f16_e32 v39, v35.h
	v_cvt_f32_f16_e32 v40, v36.l
	v_cvt_f32_f16_e32 v41, v36.h
	v_cvt_f32_f16_e32 v42, v37.l
	v_cndmask_b32_e32 v0, 0, v0, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v35.h|
	v_cvt_f32_f16_e32 v43, v37.h
	v_cvt_f32_f16_e32 v44, v38.l
	v_cvt_f32_f16_e32 v45, v38.h
	v_cndmask_b32_e32 v35, 0, v39, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v36.l|
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_4) | instid1(VALU_DEP_2)
	v_dual_add_f32 v25, v25, v0 :: v_dual_add_f32 v26, v26, v35
	v_cndmask_b32_e32 v39, 0, v40, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v36.h|
	v_cndmask_b32_e32 v36, 0, v41, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v37.l|
	v_dual_add_f32 v27, v27, v39 :: v_dual_add_f32 v28, v28, v36
	v_cndmask_b32_e32 v40, 0, v42, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v37.h|
	v_cndmask_b32_e32 v37, 0, v43, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v38.l|
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_3) | instid1(VALU_DEP_1)
	v_dual_add_f32 v29, v29, v40 :: v_dual_add_f32 v30, v30, v37
	v_cndmask_b32_e32 v41, 0, v44, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v38.h|
	v_cndmask_b32_e32 v38, 0, v45, vcc_lo
	v_dual_add_f32 v31, v31, v41 :: v_dual_add_f32 v32, v32, v38
	global_load_b128 v[35:38], v[33:34], off offset:32
	s_waitcnt vmcnt(0)
	v_cvt_f32_f16_e32 v0, v35.l
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v35.l|
	v_cvt_f32_f16_e32 v39, v35.h
	v_cvt_f32_f16_e32 v40, v36.l
	v_cvt_f32_f16_e32 v41, v36.h
	v_cvt_f32_f16_e32 v42, v37.l
	v_cndmask_b32_e32 v0, 0, v0, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v35.h|
	v_cvt_f32_f16_e32 v43, v37.h
	v_cvt_f32_f16_e32 v44, v38.l
	v_cvt_f32_f16_e32 v45, v38.h
	v_cndmask_b32_e32 v35, 0, v39, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v36.l|
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_4) | instid1(VALU_DEP_2)
	v_dual_add_f32 v17, v17, v0 :: v_dual_add_f32 v18, v18, v35
	v_cndmask_b32_e32 v39, 0, v40, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v36.h|
	v_cndmask_b32_e32 v36, 0, v41, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v37.l|
	v_dual_add_f32 v19, v19, v39 :: v_dual_add_f32 v20, v20, v36
	v_cndmask_b32_e32 v40, 0, v42, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v37.h|
	v_cndmask_b32_e32 v37, 0, v43, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v38.l|
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_3) | instid1(VALU_DEP_1)
	v_dual_add_f32 v21, v21, v40 :: v_dual_add_f32 v22, v22, v37
	v_cndmask_b32_e32 v41, 0, v44, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v38.h|
	v_cndmask_b32_e32 v38, 0, v45, vcc_lo
	v_dual_add_f32 v23, v23, v41 :: v_dual_add_f32 v24, v24, v38
	global_load_b128 v[35:38], v[33:34], off offset:64
	s_waitcnt vmcnt(0)
	v_cvt_f32_f16_e32 v0, v35.l
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v35.l|
	v_cvt_f32_f16_e32 v39, v35.h
	v_cvt_f32_f16_e32 v40, v36.l
	v_cvt_f32_f16_e32 v41, v36.h
	v_cvt_f32_f16_e32 v42, v37.l
	v_cndmask_b32_e32 v0, 0, v0, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v35.h|
	v_cvt_f32_f16_e32 v43, v37.h
	v_cvt_f32_f16_e32 v44, v38.l
	v_cvt_f32_f16_e32 v45, v38.h
	v_cndmask_b32_e32 v35, 0, v39, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v36.l|
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_4) | instid1(VALU_DEP_2)
	v_dual_add_f32 v9, v9, v0 :: v_dual_add_f32 v10, v10, v35
	v_cndmask_b32_e32 v39, 0, v40, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v36.h|
	v_cndmask_b32_e32 v36, 0, v41, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v37.l|
	v_dual_add_f32 v11, v11, v39 :: v_dual_add_f32 v12, v12, v36
	v_cndmask_b32_e32 v40, 0, v42, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v37.h|
	v_cndmask_b32_e32 v37, 0, v43, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v38.l|
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_3) | instid1(VALU_DEP_1)
	v_dual_add_f32 v13, v13, v40 :: v_dual_add_f32 v14, v14, v37
	v_cndmask_b32_e32 v41, 0, v44, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v38.h|
	v_cndmask_b32_e32 v38, 0, v45, vcc_lo
	v_dual_add_f32 v15, v15, v41 :: v_dual_add_f32 v16, v16, v38
	global_load_b128 v[35:38], v[33:34], off offset:96
	s_waitcnt vmcnt(0)
	v_cvt_f32_f16_e32 v0, v35.l
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v35.l|
	v_cvt_f32_f16_e32 v39, v35.h
	v_cvt_f32_f16_e32 v40, v36.l
	v_cvt_f32_f16_e32 v41, v36.h
	v_cvt_f32_f16_e32 v42, v37.l
	v_cndmask_b32_e32 v0, 0, v0, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v35.h|
	v_cvt_f32_f16_e32 v43, v37.h
	v_cvt_f32_f16_e32 v44, v38.l
	v_cvt_f32_f16_e32 v45, v38.h
	v_cndmask_b32_e32 v35, 0, v39, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v36.l|
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_4) | instid1(VALU_DEP_2)
	v_dual_add_f32 v1, v1, v0 :: v_dual_add_f32 v2, v2, v35
	v_cndmask_b32_e32 v39, 0, v40, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v36.h|
	v_cndmask_b32_e32 v36, 0, v41, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v37.l|
	v_dual_add_f32 v3, v3, v39 :: v_dual_add_f32 v4, v4, v36
	v_cndmask_b32_e32 v40, 0, v42, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v37.h|
	v_cndmask_b32_e32 v37, 0, v43, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v38.l|
	s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_3) | instid1(VALU_DEP_1)
	v_dual_add_f32 v5, v5, v40 :: v_dual_add_f32 v6, v6, v37
	v_cndmask_b32_e32 v41, 0, v44, vcc_lo
	v_cmp_nlg_f16_e64 vcc_lo, 0x7c00, |v38.h|
	v_cndmask_b32_e32 v38, 0, v45, vcc_lo
	v_dual_add_f32 v7, v7, v41 :: v_dual_add_f32 v8, v8, v38
	v_add_co_u32 v33, vcc_lo, v33, s6
	s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(SALU_CYCLE_1)
	v_add_co_ci_u32_e64 v34, null, s7, v34, vcc_lo
	s_add_i32 s2, s2, 1
	s_cmp_lt_i32 s2, s27
	s_cbranch_scc1 .LBB0_27
.LBB0_28:
	s_load_b32 s2, s[0:1], 0x90
	s_waitcnt lgkmcnt(0)
	s_mov_b32 s5, 0x76543210
	s_waitcnt vmcnt(16)
	v_and_or_b32 v33, v147, 15, s39
	v_permlanex16_b32 v0, v146, s5, 0xfedcba98 op_sel:[1,1]
	s_mov_b32 s5, exec_lo
	s_delay_alu instid0(VALU_DEP_2)
	v_cmpx_gt_i32_e64 s2, v33
	s_cbranch_execz .LBB0_40
	s_load_b64 s[6:7], s[0:1], 0x80
	v_cmp_gt_u32_e32 vcc_lo, 16, v147
	v_ashrrev_i32_e32 v34, 31, v33
	v_add_f32_e32 v0, v146, v0
	s_waitcnt lgkmcnt(0)
	s_cmp_lg_u64 s[6:7], 0
	s_cselect_b32 s5, -1, 0
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
	s_and_b32 s8, s5, vcc_lo
	s_and_saveexec_b32 s5, s8
	s_cbranch_execz .LBB0_31
	s_load_b32 s8, s[0:1], 0x88
	v_log_f32_e32 v35, v0
	s_ashr_i32 s9, s2, 31
	s_delay_alu instid0(TRANS32_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
	v_add_f32_e32 v37, v35, v77
	v_lshlrev_b64 v[35:36], 2, v[33:34]
	v_mul_f32_e32 v37, 0x3f317218, v37
	s_waitcnt lgkmcnt(0)
	s_mul_i32 s10, s8, s4
	s_mul_hi_i32 s8, s8, s4
	s_add_u32 s10, s10, s3
	s_addc_u32 s8, s8, s33
	s_mul_i32 s9, s10, s9
	s_mul_hi_u32 s11, s10, s2
	s_mul_i32 s12, s8, s2
	s_add_i32 s9, s11, s9
	s_mul_i32 s8, s10, s2
	s_add_i32 s9, s9, s12
	s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
	s_lshl_b64 s[8:9], s[8:9], 2
	s_add_u32 s2, s6, s8
	s_addc_u32 s6, s7, s9
	v_add_co_u32 v35, vcc_lo, s2, v35
	s_delay_alu instid0(VALU_DEP_1)
	v_add_co_ci_u32_e64 v36, null, s6, v36, vcc_lo
	global_store_b32 v[35:36], v37, off
.LBB0_31:
	s_or_b32 exec_lo, exec_lo, s5
	v_div_scale_f32 v35, null, v0, v0, 1.0
	s_clause 0x2
	s_load_b64 s[6:7], s[0:1], 0x78
	s_load_b64 s[12:13], s[0:1], 0x18
	s_load_b128 s[8:11], s[0:1], 0x68
	v_div_scale_f32 v39, vcc_lo, 1.0, v0, 1.0
	v_rcp_f32_e32 v36, v35
	v_lshrrev_b32_e32 v38, 1, v147
	v_cmp_gt_u32_e64 s0, 0x80, v147
	s_delay_alu instid0(TRANS32_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_2)
	v_fma_f32 v37, -v35, v36, 1.0
	s_waitcnt lgkmcnt(0)
	v_mul_lo_u32 v40, s7, v33
	v_fmac_f32_e32 v36, v37, v36
	s_waitcnt vmcnt(14)
	v_mul_lo_u32 v41, s6, v34
	v_mad_u64_u32 v[33:34], null, s6, v33, 0
	s_mul_i32 s1, s8, s38
	v_mul_f32_e32 v37, v39, v36
	s_mul_hi_u32 s2, s8, s4
	s_mul_i32 s5, s9, s4
	s_add_i32 s1, s2, s1
	s_mul_i32 s4, s8, s4
	v_fma_f32 v42, -v35, v37, v39
	s_add_i32 s5, s1, s5
	v_add3_u32 v34, v34, v41, v40
	s_lshl_b64 s[4:5], s[4:5], 1
	s_mul_i32 s8, s10, s33
	v_fmac_f32_e32 v37, v42, v36
	s_mul_hi_u32 s9, s10, s3
	s_add_u32 s1, s12, s4
	s_mul_i32 s11, s11, s3
	s_addc_u32 s4, s13, s5
	s_add_i32 s5, s9, s8
	v_fma_f32 v35, -v35, v37, v39
	s_mul_i32 s2, s10, s3
	s_add_i32 s3, s5, s11
	v_lshlrev_b64 v[33:34], 1, v[33:34]
	s_lshl_b64 s[2:3], s[2:3], 1
	v_div_fmas_f32 v35, v35, v36, v37
	s_add_u32 s1, s1, s2
	s_addc_u32 s2, s4, s3
	v_and_b32_e32 v36, 0x7ffffff8, v38
	v_add_co_u32 v33, vcc_lo, s1, v33
	v_div_fixup_f32 v35, v35, v0, 1.0
	v_add_co_ci_u32_e64 v34, null, s2, v34, vcc_lo
	v_cmp_neq_f32_e32 vcc_lo, 0, v0
	s_delay_alu instid0(VALU_DEP_3)
	v_dual_cndmask_b32 v35, 0, v35 :: v_dual_lshlrev_b32 v0, 1, v36
	s_and_saveexec_b32 s1, s0
	s_cbranch_execz .LBB0_33
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
	v_fma_mixlo_f16 v36, v35, v25, 0
	v_add_co_u32 v25, vcc_lo, v33, v0
	v_fma_mixlo_f16 v39, v35, v31, 0
	v_fma_mixhi_f16 v39, v35, v32, 0
	v_fma_mixlo_f16 v38, v35, v29, 0
	v_fma_mixhi_f16 v38, v35, v30, 0
	v_fma_mixlo_f16 v37, v35, v27, 0
	v_fma_mixhi_f16 v37, v35, v28, 0
	v_fma_mixhi_f16 v36, v35, v26, 0
	v_add_co_ci_u32_e64 v26, null, 0, v34, vcc_lo
	global_store_b128 v[25:26], v[36:39], off
.LBB0_33:
	s_or_b32 exec_lo, exec_lo, s1
	s_delay_alu instid0(SALU_CYCLE_1)
	s_mov_b32 s0, exec_lo
	v_cmpx_gt_u32_e32 0x60, v147
	s_cbranch_execz .LBB0_35
	v_fma_mixhi_f16 v25, v35, v24, 0
	v_fma_mixhi_f16 v24, v35, v22, 0
	v_fma_mixlo_f16 v22, v35, v17, 0
	v_add_co_u32 v17, vcc_lo, v33, v0
	v_fma_mixlo_f16 v25, v35, v23, 0
	v_fma_mixlo_f16 v24, v35, v21, 0
	v_fma_mixlo_f16 v23, v35, v19, 0
	v_fma_mixhi_f16 v23, v35, v20, 0
	v_fma_mixhi_f16 v22, v35, v18, 0
	v_add_co_ci_u32_e64 v18, null, 0, v34, vcc_lo
	global_store_b128 v[17:18], v[22:25], off offset:32
.LBB0_35:
	s_or_b32 exec_lo, exec_lo, s0
	s_delay_alu instid0(SALU_CYCLE_1)
	s_mov_b32 s0, exec_lo
	v_cmpx_gt_u32_e32 64, v147
	s_cbranch_execz .LBB0_37
	v_fma_mixhi_f16 v17, v35, v16, 0
	v_fma_mixhi_f16 v16, v35, v14, 0
	v_fma_mixlo_f16 v14, v35, v9, 0
	v_add_co_u32 v9, vcc_lo, v33, v0
	v_fma_mixlo_f16 v17, v35, v15, 0
	v_fma_mixlo_f16 v16, v35, v13, 0
	v_fma_mixlo_f16 v15, v35, v11, 0
	v_fma_mixhi_f16 v15, v35, v12, 0
	v_fma_mixhi_f16 v14, v35, v10, 0
	v_add_co_ci_u32_e64 v10, null, 0, v34, vcc_lo
	global_store_b128 v[9:10], v[14:17], off offset:64
.LBB0_37:
	s_or_b32 exec_lo, exec_lo, s0
	v_cmp_gt_u32_e32 vcc_lo, 32, v147
	s_and_b32 exec_lo, exec_lo, vcc_lo
	s_cbranch_execz .LBB0_39
	v_add_co_u32 v0, vcc_lo, v33, v0
	v_fma_mixlo_f16 v9, v35, v7, 0
	v_fma_mixhi_f16 v9, v35, v8, 0
	v_fma_mixlo_f16 v8, v35, v5, 0
	v_fma_mixhi_f16 v8, v35, v6, 0
	v_fma_mixlo_f16 v7, v35, v3, 0
	v_fma_mixhi_f16 v7, v35, v4, 0
	v_fma_mixlo_f16 v6, v35, v1, 0
	v_fma_mixhi_f16 v6, v35, v2, 0
	v_add_co_ci_u32_e64 v1, null, 0, v34, vcc_lo
	global_store_b128 v[0:1], v[6:9], off offset:96
.LBB0_39:
.LBB0_40:
	s_nop 0
	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
	s_endpgm
	.amdhsa_kernel fmha_forward_gfx1151_f16_d64_m64k32w4
		.amdhsa_group_segment_fixed_size 9744
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 160
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_wavefront_size32 1
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 231
		.amdhsa_next_free_sgpr 52
		.amdhsa_reserve_vcc 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_workgroup_processor_mode 1
		.amdhsa_memory_ordered 1
		.amdhsa_forward_progress 1
		.amdhsa_shared_vgpr_count 0
		.amdhsa_inst_pref_size 63
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
	.text
	.fill 96, 4, 3214868480
	.text
	.globl	__hip_cuid_788078cdd29c4127
__hip_cuid_788078cdd29c4127:
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - .offset:         0
        .value_kind:     by_value
    .group_segment_fixed_size: 9744
    .kernarg_segment_align: 8
    .kernarg_segment_size: 160
    .max_flat_workgroup_size: 128
    .name:           fmha_forward_gfx1151_f16_d64_m64k32w4
    .private_segment_fixed_size: 0
    .sgpr_count:     54
    .sgpr_spill_count: 0
    .symbol:         fmha_forward_gfx1151_f16_d64_m64k32w4.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     231
    .vgpr_spill_count: 0
    .wavefront_size: 32
    .workgroup_processor_mode: 1
amdhsa.target:   amdgcn-amd-amdhsa--gfx1151
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
