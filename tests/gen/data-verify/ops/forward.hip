//% -- Forward attention in the plainest way, one lane a query row, for the tests of verification. It takes the place of
//% -- templates/ops/forward.hip by --template-dir. Right as it stands; --set fault=NAME makes it wrong in one way.
//%
//% local fault = set_or("fault", "none")
//% local causal = spec.mask ~= "none"
//% local fast = spec.align == 16
//% local transposed = spec.v_layout == "transposed"
//%
//% include("device/prelude.hip")
//% include("device/element_" .. spec.dtype .. ".hip")
//%
//% for _, tensor in ipairs { "q", "k", "v", "o" } do
//%     local stride = "stride_" .. tensor .. "_"
//%     local heads = (tensor == "q" or tensor == "o") and "heads_q" or "heads_k"
//%     local shape = tensor == "q" and "seqlen_q head_dim" or tensor == "k" and "seqlen_k head_dim" or
//%         tensor == "o" and "seqlen_q head_dim_v" or transposed and "head_dim_v seqlen_k" or "seqlen_k head_dim_v"
//%     argument { name = tensor, kind = "buffer", type = spec.dtype, access = tensor == "o" and "write" or "read",
//%                shape = "batch " .. heads .. " " .. shape, strides = stride .. "batch " .. stride .. "head " .. stride .. "row 1" }
//%     for _, axis in ipairs { "batch", "head", "row" } do
//%         argument { name = stride .. axis, kind = "value", type = "i64" }
//%         if fast then constraint(stride .. axis .. " % 8", "equals", 0) end
//%     end
//% end
//% argument { name = "lse", kind = "buffer", type = "f32", access = "write", optional = true, shape = "batch heads_q seqlen_q",
//%            strides = "heads_q*seqlen_q seqlen_q 1" }
//% for _, name in ipairs { "heads_q", "heads_k", "seqlen_q", "seqlen_k" } do argument { name = name, kind = "value", type = "i32" } end
//% argument { name = "scale", kind = "value", type = "f32" }
//% if fault == "unknown_argument" then argument { name = "window_width", kind = "value", type = "i32" } end
//% constraint("heads_q % heads_k", "equals", 0)
//% constraint("seqlen_k", "max", 4096)
//% kernel { workgroup = 32, grid = { "ceil_div(seqlen_q, 32)", "heads_q", "batch" }, lds_bytes = 0,
//%          flop_per_tile = 2 * 32 * (spec.head_dim + spec.head_dim_v), bytes_per_tile = 2 * (spec.head_dim + spec.head_dim_v) }
struct fmha_forward_arguments {
//% local c_types = { f16 = "element *", bf16 = "element *", f32 = "float *", i32 = "int ", i64 = "i64 " }
//% for _, a in ipairs(arguments) do
//%     local declaration = (a.access == "read" and "const " or "") .. (a.kind == "value" and a.type == "f32" and "float " or c_types[a.type]) .. a.name
    $(declaration);
//% end
};

//% if fault == "truncate_p" or fault == "truncate_o" then
/* The 16-bit number at or next to x on the side of zero. */
FMHA_INLINE element truncated(float x)
{
    const element nearest = fmha_to_element(x);
    const float back = fmha_from_element(nearest);
    if ((x > 0 && back > x) || (x < 0 && back < x))
        return __builtin_bit_cast(element, (unsigned short)(__builtin_bit_cast(unsigned short, nearest) - 1));
    return nearest;
}

