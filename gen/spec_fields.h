/* The rows of the spec, in the order of the symbol. Included several times with another X, hence no guard.
 *
 * WORD(identifier, operations, name, option, bare, role, neutral, help, words, forms in the symbol, words of the option)
 *   bare: the option's word when it is given without one ("--causal"), NULL: it must have one
 *   words of the option: as typed, when the program's own words would be clumsy there; SAME: no difference
 * NUMBER(identifier, operations, name, option, role, neutral, minimum, maximum, multiple_of, symbol format, help)
 *   multiple_of: 0 allows minimum and maximum alone
 *
 * operations: those that have the row (EVERY, or names of SPEC_OPERATIONS joined by |). An instance of another operation
 * has no such value: not in its name, its JSON, its key or its template's `spec`; its option is refused.
 * role: FACT, what is computed, or how: KNOB, which the command that remakes an instance always has, or CHOICE, a knob
 * that stands there when it is not neutral or the chip's table says something of it. neutral: the value that does not appear in the symbol, fixed for ever:
 * FIRST, the first word, or a number; ALWAYS: it always appears. An unset fact becomes the first word or the neutral
 * number, an unset knob what the chip's table says. */
WORD(OP, EVERY, "op", "op", NULL, FACT, ALWAYS, "operation", spec_operation_words, spec_operation_words, SAME)
/* the target stands here in the symbol: _gfx1151 */
WORD(DTYPE, CACHED | MERGE | APPEND, "dtype", "dtype", NULL, FACT, ALWAYS,
     "of Q, and of K, V and O unless said; of merge: of O; of append: of what is new",
     LIST("f16", "bf16"), LIST("f16", "bf16"), SAME)
WORD(FROM, QUANTIZE, "from", "from", NULL, FACT, ALWAYS, "of quantize: the type of what is quantized",
     LIST("f16", "bf16", "f32"), LIST("f16", "bf16", "f32"), SAME)
/* "fp8", "f16" and "bf16" are typed for one of the words: which, spec_resolve finds out */
WORD(KV_DTYPE, CACHED | APPEND | QUANTIZE, "kv_dtype", "kv-dtype", NULL, FACT, FIRST,
     "of K and V: that of Q, fp8 of the OCP or of the fnuz kind, mxfp4; fp8: e4m3 of the chip's own kind",
     LIST("same", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "mxfp4"),
     LIST("", "kve4m3", "kve5m2", "kve4m3fnuz", "kve5m2fnuz", "kvmxfp4"),
     LIST("same", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "mxfp4", "fp8", "f16", "bf16"))
WORD(KV_SCALE, CACHED | APPEND | QUANTIZE, "kv_scale", "kv-scale", NULL, FACT, FIRST,
     "of fp8 K and V: a scale for each batch and key head, or for each token of them", LIST("head", "token"),
     LIST("", "scaletoken"), SAME)
WORD(SCALE_RULE, CACHED | APPEND | QUANTIZE, "scale_rule", "scale-rule", NULL, FACT, FIRST,
     "of what becomes mxfp4: scales by the exponent of the largest magnitude (floor), or one more from 1.75 times that on",
     LIST("floor", "threequarters"), LIST("", "threequarters"), SAME)
NUMBER(HEAD_DIM, CACHED | APPEND | QUANTIZE, "head_dim", "hd", FACT, ALWAYS, 8, 576, 8, "_d%d", "head dimension of Q and K")
/* 0 stands for "as head_dim", which is the neutral value; a resolved spec holds the number itself */
NUMBER(HEAD_DIM_V, CACHED | APPEND, "head_dim_v", "hd-v", FACT, 0, 8, 512, 8, "v%d",
       "head dimension of V and O; default: that of Q and K")
WORD(MASK, CACHED, "mask", "causal", "bottom-right", FACT, FIRST,
     "causal mask; bottom-right when no alignment is given", LIST("none", "causal-bottom-right", "causal-top-left"),
     LIST("", "causal", "causaltl"), LIST("none", "bottom-right", "top-left"))
WORD(WINDOW, ATTENTION, "window", "window", "sliding", FACT, FIRST,
     "sliding window: keys that far to the left and right of the diagonal, -1: unbounded", LIST("none", "sliding"),
     LIST("", "window"), SAME)
