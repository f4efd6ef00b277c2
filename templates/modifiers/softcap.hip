//% -- Softcap: a score s becomes c tanh(s / c), c > 0. tanh x = 1 - 2 / (1 + e^2x), of which 2^x and the reciprocal are the hardware's.
//% modifier {
//%     name = "softcap",
//%     arguments = function()
//%         argument { name = "softcap", kind = "value", type = "f32" }
//%     end,
//%     members = function()
    float cap, cap_exponent; /* c log2 e; 2 / c */
//%     end,
//%     begin = function()
    score.cap = arguments.softcap * 1.4426950408889634f;
    score.cap_exponent = 2.0f / arguments.softcap;
//%     end,
//%     transform = function()
    s = __builtin_fmaf(-2.0f * score.cap, __builtin_amdgcn_rcpf(1.0f + __builtin_amdgcn_exp2f(s)), score.cap);
//%     end,
//% }
