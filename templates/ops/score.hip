//% -- What modifiers do to the scores, and which keys a query sees. Each modifier is a file of its own in modifiers/, which says what it has to
//% -- add in one call of modifier{…}; an instance without modifiers has no word of this. Fields, all but the name optional:
//% --   name         as the spec calls it
//% --   refuse       a reason why the instance cannot be
//% --   arguments()  calls argument{…} and constraint(…)
//% --   helpers()    emits device functions
//% --   after()      the same, which need struct fmha_score
//% --   members()    emits members of struct fmha_score: what stays the same through the loop over the keys
//% --   begin()      emits statements that fill them in, from `arguments`, `batch`, the first query `head` and `first_query` of the
//% --                workgroup, `seqlen_q` and `seqlen_k`
//% --   row_begin()  the same for tile r of the wave's rows, all of query head `head`: members that are arrays of forward.slots
//% --   diagonal     true: fmha_rows.diagonal is wanted, and `diagonal` may be used in span() and transform()
//% --   span()       emits statements that move the ends of the keys low <= key < high that `query` sees; as the query rises, neither may fall
//% --   kept         an expression: so many keys, from the first on, are seen though they are below `low`
//% --   transform()  emits statements that change `s`, a score of `query` and `key` after scaling, in units of log 2; for tile r of the rows. One
//% --                from outside makes no key visible that others hid.
//% --                Both are below their lengths only if `ends` is true: then `last_query` and `last_key` may be used, too
//% --   hides        true: transform() may make s -infinity, which hides the key, whatever V has there
//% --   tile         an expression of `tile`: whether the workgroup visits it at all; the same for all its rows
//% --   weight()     emits statements that change weight[0] ... weight[score.run - 1], of `query` and the keys from `key`, a multiple of score.run,
//% --                on, for the product with V; the sum l has seen them
//% --   values       numbers, up to 8: arguments modifier_0, modifier_1, ..., f32, of a modifier from outside; verification runs with these
//% --   buffers      tables { type = "f32", "i32" or "u8", shape = words such as "batch seqlen_k", fill = function(n) }, up to 4: arguments
//% --                modifier_buffer_0, ..., contiguous; verification fills in fill(n) as element n
//% --   reference    function(s, at): what transform() does, in Lua, for verification: s in natural units, at.batch, .head, .query, .key, .seqlen_q, .seqlen_k
//% --   finish()     emits statements that change a row's maximum m, its sum l, and the factor of its output, at the end
//%
//% local BK = spec.block_k
//% local causal = spec.mask ~= "none"
//% local all, outside = {}, false -- outside: the last one is from --modifier
//% local known = { name = "string", refuse = "string", arguments = "function", helpers = "function", after = "function", members = "function", begin = "function",
//%     row_begin = "function", diagonal = "boolean", span = "function", kept = "string", transform = "function", ends = "boolean", hides = "boolean",
//%     tile = "string", weight = "function", finish = "function", values = "table", buffers = "table", reference = "function" }
//% modifier = function(given)
//%     for key, value in pairs(given) do
//%         if known[key] ~= type(value) then
//%             fail("modifier " .. tostring(given.name) .. ": expected a " .. (known[key] or "known field") .. ", got a " .. type(value) .. " as '" ..
//%                  tostring(key) .. "'")
//%         end
//%     end
//%     if not given.name then fail("modifier: expected a string as 'name', got none") end
//%     if given.refuse then fail(given.refuse) end
//%     if outside and not given.reference then
//%         fail("modifier " .. given.name .. ": expected a function as 'reference', with which verification compares, got none")
//%     end
//%     all[#all + 1] = given
//% end
//% -- Declares the values and buffers of a modifier from outside.
//% local function declare(given)
//%     for i in ipairs(given.values or {}) do
//%         if i > 8 then fail("modifier " .. given.name .. ": expected at most 8 values, got more") end
//%         argument { name = "modifier_" .. i - 1, kind = "value", type = "f32" }
//%     end
//%     for i, buffer in ipairs(given.buffers or {}) do
//%         if i > 4 then fail("modifier " .. given.name .. ": expected at most 4 buffers, got more") end
//%         local words, strides = {}, {}
//%         for word in buffer.shape:gmatch("%S+") do
//%             if spec.varlen ~= "none" and word:match("^seqlen_") or spec.paged == "on" and word == "seqlen_k" then
//%                 fail("modifier " .. given.name .. ": a buffer of shape '" .. buffer.shape .. "' with " ..
//%                      (spec.varlen ~= "none" and "--varlen " .. spec.varlen or "--paged") ..
//%                      ": each sequence has its own " .. word .. ", by which no row of a tensor is found: leave " .. word .. " out of the shape")
//%             end
//%             words[#words + 1] = word
//%         end
//%         for w = 1, #words do strides[w] = w < #words and table.concat(words, "*", w + 1) or "1" end
//%         argument {
//%             name = "modifier_buffer_" .. i - 1, kind = "buffer", type = buffer.type, access = "read", shape = buffer.shape,
//%             strides = table.concat(strides, " "),
//%         }
//%     end
//% end
//%
//% -- In the order in which they change a score. Ends are moved by the causal mask first.
//% for _, row in ipairs { { "window", "none" }, { "prefix", "off" }, { "sink_keys", "off" }, { "block_mask", "off" }, { "head_scale", "off" },
//%     { "softcap", "off" }, { "alibi", "off" }, { "bias", "off" }, { "attn_mask", "off" }, { "sink", "off" }, { "dropout", "off" } } do
//%     if spec[row[1]] ~= row[2] then include("modifiers/" .. row[1] .. ".hip") end
//% end
//% if spec.modifier then
//%     local before = #all
//%     outside = true
//%     include("modifiers/user.hip")
//%     if #all ~= before + 1 then fail("--modifier: expected one call of modifier{…} in the file, got " .. #all - before) end
//% end
//%
//% local function any(field)
//%     for _, one in ipairs(all) do
//%         if one[field] then return true end
//%     end
//%     return false
//% end
//% local function each(field)
//%     for _, one in ipairs(all) do
//%         if one[field] then one[field]() end
//%     end
//% end
//% local function joined(field, between)
//%     local text
//%     for _, one in ipairs(all) do
//%         if one[field] then text = (text and text .. between or "") .. one[field] end
//%     end
//%     return text
//% end
//%
//% local kept, tile, ends = joined("kept", " + "), joined("tile", " && "), any("ends")
//% score = {
//%     any = #all > 0 or spec.op ~= "forward",
//%     hides = any("hides"),                                              -- any key of any tile may be hidden
//%     spans = any("span") or any("kept") or any("tile") or any("hides") or spec.op ~= "forward", -- the loop has two ends, or tiles are left out, or none is whole
//%     jumps = any("kept") or any("tile"),                                -- a tile's next one need not be its neighbour
//%     fence = any("hides") or any("weight"),                             -- one score after the other: fewer registers
//%     gaps = tile ~= nil,                                                -- the window has tiles that are not visited
//%     transforms = any("transform"), weights = any("weight"), finishes = any("finish"), rows = any("row_begin"),
//%     -- What makes a product a score, in units of log 2; under a cap, the first modifier to change it, in units of half the cap.
//%     scale = (spec.head_scale == "on" and "rows.score.scale[r]" or "rows.scale_log2") .. (spec.softcap == "on" and " * rows.score.cap_exponent" or ""),
//%     arguments = function()
//%         each("arguments")
//%         for _, one in ipairs(all) do declare(one) end
//%     end,
//% }
//% if score.jumps and spec.pipeline == 2 then
//%     fail("--pipeline 2 visits neighbouring tiles, --sink-keys and --block-mask leave some out: use --pipeline 1")
//% end
//% if score.jumps and spec.k_path == "async" and not (arch.into_lds and arch.into_lds.any_tile) then
//%     fail("--k-path async keeps neighbouring tiles in turn, --sink-keys and --block-mask leave some out: use --k-path lds or direct")
//% end
//% local causal_span = causal and score.spans
//% score.diagonal = any("diagonal") or causal_span
//%
//% score.emit = function()
//%     score.run = spec.orientation == "kq" and math.min(atom.sums, 8) or 1 -- neighbouring keys of a lane
//%     each("helpers")
/* What the modifiers of the scores know. */
struct fmha_score {
    int seqlen_k;
//%     if score.diagonal then
    int diagonal; /* query i stands at key i + diagonal */
//%     end
//%     if ends then
    int last_query, last_key;
//%     end
//%     each("members")
};

