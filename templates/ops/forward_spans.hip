//% -- The loop over the keys where modifiers say which ones a query sees: it has two ends, and tiles between them may be left out.
//% local BK = spec.block_k
//% local block_q = spec.block_m // spec.gqa
//% local paged = spec.paged == "on"
    /* The first row's keys end first, the last row's begin last: low <= key < high are the keys that some row sees, low_all <= key < high_all
     * those that all rows see. */
//% local decode = spec.op ~= "forward" and decoding
//% local last = decode and forward.seqlen_q .. " - 1" or "fmha_min(first_query + " .. block_q .. ", " .. forward.seqlen_q .. ") - 1"
    const int last_query = $(last);
    int low, high, low_all, high_all;
    fmha_span(rows.score, first_query, low, high_all);
    fmha_span(rows.score, last_query, low_all, high);
//% local first_seen = score.jumps and "high > low ? low / " .. BK .. " : end" or "low / " .. BK
//% local end_seen = score.jumps and "(fmha_max(high, 0) + " .. BK - 1 .. ") / " .. BK or "high > low ? (high + " .. BK - 1 .. ") / " .. BK .. " : 0"
//% if decode then
//%     decode.share(first_seen, end_seen)
//% else
//%     first_seen = first_seen:gsub("end", "tiles")
    const int tiles = $(end_seen), first = $(first_seen);
//% end
    const int full = fmha_min(seqlen_k / $(BK), tiles);
//% if score.jumps and decode then
    int tile = split == 0 ? fmha_next_tile(rows.score, -1, first, tiles) : first;
//% elseif score.jumps then
    int tile = fmha_next_tile(rows.score, -1, first, tiles);
//% else
    int tile = first;
//% end
//% if score.hides then
    (void)low_all, (void)high_all; /* any key of any tile may be hidden */
//% else
//%     local unmasked = decode and "fmha_min(high_all / " .. BK .. ", tiles)" or "high_all / " .. BK
    const int body = (low_all + $(BK - 1)) / $(BK), unmasked = $(unmasked); /* tiles that are whole to all rows */
//% end

    if (tile < tiles) {
//% if paged then pages.start("tile", score.jumps and "fmha_next_tile(rows.score, tile, first, tiles)" or "fmha_min(tile + 1, tiles - 1)") end
//% if forward.early then
        struct fmha_ahead ahead;
        fmha_start(keys, ahead, tile, tiles);
//% elseif tiles.lds and tiles.ahead then
        fmha_prefetch(keys, tile, true);
//% end
//% if spec.pipeline == 2 then
        fmha_scores(rows, keys, tile);
//% end
        u32 broken = 0;
//% -- Tiles of one kind, up to `end`.
//% local function visit(end_, masked)
//%     local one = forward.step(masked)
//%     if score.jumps then
        for (int next; tile < $(end_); tile = next) {
            next = fmha_next_tile(rows.score, tile, first, tiles);
//%         if paged and pages.ahead then
            fmha_step(rows, keys, tile, next, fmha_next_tile(rows.score, next, first, tiles), tiles, full, $(masked), broken);
//%         else
            fmha_step(rows, keys, tile, next, tiles, full, $(masked), broken);
//%         end
        }
//%     else
        for (; tile < $(end_); ++tile)
            $(one);
//%     end
//% end
//% if not score.hides then
//%     visit("fmha_min(body, tiles)", "true")
//%     if forward.sends then
        const int before = tile;
//%     end
//%     visit("unmasked", "false")
//%     forward.send_what_lacks_keys("before")
//% end
//% visit("tiles", "true")
//% if arch.family == "cdna" then
        FMHA_MATRIX_DONE();
//% end
//% local ballot = "__builtin_amdgcn_ballot_w" .. spec.wave
        if ($(ballot)(broken != 0))
//% if decode then
        {
            keys.seqlen_k = fmha_min(seqlen_k, tiles * $(BK)); /* the split's own keys */
            fmha_add_broken(rows, keys, split == 0 ? 0 : first * $(BK));
        }
//% else
            fmha_add_broken(rows, keys, 0);
//% end
    }
