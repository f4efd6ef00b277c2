-- Default tiles of decoding: one wave with sixteen rows, so that a cache is shared out in small pieces and few rows are idle. K comes straight from
-- memory, each of its rows once; V is transposed through LDS, small enough for several waves on each SIMD. A row serves head dimensions up to its key.
return {
    -- 256 registers of 32 lanes
    narrow = {
        -- Conversions of small formats take registers, too: then two waves share sixteen rows where one has just enough.
        [128] = {
            block_m = 16, block_k = 32, waves = 1, k_path = "direct", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1,
            mxfp4 = { waves = 2, v_waves = 2 },
        },
        [256] = {
            block_m = 16, block_k = 16, waves = 1, k_path = "direct", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1,
            kv_dtype = { waves = 2, v_waves = 2, q_path = "register" },
            native = { waves = 1, v_waves = 1, q_path = "lds" },
        },
        -- Four waves share sixteen rows: one wave has no room for so many columns of O.
        [576] = {
            block_m = 16, block_k = 16, waves = 4, k_path = "direct", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1, v_waves = 4,
        },
    },
    -- 256 and more registers of 64 lanes
    wide = {
        [128] = { block_m = 16, block_k = 32, waves = 1, k_path = "direct", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1, native = { matrix = "16x16x32" } },
        [576] = {
            block_m = 16, block_k = 16, waves = 1, k_path = "direct", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1,
            kv_dtype = { waves = 4, v_waves = 4, q_path = "register" },
            native = { matrix = "16x16x32", block_k = 32, waves = 1, v_waves = 1, q_path = "lds" },
        },
    },
}
