-- Default tiles of MLA decoding: as those of decoding (arch/decode.lua) at its head dimensions.
return {
    -- 256 registers of 32 lanes
    narrow = {
        [576] = { block_m = 16, block_k = 16, waves = 4, k_path = "direct", v_path = "lds", q_path = "register", v_waves = 4 },
    },
    -- 256 and more registers of 64 lanes
    wide = {
        [576] = { block_m = 16, block_k = 16, waves = 1, k_path = "direct", v_path = "lds", q_path = "lds" },
    },
}
