//% -- Forward attention with every modifier and layout in the plainest way, one lane a query row, for the tests of verification. It takes the
//% -- place of templates/ops/forward.hip by --template-dir. Right as it stands; --set fault=NAME makes it wrong in one way.
//%
//% local fault = set_or("fault", "none")
//% local packed, padded, paged = spec.varlen == "packed", spec.varlen == "padded", spec.paged == "on"
//% local packed_keys, padded_keys = packed and not paged, padded or paged
//% local function on(row) return spec[row] == "on" end
//% local function is(name) return fault == name end
//%
//% include("device/prelude.hip")
//% include("device/element_" .. spec.dtype .. ".hip")
//%
//% local function buffer(name, type, shape, strides, access)
//%     argument { name = name, kind = "buffer", type = type, access = access or "read", shape = shape, strides = strides }
//% end
//% local function value(type, ...)
//%     for _, name in ipairs { ... } do argument { name = name, kind = "value", type = type } end
//% end
//% for _, tensor in ipairs { "q", "k", "v", "o" } do
//%     local stride = "stride_" .. tensor .. "_"
//%     buffer(tensor, spec.dtype, "batch heads_q seqlen_q head_dim", stride .. "batch " .. stride .. "head " .. stride .. "row 1",
//%            tensor == "o" and "write" or "read")
//%     value("i64", stride .. "batch", stride .. "head", stride .. "row")
//% end
//% argument { name = "lse", kind = "buffer", type = "f32", access = "write", optional = true, shape = "batch heads_q seqlen_q",
//%            strides = "heads_q*seqlen_q seqlen_q 1" }
//% value("i32", "heads_q", "heads_k", "seqlen_q", "seqlen_k")
//% value("f32", "scale")
//% if packed then
//%     buffer("cu_seqlens_q", "i32", "batch", "1")
//%     value("i64", "tokens_q")
//% end
//% if padded then buffer("seqlens_q", "i32", "batch", "1") end
//% if packed_keys then buffer("cu_seqlens_k", "i32", "batch", "1") end
//% if padded_keys then buffer("seqlens_k", "i32", "batch", "1") end
//% if paged then
//%     buffer("block_table", "i32", "batch seqlen_k", "stride_block_table 1")
//%     value("i64", "stride_block_table")
//%     value("i32", "page_size")
//% end
//% if spec.window ~= "none" then value("i32", "window_left", "window_right") end
//% if on("sink_keys") then value("i32", "sink_keys") end
//% if on("prefix") then buffer("prefix_lengths", "i32", "batch", "1") end
//% if on("softcap") then value("f32", "softcap") end
//% if on("alibi") then
//%     buffer("alibi_slopes", "f32", "batch heads_q", "stride_alibi_batch 1")
//%     value("i64", "stride_alibi_batch")
//% end
//% for _, plane in ipairs { { "bias", "bias", spec.bias == "f32" and "f32" or spec.dtype }, { "attn_mask", "mask", "u8" }, { "block_mask", "block_mask", "u32" } } do
//%     if spec[plane[1]] ~= "off" then
//%         local stride = "stride_" .. plane[2] .. "_"
//%         buffer(plane[2], plane[3], "batch heads_q seqlen_q seqlen_k", stride .. "batch " .. stride .. "head " .. stride .. "row 1")
//%         value("i64", stride .. "batch", stride .. "head", stride .. "row")
//%     end
//% end
//% if on("block_mask") then value("i32", "block_mask_q", "block_mask_k") end
//% if on("sink") then buffer("sink", "f32", "heads_q", "1") end
//% if on("head_scale") then buffer("head_scale", "f32", "heads_q", "1") end
//% if on("dropout") then
//%     value("f32", "dropout")
//%     value("i64", "dropout_seed", "dropout_offset")
//% end
//% constraint("heads_q % heads_k", "equals", 0)
//% constraint("seqlen_k", "max", 4096)
//% if spec.bias ~= "off" then constraint("stride_bias_row % 4", "equals", 0) end
//% kernel { workgroup = 32, grid = { "ceil_div(seqlen_q, 32)", "heads_q", "batch" }, lds_bytes = 0,
//%          flop_per_tile = 2 * 32 * (spec.head_dim + spec.head_dim_v), bytes_per_tile = 2 * (spec.head_dim + spec.head_dim_v),
//%          matrix_per_tile = is("claims_matrix_instructions") and 1 or nil }
struct fmha_forward_arguments {
//% local c_types = { f16 = "element", bf16 = "element", f32 = "float", i32 = "int", i64 = "i64", u32 = "u32", u8 = "unsigned char" }
//% for _, a in ipairs(arguments) do
//%     local declaration = (a.access == "read" and "const " or "") .. c_types[a.type] .. (a.kind == "buffer" and " *" or " ") .. a.name
    $(declaration);
//% end
};