//%     each("after")
FMHA_INLINE void fmha_score_begin(struct fmha_score &score, const struct fmha_forward_arguments &arguments, i64 batch, int head, int first_query, int seqlen_q,
                                  int seqlen_k)
{
#pragma clang fp contract(off)
    score.seqlen_k = seqlen_k;
//%     if score.diagonal then
//%         local diagonal = spec.mask == "causal-top-left" and "0" or "seqlen_k - seqlen_q"
    score.diagonal = $(diagonal);
//%     end
//%     if ends then
    score.last_query = seqlen_q - 1;
    score.last_key = fmha_max(seqlen_k - 1, 0);
//%     end
//%     each("begin")
    (void)arguments, (void)batch, (void)head, (void)first_query, (void)seqlen_q;
}

//%     if score.rows then
/* What belongs to tile r of the wave's rows, which are all of query head `head`. */
FMHA_INLINE void fmha_score_rows(struct fmha_score &score, const struct fmha_forward_arguments &arguments, i64 batch, int r, int head)
{
#pragma clang fp contract(off)
//%         each("row_begin")
    (void)batch;
}

//%     end
//%     if score.spans then
/* The query sees keys low <= key < high, if it sees any of them; as the query rises, neither end falls. */
FMHA_INLINE void fmha_span(const struct fmha_score &score, int query, int &low, int &high)
{
    low = 0;
    high = score.seqlen_k;
//%         if causal_span then
    high = fmha_min(high, query + score.diagonal + 1);
//%         end
//%         each("span")
    (void)query;
}

