//% -- Sinks: the first keys are seen by every query that is not left of them, whatever the window.
//% modifier {
//%     name = "sink_keys", kept = "score.sink_keys",
//%     arguments = function()
//%         argument { name = "sink_keys", kind = "value", type = "i32" }
//%         constraint("sink_keys", "min", 0)
//%     end,
//%     members = function()
    int sink_keys;
//%     end,
//%     begin = function()
    score.sink_keys = fmha_min(arguments.sink_keys, seqlen_k);
//%     end,
//% }
