-- Default tiles of MLA decoding. Many rows (heads times queries) share a key's row, so that a workgroup has as many as its registers hold: in the
-- product a key takes 2 (D + D_v) operations a row and 2 D bytes. K's row goes to LDS once, for K and, transposed, for V; the waves that share rows
-- have a part of Q and O each.
local function tiles(block_m, waves, v_waves, mxfp4)
    return {
        [576] = { block_m = block_m, block_k = 16, waves = waves, k_path = "lds", v_path = "lds", q_path = "register", v_waves = v_waves, mxfp4 = mxfp4 },
    }
end

return {
    narrow = tiles(64, 16, 4), -- 256 registers of 32 lanes
    wide = tiles(16, 4, 4),    -- 256 registers of 64 lanes
    mi100 = tiles(64, 4, 2),   -- as many, and as many accumulation registers, which hold nothing else
    cdna = tiles(64, 4, 2, { waves = 8, v_waves = 4 }), -- 512 of 64 lanes; addresses of mxfp4 in pages take more scalar ones for each wave
}
