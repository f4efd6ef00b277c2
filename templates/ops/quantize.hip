//% -- Quantizing: a tensor [batch][heads_k][seqlen_k][head_dim] of f16, bf16 or f32 becomes fp8 or mxfp4. Eight lanes make a row.
//% -- Scales of rows and of blocks are made on the way. One that many rows share takes a pass of its own before: its workgroups leave what each of
//% -- them finds in its part of the rows, and each row of the pass of numbers takes the largest of these, which depends on no order.
//%
//% local threads = spec.wave * spec.waves
//% local fast = spec.align == 16
//% local f32 = spec.from == "f32"
//% local scales, rounds = spec.pass == "scales", (spec.head_dim + 63) // 64
//% if spec.kv_dtype == "same" then fail("--op quantize: expected a small format, got none; say --kv-dtype e4m3, e5m2, e4m3fnuz, e5m2fnuz or mxfp4") end
//% include("ops/small_rows.hip")
//% if scales and small.makes_scales then
//%     fail("--pass scales: expected fp8 with a scale that rows share, got scales that the pass of numbers makes; leave --pass out, or use --kv-scale head")
//% end
//% local shared = not small.makes_scales
//% local groups = threads // 8
//% local most_items = (1 << 32) - 1 -- of a grid's dimension
//% local rows = "batch * heads_k * seqlen_k"
//%
//% include("device/prelude.hip")
//% if f32 then
typedef float element;
//% else

//%     include("device/element_" .. spec.from .. ".hip")
//% end

//% small.emit()
//%
//% argument {
//%     name = "from", kind = "buffer", type = spec.from, access = "read", align = fast and 16 or f32 and 4 or 2, shape = "batch heads_k seqlen_k head_dim",
//%     strides = "stride_from_batch stride_from_head stride_from_row 1",
//% }
//% if not scales then
//%     argument {
//%         name = "to", kind = "buffer", type = "u8", access = "write", align = fast and small.eight_bytes or 1,
//%         shape = "batch heads_k seqlen_k head_dim" .. (small.fp4 and "/2" or ""), strides = "stride_to_batch stride_to_head stride_to_row 1",
//%     }
//%     argument {
//%         name = "to_scale", kind = "buffer", type = small.fp4 and "u8" or "f32", access = "write", optional = shared,
//%         shape = "batch heads_k" .. (shared and "" or " seqlen_k") .. (small.fp4 and " ceil_div(head_dim,32)" or ""),
//%         strides = "stride_to_scale_batch stride_to_scale_head" .. (shared and "" or " stride_to_scale_row") .. (small.fp4 and " 1" or ""),
//%     }
//% end
//% if shared then
//%     argument {
//%         name = "scale_partial", kind = "buffer", type = "f32", access = scales and "write" or "read",
//%         shape = (scales and "scales" or "batch heads_k") .. " parts", strides = scales and "parts 1" or "stride_scale_partial_batch stride_scale_partial_head 1",
//%     }
//% end
//% for _, tensor in ipairs(scales and { "from" } or { "from", "to", "to_scale" }) do
//%     for _, axis in ipairs { "batch", "head", "row" } do
//%         local name = "stride_" .. tensor .. "_" .. axis
//%         if not (tensor == "to_scale" and axis == "row" and shared) then argument { name = name, kind = "value", type = "i64" } end
//%         if fast and tensor ~= "to_scale" then constraint(name .. " % " .. (tensor == "from" and f32 and 4 or tensor == "to" and small.fp4 and 4 or 8), "equals", 0) end
//%     end
//% end
//% if shared and not scales then
//%     argument { name = "stride_scale_partial_batch", kind = "value", type = "i64" }
//%     argument { name = "stride_scale_partial_head", kind = "value", type = "i64" }
//% end
//% for _, name in ipairs { "batch", "heads_k", "seqlen_k" } do
//%     argument { name = name, kind = "value", type = "i32" }
//%     constraint(name, "min", 0)
//% end
//% if shared then
//%     argument { name = "parts", kind = "value", type = "i32" }
//%     constraint("parts", "min", 1)
//% end
//% if scales then
//%     argument { name = "scales", kind = "value", type = "i32" } -- 1: of the whole tensor, else as many as heads
//%     constraint("scales", "min", 1)
//%     constraint("heads_k % scales", "equals", 0)
//%     if arch.grid_max then constraint("scales", "max", arch.grid_max) end
//%     constraint("parts", "max", most_items // threads)
//% else
//%     constraint(rows .. " * 8", "max", most_items // threads * threads)
//% end
//%
//% kernel {
//%     workgroup = threads,
//%     grid = scales and { "parts", "scales", "1" } or { "ceil_div(" .. rows .. " * 8, " .. threads .. ")", "1", "1" },
//%     lds_bytes = scales and 4 * math.max(groups, 8) or 0,
//%     flop_per_tile = 0,
//%     bytes_per_tile = groups * spec.head_dim * (f32 and 4 or 2), -- a tile is what a workgroup reads at once
//% }

/* Strides in elements; the last dimension of each tensor has stride 1. */
struct fmha_quantize_arguments {
//% local c_types = { f32 = "float *", f16 = "element *", bf16 = "element *", u8 = "unsigned char *", i32 = "int ", i64 = "i64 " }
//% for _, a in ipairs(arguments) do
//%     local declaration = (a.access == "read" and "const " or "") .. c_types[a.type] .. a.name
    $(declaration);
//% end
};