/* Whether the query sees the key, as far as that does not depend on its score. */
FMHA_INLINE bool fmha_in_span(const struct fmha_score &score, int key, int low, int high)
{
//%         if kept then
    return (key < high) & ((key >= low) | (key < $(kept))); /* no branches */
//%         else
    (void)score;
    return (key >= low) & (key < high);
//%         end
}

//%     end
//%     if tile then
/* Whether the workgroup visits the tile. */
FMHA_INLINE bool fmha_visits(const struct fmha_score &score, int tile)
{
    return $(tile);
}

//%     end
//%     if score.jumps then
/* The first tile after `tile` to be visited; one that is not below `tiles` if there is none. first: tile of the
 * lowest `low` of all rows. */
FMHA_INLINE int fmha_next_tile(const struct fmha_score &score, int tile, int first, int tiles)
{
    ++tile;
//%         if kept then
    if (tile < first && tile * $(BK) >= $(kept))
        tile = first;
//%         else
    tile = fmha_max(tile, first);
//%         end
//%         if tile then
    while (tile < tiles && !fmha_visits(score, tile)) {
        ++tile;
//%             if kept then
        if (tile < first && tile * $(BK) >= $(kept))
            tile = first;
//%             end
    }
//%         end
    (void)tiles;
    return tile;
}

//%     end
//%     if score.transforms then
/* A score after scaling, in units of log 2, as the modifiers change it. */
FMHA_INLINE float fmha_modify(const struct fmha_score &score, int r, float s, int query, int key)
{
#pragma clang fp contract(off)
    (void)r, (void)query, (void)key;
//%         local hidden = false
//%         for _, one in ipairs(all) do
//%             local guarded = hidden and outside and one == all[#all]
//%             if one.transform and guarded then
    const bool was_hidden = s == -fmha_infinity();
//%             end
//%             if one.transform then one.transform() end
//%             if one.transform and guarded then
    s = was_hidden ? -fmha_infinity() : s; /* whatever was made of it */
//%             end
//%             hidden = hidden or one.hides
//%         end
    return s;
}

//%     end
//%     if score.weights then
/* Weights of a query and neighbouring keys, as the product with V sees them. */
FMHA_INLINE void fmha_weigh(const struct fmha_score &score, int r, float weight[$(score.run)], int query, int key)
{
#pragma clang fp contract(off)
//%         each("weight")
}

//%     end
//%     if score.finishes then
/* A row's maximum, sum and factor of its output, when it has seen all its keys. */
FMHA_INLINE void fmha_finish(const struct fmha_score &score, int r, float &m, float &l, float &factor)
{
#pragma clang fp contract(off)
    (void)r;
//%         each("finish")
    (void)m, (void)l;
}

//%     end
//% end
