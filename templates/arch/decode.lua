-- Default tiles of decoding: one wave with sixteen rows, so that a cache is shared out in small pieces and few rows are idle. K comes straight from
-- memory, each of its rows once; V is transposed through LDS, small enough for several waves on each SIMD. A row serves head dimensions up to its key.
-- Where more rows share a key head than one wave has, several waves have one tile: what they read of it comes through LDS, once for all of them.
-- A row like `from` for up to `most` times sixteen rows, `shared` waves for each sixteen; `how`, which may be nil, has the knobs that they need beside.
local function with_rows(from, most, shared, how)
    local row = {}
    for name, value in pairs(from) do row[name] = value end
    for tiles, name in pairs { [2] = "32", [4] = "64", [8] = "128" } do
        local several = { block_m = 16 * tiles, waves = shared * tiles, v_waves = shared, k_path = "lds" }
        for knob, value in pairs(how or {}) do several[knob] = value end
        row[name] = tiles <= most and several or nil
    end
    return row
end

-- Of lanes that have 256 and more registers, beyond 128 dimensions. Only gfx950 multiplies mxfp4 as it is, and its reads of LDS transpose V.
local beyond = {
    block_m = 16, block_k = 16, waves = 1, k_path = "direct", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1,
    kv_dtype = { waves = 4, v_waves = 4, q_path = "register" },
    native = {
        matrix = "16x16x32", block_k = 32, waves = 1, v_waves = 1, q_path = "lds", ["32"] = { waves = 2 }, ["64"] = { waves = 4 },
        mxfp4 = { v_path = "transpose", q_path = "register" },
    },
}
-- Beyond 256, bytes multiplied as they are have two slices of the columns of V: one wave has no room for all. Of mxfp4, a row of Q has a scale for each
-- 32 values, so that four waves share the row.
local sliced = with_rows(beyond, 1, 1)
sliced.native = {
    matrix = "16x16x32", block_k = 32, waves = 1, v_waves = 1, v_slices = 2, q_path = "lds",
    mxfp4 = { waves = 4, v_waves = 4, v_slices = 1, v_path = "transpose", q_path = "register" },
}

return {
    with_rows = with_rows,
    -- 256 registers of 32 lanes
    narrow = {
        -- Conversions of small formats take registers, too, most of all to bf16: then two waves share sixteen rows.
        [128] = with_rows({
            block_m = 16, block_k = 32, waves = 1, k_path = "direct", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1,
            kv_dtype = { waves = 2, v_waves = 2 },
            native = { waves = 1, v_waves = 1 },
        }, 8, 1),
        [256] = with_rows({
            block_m = 16, block_k = 16, waves = 1, k_path = "direct", v_path = "lds", q_path = "lds", pipeline = 1, gqa = 1,
            kv_dtype = { waves = 2, v_waves = 2, q_path = "register" },
            native = { waves = 1, v_waves = 1, q_path = "lds" },
        }, 4, 2),
        -- Four waves share sixteen rows: one wave has no room for so many columns of O.
        [576] = {
            block_m = 16, block_k = 16, waves = 4, k_path = "direct", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1, v_waves = 4,
            native = { waves = 1, v_waves = 1, v_slices = 3, q_path = "lds" },
        },
    },
    -- 256 and more registers of 64 lanes
    wide = {
        [128] = with_rows({
            block_m = 16, block_k = 32, waves = 1, k_path = "direct", v_path = "lds", q_path = "register", pipeline = 1, gqa = 1,
            native = { matrix = "16x16x32", mxfp4 = { v_path = "transpose" } },
        }, 8, 1),
        [256] = with_rows(beyond, 4, 1, { q_path = "lds" }),
        [576] = sliced,
    },
}
