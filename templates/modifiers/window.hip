//% -- Sliding window: of the keys left of the diagonal those that are at most window_left away, right of it those at most window_right; -1: all.
//% local most = (1 << 30) - 1
//% modifier {
//%     name = "window", diagonal = true,
//%     arguments = function()
//%         for _, side in ipairs { "window_left", "window_right" } do
//%             argument { name = side, kind = "value", type = "i32" }
//%             constraint(side, "min", -1)
//%             constraint(side, "max", 1 << 30)
//%         end
//%     end,
//%     members = function()
    int left, right; /* 2^30 - 1: unbounded, as no key is further away; and the sum with any number of a key stays within 32 bits */
//%     end,
//%     begin = function()
    score.left = arguments.window_left < 0 ? $(most) : fmha_min(arguments.window_left, $(most));
    score.right = arguments.window_right < 0 ? $(most) : fmha_min(arguments.window_right, $(most));
//%     end,
//%     span = function()
    low = fmha_max(low, query + score.diagonal - score.left);
    high = fmha_min(high, query + score.diagonal + 1 + score.right);
//%     end,
//% }