WORD(SINK_KEYS, ATTENTION, "sink_keys", "sink-keys", "on", FACT, FIRST,
     "the first keys are seen whatever the window", OFF_ON, LIST("", "sinkkeys"), SAME)
WORD(PREFIX, ATTENTION, "prefix", "prefix", "on", FACT, FIRST,
     "prefix-LM: every query of a sequence sees the keys of its prefix", OFF_ON, LIST("", "prefix"), SAME)
WORD(SOFTCAP, ATTENTION, "softcap", "softcap", "on", FACT, FIRST, "scores s become c tanh(s / c)", OFF_ON,
     LIST("", "softcap"), SAME)
WORD(ALIBI, ATTENTION, "alibi", "alibi", "on", FACT, FIRST,
     "a slope for each head, or batch and head, times the distance from the diagonal", OFF_ON, LIST("", "alibi"), SAME)
WORD(BIAS, ATTENTION, "bias", "bias", "same", FACT, FIRST,
     "a tensor that is added to the scores, of the type of Q or f32", LIST("off", "same", "f32"),
     LIST("", "bias", "biasf32"), SAME)
WORD(ATTN_MASK, ATTENTION, "attn_mask", "mask", "on", FACT, FIRST, "a tensor of bytes: 0 hides the key from the query",
     OFF_ON, LIST("", "mask"), SAME)
WORD(BLOCK_MASK, ATTENTION, "block_mask", "block-mask", "on", FACT, FIRST,
     "a tensor of bits, one for a block of queries and keys: 0 hides it", OFF_ON, LIST("", "blockmask"), SAME)
WORD(SINK, ATTENTION, "sink", "sink", "on", FACT, FIRST, "a logit for each head that joins the denominator", OFF_ON,
     LIST("", "sink"), SAME)
WORD(HEAD_SCALE, ATTENTION, "head_scale", "head-scale", "on", FACT, FIRST,
     "a factor of the softmax scale for each query head", OFF_ON, LIST("", "headscale"), SAME)
WORD(DROPOUT, ATTENTION, "dropout", "dropout", "on", FACT, FIRST, "weights are dropped at random, by Philox", OFF_ON,
     LIST("", "dropout"), SAME)
WORD(VARLEN, CACHED | MERGE | APPEND, "varlen", "varlen", "packed", FACT, FIRST,
     "sequences of a batch one behind the other (packed), or each in a place of the longest (padded)",
     LIST("none", "packed", "padded"), LIST("", "packed", "padded"), SAME)
WORD(PAGED, CACHED | APPEND, "paged", "paged", "on", FACT, FIRST, "K and V in pages, found by a table", OFF_ON,
     LIST("", "paged"), SAME)
WORD(VALUES, APPEND, "values", "values", NULL, FACT, FIRST, "V beside K, or K alone (MLA)", LIST("on", "off"),
     LIST("", "novalues"), SAME)
WORD(ROTARY, APPEND, "rotary", "rotary", "neox", FACT, FIRST,
     "rotary embedding of K: pairs of columns half of the rotated ones apart (neox), or side by side (interleaved)",
     LIST("off", "neox", "interleaved"), LIST("", "rotneox", "rotinter"), SAME)
WORD(PASS, QUANTIZE, "pass", "pass", NULL, FACT, FIRST,
     "of quantize: what makes the numbers, or before that the scale that many rows share", LIST("numbers", "scales"),
     LIST("", "scales"), SAME)
WORD(ROWS, DECODE, "rows", "rows", NULL, FACT, FIRST,
     "rows that a workgroup is to have room for: new queries of a sequence times heads that share a key head",
     LIST("16", "32", "64", "128"), LIST("", "r32", "r64", "r128"), SAME)
WORD(PARTIAL, MERGE, "partial", "partial", NULL, FACT, FIRST, "partial O in f32, or in the type of the output",
     LIST("f32", "same"), LIST("", "partialsame"), SAME)
WORD(V_LAYOUT, ATTENTION | PACK, "v_layout", "v-layout", NULL, FACT, FIRST,
     "V as [seqlen_k][head_dim], or transposed: [head_dim][seqlen_k]", LIST("row", "transposed"), LIST("", "vt"), SAME)
