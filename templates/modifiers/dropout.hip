//% -- Dropout: weights are dropped with a probability, and those that are kept made larger by as much. Which, Philox4x32-10 says: key the words
//% -- of dropout_seed; counter (key / 8, query, batch * heads_q + head, dropout_offset). Of its 128 bits sixteen, from the lowest on, are for each of
//% -- the eight keys; the weight is kept if they are at least the probability times 65536.
//% -- Source: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011.
//% modifier {
//%     name = "dropout",
//%     arguments = function()
//%         argument { name = "dropout_seed", kind = "value", type = "i64" }
//%         argument { name = "dropout_offset", kind = "value", type = "i64" }
//%         argument { name = "dropout", kind = "value", type = "f32" }
//%         constraint("dropout_offset", "min", 0)
//%         constraint("dropout_offset", "max", (1 << 32) - 1)
//%     end,
//%     helpers = function()
//%         -- In qk each weight of a lane is another query's; and where O takes most registers, few are left for numbers of several rounds.
//%         local unroll = spec.orientation == "kq" and spec.head_dim_v <= 128 and "unroll" or "nounroll"
//%         local u32x4_of = literal("u32x4")
/* Ten rounds of two products, each of which goes into two words. */
FMHA_INLINE u32x4 fmha_philox(u32x4 counter, u32 low, u32 high)
{
#pragma $(unroll)
    for (int round = 0; round < 10; ++round) {
        const u64 even = (u64)counter[0] * 0xd2511f53u, odd = (u64)counter[2] * 0xcd9e8d57u;
        counter = $(u32x4_of){(u32)(odd >> 32) ^ counter[1] ^ low, (u32)odd, (u32)(even >> 32) ^ counter[3] ^ high, (u32)even};
        low += 0x9e3779b9u;
        high += 0xbb67ae85u;
    }
    return counter;
}

//%     end,
//%     members = function()
    u32 seed[2], offset, stream[$(forward.slots)]; /* stream: of a tile of rows, batch * heads_q + head */
    u32 dropped;                                          /* below this, of 65536, a weight is dropped */
    float kept_inverse;                                   /* 1 / (1 - probability) */
//%     end,
//%     begin = function()
    score.seed[0] = (u32)arguments.dropout_seed;
    score.seed[1] = (u32)(arguments.dropout_seed >> 32);
    score.offset = (u32)arguments.dropout_offset;
    const float share = arguments.dropout * 65536.0f;
    score.dropped = (u32)share + (share - (float)(u32)share >= 0.5f ? 1 : 0); /* rounded; 0.5 + share would be rounded before */
    score.kept_inverse = 1.0f / (1.0f - arguments.dropout);
//%     end,
//%     row_begin = function()
    score.stream[r] = (u32)(batch * arguments.heads_q + head);
//%     end,
//%     weight = function()
//%         local u32x4_of = literal("u32x4")
    const u32x4 random = fmha_philox($(u32x4_of){(u32)key / 8, (u32)query, score.stream[r], score.offset}, score.seed[0], score.seed[1]);
#pragma unroll
    for (int i = 0; i < $(score.run); ++i) {
//%         if score.run == 8 then
        const u32 word = random[i / 2];
//%         elseif score.run == 4 then
        const u32 word = key & 4 ? random[2 + i / 2] : random[i / 2];
//%         else
        const u32 word = key & 4 ? (key & 2 ? random[3] : random[2]) : (key & 2 ? random[1] : random[0]);
//%         end
        weight[i] = ((key + i) & 1 ? word >> 16 : word & 0xffff) < score.dropped ? 0.0f : weight[i];
    }
//%     end,
//%     finish = function()
    factor *= score.kept_inverse;
//%     end,
//% }