/* Eight values. */
FMHA_INLINE void fmha_load(const element *from, float x[8])
{
//% if fast and f32 then
    typedef float f32x4 __attribute__((ext_vector_type(4)));
    const f32x4 low = *(const f32x4 *)from, high = *(const f32x4 *)(from + 4);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        x[i] = low[i];
        x[i + 4] = high[i];
    }
//% elseif fast then
    typedef element element8 __attribute__((ext_vector_type(8)));
    const element8 piece = __builtin_bit_cast(element8, *(const u32x4 *)from);
#pragma unroll
    for (int i = 0; i < 8; ++i)
        x[i] = fmha_from_element(piece[i]);
//% else
//%     local value = f32 and "from[i]" or "fmha_from_element(from[i])"
#pragma unroll
    for (int i = 0; i < 8; ++i)
        x[i] = $(value);
//% end
}

/* Where a row begins. */
FMHA_INLINE const element *fmha_row(const struct fmha_quantize_arguments &arguments, i64 batch, i64 head, i64 token)
{
    return arguments.from + batch * arguments.stride_from_batch + head * arguments.stride_from_head + token * arguments.stride_from_row;
}

//% if scales then
/* What the workgroup finds in every `parts`-th row of a scale's, for its first eight lanes and the others alike. */
FMHA_KERNEL($(threads)) void $(spec.name)(const struct fmha_quantize_arguments arguments)
{
    FMHA_LDS(lds, $(4 * math.max(groups, 8)));
    u32 *const found = (u32 *)lds;
    const u32 thread = __builtin_amdgcn_workitem_id_x(), part = __builtin_amdgcn_workgroup_id_x(), scale = __builtin_amdgcn_workgroup_id_y();
    const int column = (int)(thread % 8) * 8; /* of the lane's first piece; the others are 64 apart */
    const u32 heads = (u32)arguments.heads_k / (u32)arguments.scales; /* that share it */
    const u64 rows = (u64)arguments.batch * heads * (u32)arguments.seqlen_k;
    u32 largest = 0;
    for (u64 row = (u64)part * $(groups) + thread / 8; row < rows; row += (u64)arguments.parts * $(groups)) {
        const u64 line = row / (u32)arguments.seqlen_k;
        const element *const from = fmha_row(arguments, (i64)(line / heads), (i64)(scale * heads + line % heads), (i64)(row % (u32)arguments.seqlen_k));
#pragma unroll
        for (int i = 0; i < $(rounds); ++i) {
            if (column + 64 * i >= $(spec.head_dim))
                continue;
            float x[8];
            fmha_load(from + column + 64 * i, x);
#pragma unroll
            for (int j = 0; j < 8; ++j)
                largest = fmha_largest(largest, fmha_fp8_share(x[j]));
        }
    }
    largest = fmha_largest_of_8(largest);
    if (column == 0)
        found[thread / 8] = largest;
    fmha_barrier();
    u32 all = 0;
#pragma unroll
    for (u32 i = 0; i < $(groups); i += 8)
        all = fmha_largest(all, i + thread % 8 < $(groups) ? found[i + thread % 8] : 0);
    all = fmha_largest_of_8(all);
    if (thread == 0)
        arguments.scale_partial[(u64)scale * (u32)arguments.parts + part] = fmha_fp8_scale_of(all);
}
//% else
FMHA_KERNEL($(threads)) void $(spec.name)(const struct fmha_quantize_arguments arguments)
{
    const u32 index = __builtin_amdgcn_workgroup_id_x() * $(threads) + __builtin_amdgcn_workitem_id_x(), row = index / 8;
    const int column = (int)(index % 8) * 8; /* of the lane's first piece; the others are 64 apart */
    const u32 line = row / (u32)arguments.seqlen_k;
    const i64 token = row % (u32)arguments.seqlen_k, head = line % (u32)arguments.heads_k, batch = line / (u32)arguments.heads_k;
    const bool present = batch < arguments.batch;
    const element *const from = fmha_row(arguments, batch, head, token);
    float values[$(rounds)][8] = {};
#pragma unroll
    for (int i = 0; i < $(rounds); ++i)
        if (present && column + 64 * i < $(spec.head_dim))
            fmha_load(from + column + 64 * i, values[i]);

    unsigned char *const to = arguments.to + batch * arguments.stride_to_batch + head * arguments.stride_to_head + token * arguments.stride_to_row;
//%     if shared then
    /* Positive float32 are as large as their bits. */
    const float *const parts = arguments.scale_partial + batch * arguments.stride_scale_partial_batch + head * arguments.stride_scale_partial_head;
    u32 largest = 0;
    for (int i = column / 8; present && i < arguments.parts; i += 8)
        largest = fmha_largest(largest, __builtin_bit_cast(u32, parts[i]));
    const float shared = __builtin_bit_cast(float, fmha_largest_of_8(largest)), *const scale = &shared;
    /* The first row of those that share the scale tells it. */
    if (arguments.to_scale && present && token == 0 && column == 0 && (batch == 0 || arguments.stride_to_scale_batch) &&
        (head == 0 || arguments.stride_to_scale_head))
        arguments.to_scale[batch * arguments.stride_to_scale_batch + head * arguments.stride_to_scale_head] = shared;
//%     else
//%         local type = small.scale_type
    $(type) *const scale = arguments.to_scale + batch * arguments.stride_to_scale_batch + head * arguments.stride_to_scale_head + token * arguments.stride_to_scale_row;
//%     end
//%     small.row("values", spec.head_dim, "to", "scale", "present", "by")
}
//% end