NUMBER(ALIGN, EVERY, "align", "align", FACT, 16, 2, 16, 0, "_a%d",
       "bytes that every row of a tensor is aligned to: 16 (default) or 2")
WORD(ORIENTATION, ATTENTION, "orientation", "orientation", NULL, KNOB, FIRST,
     "kq: S^T = K Q^T, a lane owns a query; qk: S = Q K^T", LIST("kq", "qk"), LIST("", "qk"), SAME)
NUMBER(WAVE, EVERY, "wave", "wave", KNOB, 32, 32, 64, 32, "_wave%d", "lanes of a wave")
WORD(MATRIX, CACHED, "matrix", "matrix", NULL, KNOB, FIRST,
     "matrix instructions: rows x columns of a product, and its depth where a chip has several",
     LIST("16x16", "32x32", "16x16x32", "64x16"), LIST("", "32x32", "16x16x32", "64x16"), SAME)
NUMBER(BLOCK_M, CACHED, "block_m", "block-m", KNOB, ALWAYS, 16, 1024, 16, "_m%d",
       "query rows of a workgroup, all heads counted")
NUMBER(BLOCK_K, CACHED, "block_k", "block-k", KNOB, ALWAYS, 16, 256, 16, "k%d", "keys of a tile")
NUMBER(WAVES, EVERY, "waves", "waves", KNOB, ALWAYS, 1, 16, 1, "w%d", "waves of a workgroup")
WORD(K_PATH, CACHED, "k_path", "k-path", NULL, KNOB, FIRST,
     "K through padded LDS, direct from global memory, or by loads that go to LDS without passing registers",
     LIST("lds", "direct", "async"), LIST("", "kdirect", "kasync"), SAME)
WORD(V_PATH, CACHED, "v_path", "v-path", NULL, KNOB, FIRST,
     "V through LDS (transposed on its way, or by loads that transpose), gathered by column, or direct when given "
     "transposed",
     LIST("lds", "gather", "direct", "transpose"), LIST("", "vgather", "vdirect", "vtr"), SAME)
WORD(Q_PATH, CACHED, "q_path", "q-path", NULL, KNOB, FIRST, "Q kept in registers, or read from LDS in each tile",
     LIST("register", "lds"), LIST("", "qlds"), SAME)
NUMBER(PIPELINE, ATTENTION, "pipeline", "pipeline", KNOB, 1, 1, 2, 1, "_p%d",
       "tiles in flight: 2 hoists QK^T of the next tile over the softmax of this one (qk)")
NUMBER(GQA, ATTENTION, "gqa", "gqa", KNOB, 1, 1, 16, 1, "_gqa%d", "query heads of one key head fused in a workgroup")
NUMBER(V_SLICES, ATTENTION, "v_slices", "v-slices", CHOICE, 1, 1, 8, 1, "_vs%d",
       "workgroups that share the columns of V and O; each has Q K^T of its own")
WORD(KV_MATH, CACHED, "kv_math", "kv-math", NULL, CHOICE, FIRST,
     "K and V of a smaller type: converted to that of Q, or multiplied by the matrix unit as they are, Q quantized to it",
     LIST("convert", "native"), LIST("", "native"), SAME)
NUMBER(V_WAVES, CACHED, "v_waves", "v-waves", CHOICE, 1, 1, 16, 1, "_vw%d",
       "waves that share rows: of V and O each has a part of the columns, of Q K^T a part of the sum")
WORD(PRIO, FORWARD, "prio", "prio", NULL, CHOICE, FIRST,
     "priority of waves: always the same, or higher while one multiplies matrices", LIST("none", "matrix"),
     LIST("", "prio"), SAME)
WORD(CAUSAL_ORDER, FORWARD, "causal_order", "causal-order", NULL, CHOICE, FIRST,
     "of blocks of queries under a causal mask: the chip's own, those with most keys first, or two in each workgroup "
     "that have as many keys as any other two",
     LIST("chip", "long-first", "paired"), LIST("", "longfirst", "paired"), SAME)
/* 0: as many as the chip's table says, without a word of it in the symbol */
NUMBER(XCDS, FORWARD, "xcds", "xcds", CHOICE, 0, 0, 16, 1, "_xcd%d",
       "dies to which workgroups go in turns, each with a cache of its own: neighbouring work for each; 0: as many as "
       "the chip has, 1: none")
