//% -- Keys that are seen weigh the same.
//% modifier {
//%     name = "even",
//%     transform = function()
    s = 0.0f;
//%     end,
//%     reference = function() return 0 end,
//% }
