//% -- A learned logit for each head, which joins the denominator as the score of a key without a value would.
//% modifier {
//%     name = "sink",
//%     arguments = function()
//%         argument { name = "sink", kind = "buffer", type = "f32", access = "read", shape = "heads_q", strides = "1" }
//%     end,
//%     members = function()
    float sink[$(forward.slots)]; /* of a tile of rows, times log2 e */
//%     end,
//%     row_begin = function()
//%         if spec.op == "decode" then
    score.sink[r] = __builtin_amdgcn_workgroup_id_x() == 0 ? arguments.sink[head] * 1.4426950408889634f : -fmha_infinity(); /* once of all splits */
//%         else
    score.sink[r] = arguments.sink[head] * 1.4426950408889634f;
//%         end
//%     end,
//%     finish = function()
    {
        const float maximum = __builtin_fmaxf(m, score.sink[r]), reference = maximum == -fmha_infinity() ? 0.0f : maximum;
        const float alpha = __builtin_amdgcn_exp2f(m - reference);
        l = l * alpha + __builtin_amdgcn_exp2f(score.sink[r] - reference);
        factor *= alpha;
        m = maximum;
    }
//%     end,
//% }