//% end
//% local to_p = fault == "truncate_p" and "truncated" or "fmha_to_element"
//% local to_o = fault == "truncate_o" and "truncated" or "fmha_to_element"
//% local key_head = fault == "head_modulo" and "head % a.heads_k" or "head / (a.heads_q / a.heads_k)"
//% local diagonal = (spec.mask == "causal-top-left" or fault == "wrong_alignment") and "0" or "a.seqlen_k - a.seqlen_q"
//% local past = ({ mask_long = "2", mask_short = "0" })[fault] or "1"
//% local start = fault == "finite_maximum" and "-5e4f" or "-fmha_infinity()"
//% local scale = fault == "own_scale" and "0.125f" or "a.scale"
//% local q_row = fault == "packed_rows" and spec.head_dim or "a.stride_q_row"
//% local v_batch = fault == "no_v_batch" and "0" or "batch"
//% local v_at = transposed and "d * a.stride_v_row + j" or "j * a.stride_v_row + d"
//% local column = fault == "swapped_columns" and "(d ^ 1)" or "d"
//% local log2e = fault == "log2e_short" and "1.4426f" or "1.4426950408889634f"
//% if fault == "differs_between_runs" then
static __device__ u32 fmha_runs;
//% end
FMHA_KERNEL(32) void $(spec.name)(const struct fmha_forward_arguments a)
{
#pragma clang fp contract(off)
    const int i = (int)(__builtin_amdgcn_workgroup_id_x() * 32 + __builtin_amdgcn_workitem_id_x());
    const int head = (int)__builtin_amdgcn_workgroup_id_y();
    const i64 batch = (i64)__builtin_amdgcn_workgroup_id_z();
//% if fault ~= "writes_past_the_end" then
    if (i >= a.seqlen_q)
        return;
//% end
    const i64 key_head = $(key_head);
    const element *q = a.q + batch * a.stride_q_batch + head * a.stride_q_head + fmha_min(i, a.seqlen_q - 1) * $(q_row);
    const element *k = a.k + batch * a.stride_k_batch + key_head * a.stride_k_head;
    const element *v = a.v + $(v_batch) * a.stride_v_batch + key_head * a.stride_v_head;
    element *to = a.o + batch * a.stride_o_batch + head * a.stride_o_head + i * a.stride_o_row;
    const float c = $(scale) * $(log2e);
    int keys = a.seqlen_k;
//% if causal then
    keys = fmha_max(0, fmha_min(keys, i + $(diagonal) + $(past)));
//% end
//% if fault == "key_tail" then
    keys &= ~15;
//% end
    float m = $(start), l = 0, o[$(spec.head_dim_v)];
    for (int d = 0; d < $(spec.head_dim_v); ++d)
        o[d] = 0;
//% if fault == "nan_leaks" then
    for (int j = 0; j < a.seqlen_k; ++j) {
//% else
    for (int j = 0; j < keys; ++j) {
//% end
        float s = 0;
        for (int d = 0; d < $(spec.head_dim); ++d)
            s += fmha_from_element(q[d]) * fmha_from_element(k[j * a.stride_k_row + d]);
        const float x = j < keys ? c * s : -fmha_infinity();
        const float m_new = x > m || x != x ? x : m;
        const float alpha = m == m_new ? 1.0f : __builtin_amdgcn_exp2f(m - m_new);
//% if fault == "exponent_rounds_otherwise" then
        const float p = __builtin_amdgcn_exp2f(__builtin_fmaf(c, s, -m_new));
//% else
        const float p = j < keys ? __builtin_amdgcn_exp2f(x - m_new) : 0.0f;
//% end
//% if fault == "never_rescales" then
        l += p;
//% else
        l = l * alpha + p;
//% end
        const float p_operand = fmha_from_element($(to_p)(p));
        for (int d = 0; d < $(spec.head_dim_v); ++d) {
//% if fault == "never_rescales" then
            o[d] += p_operand * fmha_from_element(v[$(v_at)]);
//% else
            o[d] = o[d] * alpha + p_operand * fmha_from_element(v[$(v_at)]);
//% end
        }
        m = m_new;
    }
//% if fault == "empty_row_is_nan" then
    const float factor = 1.0f / l;
//% else
    const float factor = keys > 0 ? 1.0f / l : 0.0f;
//% end
//% if fault == "missing_column" then
    for (int d = 0; d < $(spec.head_dim_v - 1); ++d)
//% else
    for (int d = 0; d < $(spec.head_dim_v); ++d)
//% end
        to[$(column)] = $(to_o)(o[d] * factor);
//% if fault == "writes_into_padding" then
    to[$(spec.head_dim_v)] = fmha_to_element(0.0f);
//% elseif fault == "differs_between_runs" then
    if (i == 0 && head == 0 && batch == 0 && fmha_runs++ > 0)
        to[0] = fmha_to_element(1000.0f);
//% elseif fault == "writes_an_input" then
    const_cast<element *>(q)[0] = fmha_to_element(0.0f);
//% end
    if (a.lse) {
//% if fault == "lse_base_two" then
        const float lse = m + __builtin_amdgcn_logf(l);
//% elseif fault == "lse_without_maximum" then
        const float lse = 0.693147181f * __builtin_amdgcn_logf(l);
//% else
        const float lse = 0.693147181f * m + 0.693147181f * __builtin_amdgcn_logf(l);
//% end
        a.lse[(batch * a.heads_q + head) * (i64)a.seqlen_q + i] = keys > 0 ? lse : -fmha_infinity();
    }
}
