//% -- Documents packed into one sequence: a query sees the keys of its own document, and scores of distant keys fade.
//% modifier {
//%     name = "documents", hides = true, ends = true,
//%     values = { 0.015625 },
//%     buffers = { { type = "i32", shape = "batch seqlen_k", fill = function(n) return n % 97 // 13 end } },
//%     members = function()
    const int *document; /* of the sequence's tokens */
    float fade;          /* per key of distance, in units of log 2 */
//%     end,
//%     begin = function()
    score.document = arguments.modifier_buffer_0 + batch * arguments.seqlen_k;
    score.fade = arguments.modifier_0 * 1.4426950408889634f;
//%     end,
//%     transform = function()
    {
        const int at = fmha_min(query, score.last_key), of = fmha_min(key, score.last_key);
        s = score.document[at] == score.document[of] ? s - score.fade * (float)(query > key ? query - key : key - query) : -fmha_infinity();
    }
//%     end,
//%     reference = function(s, at)
//%         local function document(token) return (at.batch * at.seqlen_k + token) % 97 // 13 end
//%         if document(math.min(at.query, at.seqlen_k - 1)) ~= document(at.key) then return -math.huge end
//%         return s - 0.015625 * math.abs(at.query - at.key)
//%     end,
//% }