//% if on("dropout") then
/* Philox4x32-10, as docs/kernels.md counts: 16 bits for a query and a key. */
FMHA_INLINE u32 fmha_random16(i64 seed, i64 offset, u32 row, int query, int key)
{
    u32 c0 = (u32)key / 8, c1 = (u32)query, c2 = row, c3 = (u32)offset, k0 = (u32)seed, k1 = (u32)(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const u64 a = (u64)0xD2511F53u * c0, b = (u64)0xCD9E8D57u * c2;
        c0 = (u32)(b >> 32) ^ c1 ^ k0;
        c1 = (u32)b;
        c2 = (u32)(a >> 32) ^ c3 ^ k1;
        c3 = (u32)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    const u32 word = key / 2 % 4 == 0 ? c0 : key / 2 % 4 == 1 ? c1 : key / 2 % 4 == 2 ? c2 : c3;
    return key % 2 ? word >> 16 : word & 0xffffu;
}

//% end
//% if on("softcap") then
/* Small x by its series: there 1 - 2 / (e^2x + 1) would lose what it has. */
FMHA_INLINE float fmha_tanh(float x)
{
    const float magnitude = x < 0 ? -x : x, square = x * x;
    if (magnitude < 0.25f)
        return x + x * square * (-0.333333333f + square * (0.133333333f + square * (-0.0539682540f + square * 0.0218694885f)));
    const float t = 1.0f - 2.0f / (__builtin_amdgcn_exp2f(magnitude * 2.88539008f) + 1.0f);
    return x < 0 ? -t : x != x ? x : t;
}

//% end
//% local head_place = is("head_of_bias") and "key_head" or "head"
FMHA_KERNEL(32) void $(spec.name)(const struct fmha_forward_arguments a)
{
#pragma clang fp contract(off)
    const int i = (int)(__builtin_amdgcn_workgroup_id_x() * 32 + __builtin_amdgcn_workitem_id_x());
    const int head = (int)__builtin_amdgcn_workgroup_id_y();
    const i64 batch = (i64)__builtin_amdgcn_workgroup_id_z();
    const i64 key_head = head / (a.heads_q / a.heads_k);
    (void)key_head;
//% local lengths_of = { q = packed and "cu" or padded and "list", k = packed_keys and "cu" or padded_keys and "list" }
//% for _, axis in ipairs { "q", "k" } do
//%     local first, length = "first_" .. axis, "seqlen_" .. axis
//%     local cumulative, list = "a.cu_seqlens_" .. axis, lengths_of[axis] == "list" and not is("ignores_lengths") and "a.seqlens_" .. axis .. "[batch]" or "a." .. length
//%     if lengths_of[axis] == "cu" then
    const i64 $(first) = $(cumulative)[batch];
    const int $(length) = $(cumulative)[batch + 1] - (int)$(first);
//%     else
    const int $(length) = $(list);
//%     end
//% end
    if (i >= seqlen_q)
        return;
//% local function begin(tensor, keys)
//%     if keys and packed_keys then return "first_k * a.stride_" .. tensor .. "_row" end
//%     if not keys and packed then return "first_q * a.stride_" .. tensor .. "_row" end
//%     return "batch * a.stride_" .. tensor .. "_batch"
//% end
//% local q_begin, o_begin, k_begin, v_begin = begin("q"), begin("o"), paged and "0" or begin("k", true), paged and "0" or begin("v", true)
    const element *q = a.q + $(q_begin) + head * a.stride_q_head + i * a.stride_q_row;
    const element *k = a.k + $(k_begin) + key_head * a.stride_k_head;
    const element *v = a.v + $(v_begin) + key_head * a.stride_v_head;
    element *to = a.o + $(o_begin) + head * a.stride_o_head + i * a.stride_o_row;
//% local diagonal = spec.mask == "causal-top-left" and "i" or is("longest_diagonal") and "i + a.seqlen_k - a.seqlen_q" or "i + seqlen_k - seqlen_q"
    const int diagonal = $(diagonal);
    (void)diagonal;
    int low = 0, high = seqlen_k;
//% if spec.mask ~= "none" then
    high = fmha_min(high, diagonal + 1);
//% end
//% if spec.window ~= "none" then
    if (a.window_left >= 0)
        low = fmha_max(low, diagonal - a.window_left);
    if (a.window_right >= 0)
        high = fmha_min(high, diagonal + 1 + a.window_right);
//% end
//% if on("prefix") then
    high = fmha_max(high, fmha_min(a.prefix_lengths[batch], seqlen_k));
//% end
    float c = a.scale * 1.4426950408889634f;
//% if on("head_scale") then
    c = a.scale * a.head_scale[head] * 1.4426950408889634f;
//% end
//% if on("dropout") then
    const u32 threshold = (u32)(a.dropout * 65536.0f + 0.5f);
//% end
    float m = -fmha_infinity(), l = 0, o[$(spec.head_dim_v)];
    for (int d = 0; d < $(spec.head_dim_v); ++d)
        o[d] = 0;
    for (int j = 0; j < high; ++j) {
//% if is("reads_before_the_window") then
        for (int d = 0; d < $(spec.head_dim); ++d)
            if (fmha_from_element(k[j * a.stride_k_row + d]) == 12345.0f)
                l = 0;
//% end
//% local first_seen = on("sink_keys") and "j < low && j >= a.sink_keys" or "j < low"
        if ($(first_seen))
            continue;
//% if on("attn_mask") then
        if (a.mask[batch * a.stride_mask_batch + head * a.stride_mask_head + i * a.stride_mask_row + j] == 0)
            continue;
//% end
//% if on("block_mask") then
        const int bit = j / a.block_mask_k;
        if ((a.block_mask[batch * a.stride_block_mask_batch + head * a.stride_block_mask_head + i / a.block_mask_q * a.stride_block_mask_row + bit / 32]
             >> bit % 32 & 1) == 0)
            continue;
//% end
//% if paged then
//% local entry = is("pages_in_order") and "j / a.page_size" or is("table_of_the_first") and "a.block_table[j / a.page_size]" or
//%     "a.block_table[batch * a.stride_block_table + j / a.page_size]"
        const i64 page = $(entry);
        const element *k_row = k + page * a.stride_k_batch + j % a.page_size * a.stride_k_row;
        const element *v_row = v + page * a.stride_v_batch + j % a.page_size * a.stride_v_row;
//% else
        const element *k_row = k + j * a.stride_k_row;
        const element *v_row = v + j * a.stride_v_row;
//% end
        float s = 0;
        for (int d = 0; d < $(spec.head_dim); ++d)
            s += fmha_from_element(q[d]) * fmha_from_element(k_row[d]);
        float x = c * s;
//% if on("softcap") then
        x = a.softcap * 1.4426950408889634f * fmha_tanh(x * (0.6931471805599453f / a.softcap));
//% end
//% if on("alibi") then
        x -= a.alibi_slopes[batch * a.stride_alibi_batch + head] * 1.4426950408889634f * (float)(j < diagonal ? diagonal - j : j - diagonal);
//% end
//% if spec.bias ~= "off" then
//%     local bias = spec.bias == "f32" and "(float)" or "fmha_from_element"
        const float bias = 1.4426950408889634f * $(bias)(a.bias[batch * a.stride_bias_batch + $(head_place) * a.stride_bias_head + i * a.stride_bias_row + j]);
        x += bias;
        if (bias == -fmha_infinity())
            continue;
//% end
        const float m_new = x > m || x != x ? x : m;
        const float alpha = m == m_new ? 1.0f : __builtin_amdgcn_exp2f(m - m_new);
        float p = __builtin_amdgcn_exp2f(x - m_new);
        l = l * alpha + p;
//% if on("dropout") then
        const bool kept = fmha_random16(a.dropout_seed, a.dropout_offset, (u32)(batch * a.heads_q + head), i, j) >= threshold;
        p = kept ? p : 0.0f;
//% end
        const float p_operand = fmha_from_element(fmha_to_element(p));
        for (int d = 0; d < $(spec.head_dim_v); ++d)
            o[d] = o[d] * alpha + p_operand * fmha_from_element(v_row[d]);
        m = m_new;
    }
    float factor = 1.0f;
//% if on("dropout") then
    factor = 1.0f / (1.0f - a.dropout);
//% end
//% if on("sink") and not is("no_sink") then
    const float sink = a.sink[head] * 1.4426950408889634f, m_new = sink > m ? sink : m;
    if (m_new != -fmha_infinity()) {
        const float alpha = __builtin_amdgcn_exp2f(m - m_new);
        l = l * alpha + __builtin_amdgcn_exp2f(sink - m_new);
        factor = factor * alpha;
        m = m_new;
    }
//% end
    factor = l == 0 ? 0.0f : factor / l;
    for (int d = 0; d < $(spec.head_dim_v); ++d)
        to[d] = fmha_to_element(o[d] * factor);
    if (a.lse) {
//% local lse_row = packed and "head * a.tokens_q + first_q + i" or "(batch * a.heads_q + head) * (i64)a.seqlen_q + i"
        a.lse[$(lse_row)] = l == 0 ? -fmha_infinity() : 0.693147181f * m + 0.693147181f * __builtin_amdgcn_logf(l);
    }
//% if is("writes_padding") then
    if (i == seqlen_q - 1 && i + 1 < a.seqlen_q)
        to[a.stride_o_row] = fmha_to_element(0.0f);
//% elseif is("reads_past_the_length") then
    if (fmha_from_element(v[(seqlen_k - 1 + (seqlen_k < a.seqlen_k)) * a.stride_v_row]) == 1.0f)
        to[0] = fmha_to_element(0.0f);
//% elseif is("reads_past_the_page") then
    const int last = seqlen_k - 1;
    const element *page_row = v + a.block_table[batch * a.stride_block_table + last / a.page_size] * a.stride_v_batch;
    if (fmha_from_element(page_row[fmha_min(last % a.page_size + 1, a.page_size - 1) * a.stride_v_row]) == 1.0f)
        to[0] = fmha_to_element(0.0f);
//% elseif is("writes_mask") then
    const_cast<unsigned char *>(a.mask)[0] = 1;
//% elseif is("reads_bias_past_its_end") then
    if (i == seqlen_q - 1 && (float)a.bias[batch * a.stride_bias_batch + head * a.stride_bias_head + i * a.stride_bias_row + a.seqlen_k] == 1.0f)
        to[0] = fmha_to_element(0.0f);
//% end
}
