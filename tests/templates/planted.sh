#!/bin/sh
# Faults planted in copies of the real templates, each of which the standing cases must refuse.
#   planted.sh FMHAGEN SOURCE_ROOT [NAME]
. "$2/tests/templates/planting.sh"

kq=ops/forward_kq.hip
plant "v by k's row stride" ops/forward.hip 's/keys\.v_stride = \$(v_row)/keys.v_stride = $(k_row)/' '--hd 64'
for axis in batch head row; do
    [ $axis = row ] || swap "v by k's $axis stride" ops/forward.hip v_$axis k_$axis '--hd 64'
    o=$kq
    [ $axis != batch ] || o=ops/forward.hip
    swap "o by q's $axis stride" $o o_$axis q_$axis '--hd 64'
    narrow "o's offset by $axis in 32 bits" $o '\([a-z.]*\(\[r\]\)*\)' o_$axis '--hd 64'
done
for axis in batch head; do # rows of v are near enough for 32 bits: a constraint of the kernels
    plant "v's $axis stride in 32 bits" ops/forward.hip "s/arguments\.stride_v_$axis/(int)arguments.stride_v_$axis/" '--hd 64'
done
plant 'LSE by key heads' ops/forward.hip 's/(batch \* arguments\.heads_q + rows/(batch * arguments.heads_k + rows/' '--hd 64'
plant 'LSE by key heads, fused' ops/forward.hip 's/(batch \* arguments\.heads_q + rows/(batch * arguments.heads_k + rows/' '--hd 64 --gqa 2'
plant 'every slice has the first columns of V' ops/forward.hip '/keys\.v += \$(first);/d' '--hd 64 --v-slices 2'
plant 'every slice has the first columns of O' ops/forward.hip 's/ + rows\.v_first"/"/' '--hd 64 --v-slices 2'
plant 'every slice writes LSE' ops/forward.hip 's/ && rows\.v_first == 0"/"/' '--hd 64 --v-slices 2'
plant 'the last slice stores what another one has' $kq 's/ && dimension >= v_own"/"/' '--hd 72 --v-slices 2'
plant 'slices of V transposed begin at keys' ops/forward.hip 's/"v_first \* arguments\.stride_v_row"/"v_first"/' '--hd 64 --v-slices 2 --v-layout transposed'
plant 'a part of a row of K for all parts' ops/tiles.hip 's/local part = parts > 1 and .*/local part = ""/' '--hd 576 --hd-v 64 --block-m 16 --block-k 16 --waves 1 --shape 1,1,1,16,16'
plant 'unmasked loop a key too long' ops/forward.hip 's/first_query + 1 + rows\.diagonal/first_query + 2 + rows.diagonal/' '--hd 64 --causal'
plant 'unmasked loop a key too long, fused' ops/forward.hip 's/first_query + 1 + rows\.diagonal/first_query + 2 + rows.diagonal/' '--hd 256 --causal --gqa 2'
plant 'unmasked loop a tile too long' ops/forward.hip 's/first_query + 1 + rows\.diagonal/first_query + 33 + rows.diagonal/' '--hd 64 --causal=top-left'
plant 'a wave leaves out a tile that its last row sees, without reading ahead' ops/forward.hip 's/tile \* \$(BK) >= \$(forward\.idles)/tile * $(BK) + 1 >= $(forward.idles)/' '--hd 64 --causal'
plant 'loop a key too short' ops/forward.hip 's/last_query + 1 + rows\.diagonal/last_query + rows.diagonal/' '--hd 64 --causal'
for dtype in f16 bf16; do
    for value in 1e9f 1e30f; do
        plant "$dtype: maximum starts at -$value" $kq "s/rows\.m\[r\] = -0x1\.fffffep127f/rows.m[r] = -$value/" "--hd 64 --dtype $dtype"
        plant "$dtype: masked scores are -$value" $kq "s/s\[r\]\[j\]\[i\] : -fmha_infinity()/s[r][j][i] : -$value/" "--hd 64 --dtype $dtype"
    done
    plant "$dtype: O rounded at each tile" $kq 's/rows\.l\[r\] += sum\.x + sum\.y;/& for (int t = 0; t < $(VT); ++t) for (int i = 0; i < $(L); ++i) rows.o[r][t][i] = fmha_from_element(fmha_to_element(rows.o[r][t][i]));/' "--hd 64 --dtype $dtype"
done
plant 'a rounded bound of what does not rescale' $kq 's/"maximum - rows\.m\[r\] > " \.\. forward\.slack/"maximum > rows.m[r] + " .. forward.slack/' '--hd 64'
for arch in gfx942 gfx90a; do
    plant "$arch: exponents of large scores by multiply-adds" $kq 's/>= 32768\.0f/>= 0x1p120f/' '--hd 64 --scale 1e9 --shape 1,2,2,64,130'
    plant "$arch: large scores scaled twice" $kq 's/            factor = 1\.0f;/            factor = $(score.scale);/' '--hd 64'
done
arch=gfx942 early=ops/early.hip # operands that are read ahead
plant 'K changes under those who read it' $early '/every wave is done with this tile of K/d' '--hd 64'
start='/^            fmha_barrier();$/{N;s/.*\n\( *fmha_start\)/\1/}'
plant 'tiles are read before they are there' $early '/fmha_put_v(keys, tile, masked);/{n;s/fmha_barrier();//}' '--hd 64'
plant 'a new start changes K under those who read it' ops/forward.hip "$start" '--hd 64'
plant 'a new start behind a window changes K under those who read it' ops/forward.hip "$start" '--hd 64 --window'
plant 'K is sent for a tile late' $early 's/fmha_min(tile + 2, full - 1)/fmha_min(tile + 1, full - 1)/' '--hd 64'
plant 'V is sent for a tile early' $early 's/fmha_min(tile + 1, full - 1)/fmha_min(tile + 2, full - 1)/' '--hd 64'
plant 'masked K is sent for a tile late' $early 's/fmha_send_k(keys, tile + 2, true)/fmha_send_k(keys, tile + 1, true)/' '--hd 64 --causal'
plant 'the tile that lacks keys is not sent for' ops/forward.hip 's/\&\& tile + 1 >= full/\&\& tile > full/' '--hd 64'
plant 'the tile that lacks keys is sent for too late' ops/forward.hip 's/\&\& tile + 1 >= full/\&\& tile >= full/' '--hd 64 --causal'
plant 'the same behind a window' ops/forward.hip 's/\&\& tile + 1 >= full/\&\& tile > full/' '--hd 64 --window'
plant 'the first operand of K is the second' $early 's/early\.read_k(n, "true")/early.read_k(1, "true")/' '--hd 64'
plant 'a wave leaves out a tile that its last row sees' ops/forward.hip 's/ \.\. N \.\. " + rows\.diagonal"/ .. N - 1 .. " + rows.diagonal"/' '--hd 64 --causal'
plant 'weights are packed beside their neighbours' device/element_bf16.hip 's/(float)rounded\.y), /(float)rounded.x), /' '--hd 64 --dtype bf16'
arch=gfx950
plant 'a block of K for another' $early 's/n % blocks or ""/(n + 1) % blocks or ""/' '--hd 256'
plant 'sums of a block for those of another' atoms/mfma.hip 's/sum\[i\] = all\[\$(L \/\/ blocks) \* h + i\]/sum[i] = all[i]/' '--hd 256'
plant 'fours of V change places in LDS alone' ops/way_columns.hip 's/if turned then row =/if false then row =/' '--hd 256'
arch=gfx90a
plant 'a shift is added to a large maximum' $kq 's/ - reference;$/;/; s/references = (f32x2)(0\.0f);/(void)0;/' '--hd 64 --scale 1e6 --shape 1,2,2,64,130'
plant 'the maximum of a negative scale' ops/forward.hip 's/rows\.scale_log2 >= 0\.0f ? /true ? /' '--hd 64'
arch=gfx1151
plant 'rows are not rescaled' $kq 's/rows\.o\[r\]\[t\] \*= alpha;/(void)0;/' '--hd 64'
plant 'the maximum of a lane group alone' $kq 's/^            maximum = fmha_group_max(maximum);//' '--hd 64'
plant 'weights outgrow their reference' $kq 's/forward\.slack \.\. "\.0f"/"60.0f"/' '--hd 64 --scale 4'
plant 'a wave adds its own part of the scores twice' $kq 's/rows\.v_first ? parts : parts + /rows.v_first ? parts + 0 + /; s/parts + 0 + \$(part_cells)/parts + $(part_cells) : parts/' '--hd 256'
paired='--hd 64 --causal --causal-order paired --count' first='--hd 64 --causal --causal-order long-first'
plant 'pairs: a block twice' ops/forward.hip 's/(far > near ? 2 : 1)/2/' "$paired"
plant 'pairs: a block left out' ops/forward.hip 's/(far > near ? 2 : 1)/1/' "$paired"
plant 'pairs: one block for both' ops/forward.hip 's/turn == 0 ? far : near/far/' "$paired"
plant 'pairs: of the longest sequence' ops/forward.hip 's/far = (\$(queries)/far = (arguments.seqlen_q/' "$paired --varlen=padded"
plant 'longest first: the first one is left out' ops/forward.hip 's/ - 1 - (int)\$(group_x)) / - (int)$(group_x)) /' "$first"
plant 'longest first: rows before the first' ops/forward.hip 's/if (first_query < 0)/if (false)/' "$first --varlen=packed"
arch=gfx942
plant 'pairs: LDS is filled too soon' ops/forward.hip 's|fmha_barrier(); /\* every wave is done with the block|(void)0; /* every wave is done with the block|' "$paired --k-path async"
plant 'a short way from a product to LDS that writes where its result goes' device/matrix_done.hip 's/__asm__ volatile("s_nop 15")/((void)0)/' \
    '--hd 8 --varlen=padded --softcap=0.001 --q-lens 40,1 --k-lens 1,33 --shape 2,2 --inputs large --device isa'
dies='--hd 64 --xcds 3'
plant 'dies: work that another one has' device/dies.hip 's/place % dies \* each/place % dies * (each - 1)/' "$dies"
plant 'dies: what is left over is handed out, too' device/dies.hip 's/place < each \* dies ? //; s/ : place;/;/' "$dies"
plant 'dies: lines of the grid too long' ops/forward.hip 's/ + \$(group_y) \* blocks,/ + $(group_y) * (blocks + 1),/' "$dies"
plant 'dies: lines of the grid too long for pairs' ops/forward.hip 's/local span, rows_of_grid = (paired and 2 or 1) \* block_q/local span, rows_of_grid = block_q/' "$dies --causal --causal-order paired"
arch=gfx1151
plant 'infinities of V are lost' ops/forward.hip 's/fmha_add_broken(rows, keys, .*);/(void)0;/' '--hd 64 --causal'
plant 'infinities of V leak' ops/forward.hip 's/masked \&\& fmha_v_broken(keys, tile)/false/' '--hd 64 --causal'
plant '2 batches at most' ops/forward.hip 's/const i64 batch = \(.*\);/const i64 batch = (\1) \& 1;/' '--hd 64'
plant '32 heads at most' ops/forward.hip 's/const i64 key_head = head/const i64 key_head = (head \& 31)/' '--hd 64'

pack=ops/pack.hip both='--op pack --v-layout row,transposed'
for axis in batch head; do
    swap "pack: to by from's $axis stride" $pack to_$axis from_$axis "$both"
    narrow "pack: $axis stride of from in 32 bits" $pack '\(batch\|head\)' from_$axis "$both"
    narrow "pack: $axis stride of to in 32 bits" $pack '\(batch\|head\)' to_$axis "$both"
done
plant "pack: to by from's row stride" $pack 's/tile\.to_stride = arguments\.stride_to_row/tile.to_stride = arguments.stride_from_row/' "$both"
plant 'pack: row stride of from in 32 bits' $pack 's/row \* tile\.from_stride/(int)(row * tile.from_stride)/' "$both"
plant 'pack: row stride of to in 32 bits' $pack 's/\(row\|column\) \* tile\.to_stride/(int)(\1 * tile.to_stride)/' "$both"
narrow 'pack: first row of from in 32 bits' $pack first_row from_row "$both"
narrow 'pack: first row of to in 32 bits' $pack '\$(line)' to_row "$both"
narrow 'pack: first column of to in 32 bits' $pack '\$(line)' to_row '--op pack --v-layout transposed'
plant 'pack: a row too many' $pack 's/if (whole || row < tile\.rows)/if (whole || row <= tile.rows)/' '--op pack'
plant 'pack: a column too many' $pack 's/if (whole || column < tile\.columns)/if (whole || column <= tile.columns)/' '--op pack --v-layout transposed'
plant 'pack: the last elements of a line are lost' $pack 's/i < 7/i < 6/' '--op pack'
plant 'pack: odd rows before even ones' $pack 's/0x05040100/0x01000504/' '--op pack --v-layout transposed'
plant 'pack: no barrier' $pack 's/^    fmha_barrier();//' '--op pack --v-layout transposed'
plant 'pack: whole where columns lack' $pack 's/tile\.rows == $(T) \&\& tile\.columns == $(T)/tile.rows == $(T)/' "$both"

merge=ops/merge.hip both='--op merge --align 16,2'
for axis in batch head row; do
    case $axis in row) place=query ;; *) place=$axis ;; esac
    plant "merge: $axis stride of partial O is 0" $merge "s/$place \* arguments\.stride_o_partial_$axis/0/" "$both"
    swap "merge: partial O by O's $axis stride" $merge o_partial_$axis o_$axis "$both"
    swap "merge: O by partial O's $axis stride" $merge o_$axis o_partial_$axis "$both"
    narrow "merge: $axis stride of partial O in 32 bits" $merge $place o_partial_$axis "$both"
    narrow "merge: $axis stride of O in 32 bits" $merge $place o_$axis "$both"
done
plant 'merge: every split is the first' $merge 's/from + s \* arguments\.stride_o_partial_split/from/' "$both"
narrow 'merge: split stride in 32 bits' $merge s o_partial_split "$both"
plant 'merge: LSE in base 2' $merge 's/ \* 1\.4426950408889634f//; s/0\.69314718055994531f \* //' "$both"
plant 'merge: weights in base 2' $merge 's/ \* 1\.4426950408889634f//' "$both"
plant 'merge: LSE written in base 2' $merge 's/m + 0\.69314718055994531f \* /m + /' "$both"
plant 'merge: an empty part has a weight' $merge 's/lse == -fmha_infinity() ? 0\.0f : //' "$both"
plant 'merge: O of an empty part is looked at' $merge 's/lse == -fmha_infinity() ? -0\.0f : part\[i\]/part[i]/' "$both"
plant 'merge: without the maximum' $merge 's/(lse - m) \*/lse */; s/: m + 0/: 0/' "$both"
plant 'merge: log2 e before the difference' $merge 's/(lse - m) \* 1\.4426950408889634f/lse * 1.4426950408889634f - m * 1.4426950408889634f/' "$both"
plant 'merge: the maximum starts at -1e4' $merge 's/float m = -fmha_infinity()/float m = -1e4f/' "$both"
plant 'merge: the last part is lost' $merge 's/"arguments\.splits", "++s"/"arguments.splits - 1", "++s"/' "$both"
plant 'merge: a row without keys is NaN' $merge 's/l == 0\.0f ? 0\.0f : 1\.0f/1.0f/' "$both"
plant 'merge: a row without keys is -0' $merge 's/l == 0\.0f ? 0\.0f : -0\.0f/-0.0f/' "$both"
plant 'merge: zeros lose their sign' $merge 's/l == 0\.0f ? 0\.0f : -0\.0f/0.0f/' "$both"
plant 'merge: normalized at the end' $merge 's/fmha_weight(lse, m) \* inverse/fmha_weight(lse, m)/; s/o\[i\] == o\[i\] ? o\[i\]/o[i] == o[i] ? o[i] * inverse/' '--op merge --dtype bf16'
plant 'merge: a row too many' $merge 's/row >= rows/row > rows/' "$both"
plant 'merge: every lane writes LSE' $merge 's/"piece == 0"/"true"/' "$both"
plant 'merge: LSE where there is none' $merge 's/arguments\.lse \&\& //' "$both"
plant 'merge: heads by batches' $merge 's/head_row % (u32)arguments\.heads_q/head_row % (u32)arguments.batch/' "$both"
plant 'merge: columns of the neighbour' $merge 's/all\[i\] = fmha_pack(o\[2 \* i\], o\[2 \* i + 1\])/all[i] = fmha_pack(o[2 * i + 1], o[2 * i])/' '--op merge'
plant 'merge: a row past its sequence' $merge 's/query >= arguments\.seqlens_q/query > arguments.seqlens_q/' '--op merge --varlen=padded'
plant 'merge: rows before the first sequence' $merge 's/query < arguments\.cu_seqlens_q\[0\] || //' '--op merge --varlen=packed'
plant 'merge: the last sequence is lost' $merge 's/cu_seqlens_q\[arguments\.batch\]/cu_seqlens_q[arguments.batch - 1]/' '--op merge --varlen=packed'
plant 'merge: bf16 NaN becomes infinity' $merge '/o\[i\] = o\[i\] == o\[i\]/d' '--op merge --dtype bf16'

# Modifiers: each by a fault of its own arithmetic, and by one of the tensor or the loop that it takes part in.
spans=ops/forward_spans.hip score=ops/score.hip
in=modifiers
plant 'window: a key too many on the left' $in/window.hip 's/score\.diagonal - score\.left/score.diagonal - score.left - 1/' '--hd 64 --window'
plant 'window: a key too few on the right' $in/window.hip 's/score\.diagonal + 1 + score\.right/score.diagonal + score.right/' '--hd 64 --window'
plant 'window: 0 is unbounded' $in/window.hip 's/window_\([a-z]*\) < 0 ?/window_\1 <= 0 ?/' '--hd 64 --window=0,0'
plant 'window: the diagonal is left out' $score 's/score\.diagonal = \$(diagonal)/score.diagonal = 0/' '--hd 64 --window'
plant 'window: not masked where it begins' $spans 's|const int body = (low_all + $(BK - 1)) / $(BK)|const int body = low_all / $(BK)|' '--hd 64 --window'
plant 'window: not masked where it ends' $spans 's|or "high_all / " \.\. BK|or "(high_all + " .. BK - 1 .. ") / " .. BK|' '--hd 64 --window'
plant 'window: the first tile is left out' $spans 's|or "low / " \.\. BK|or "(low + " .. BK - 1 .. ") / " .. BK|' '--hd 64 --window'
plant 'window: the last tile is left out' $spans 's|or "high > low ? (high + " \.\. BK - 1 \.\. ") / "|or "high > low ? high / "|' '--hd 64 --window'
plant 'prefix: longer than the sequence' $in/prefix.hip 's/fmha_min(arguments\.prefix_lengths\[batch\], seqlen_k)/arguments.prefix_lengths[batch] + 1/' '--hd 64 --causal --prefix'
plant 'prefix: of the first sequence' $in/prefix.hip 's/prefix_lengths\[batch\]/prefix_lengths[0]/' '--hd 64 --causal --prefix'
plant 'sink keys: one too many' $in/sink_keys.hip 's/fmha_min(arguments\.sink_keys, seqlen_k)/fmha_min(arguments.sink_keys + 1, seqlen_k)/' '--hd 64 --window=3,0 --sink-keys'
plant 'sink keys: their tiles are left out' $score 's/tile < first \&\& tile \* $(BK) >= $(kept)/tile < first/' '--hd 64 --window=3,0 --sink-keys'
plant 'sink keys: seen from the left, too' $score 's/(key < high) & ((key >= low) | (key < $(kept)))/((key < high) \& (key >= low)) | (key < $(kept))/' '--hd 64 --causal --window=3,0 --sink-keys'
plant 'block mask: of the neighbouring tile' $in/block_mask.hip 's|(u32)tile / score|(u32)(tile + 1) / score|' '--hd 64 --block-mask'
plant 'block mask: of the first queries' $in/block_mask.hip 's|(u32)first_query / |0 / |' '--hd 64 --block-mask'
plant 'block mask: of the first head' $in/block_mask.hip 's|head \* arguments|0 * arguments|' '--hd 64 --block-mask'
plant 'block mask: of the first sequence' $in/block_mask.hip 's|batch \* arguments|0 * arguments|' '--hd 64 --block-mask'
plant 'softcap: twice as far' $in/softcap.hip 's|2\.0f / arguments|1.0f / arguments|' '--hd 64 --softcap'
plant 'softcap: masked keys are capped' $kq 's/: -fmha_infinity();/: -rows.score.cap;/' '--hd 64 --softcap --causal --window'
plant 'alibi: of the first head' $in/alibi.hip 's/stride_alibi_batch + head\]/stride_alibi_batch]/' '--hd 64 --alibi'
plant 'alibi: of the first sequence' $in/alibi.hip 's/batch \* arguments/0 * arguments/' '--hd 64 --alibi'
plant 'alibi: rises to the right' $in/alibi.hip 's/__builtin_fabsf(\(.*\)), s)/\1, s)/' '--hd 64 --alibi'
plant 'alibi: from the first key' $score 's/score\.diagonal = \$(diagonal)/score.diagonal = 0/' '--hd 64 --alibi'
for tensor in bias mask; do
    file=$in/$(echo $tensor | sed 's/^mask/attn_mask/').hip
    plant "$tensor: of the first sequence" "$file" "s/batch \* arguments/0 * arguments/" "--hd 64 --$tensor"
    plant "$tensor: of the first head" "$file" "s/+ head \* arguments/+ 0 * arguments/" "--hd 64 --$tensor"
    plant "$tensor: of the first query" "$file" "s/fmha_min(query, score\.last_query)/0/" "--hd 64 --$tensor"
    plant "$tensor: of the neighbouring key" "$file" "s/fmha_min(key, score\.last_key)/fmha_min(key + 1, score.last_key)/" "--hd 64 --$tensor"
    plant "$tensor: read past the last key" "$file" "s/fmha_min(key, score\.last_key)/key/" "--hd 64 --$tensor"
    plant "$tensor: read past the last query" "$file" "s/fmha_min(query, score\.last_query)/query/" "--hd 64 --$tensor"
    plant "$tensor: V that is hidden is looked at" $kq "s/ || \$(hidden))/)/" "--hd 64 --$tensor"
    plant "$tensor: not masked" $score "s/hides = any(\"hides\")/hides = false/" "--hd 64 --$tensor"
done
for axis in batch head; do
    narrow "bias: $axis stride in 32 bits" $in/bias.hip $axis bias_$axis '--hd 64 --bias'
    narrow "block mask: $axis stride in 32 bits" $in/block_mask.hip $axis block_mask_$axis '--hd 64 --block-mask'
done
plant 'mask: rows in 32 bits' $in/attn_mask.hip 's/fmha_min(query, score\.last_query) \* score\.mask_stride/(int)(fmha_min(query, score.last_query) * score.mask_stride)/' '--hd 64 --mask'
plant 'bias: rows in 32 bits' $in/bias.hip 's/fmha_min(query, score\.last_query) \* score\.bias_stride/(int)(fmha_min(query, score.last_query) * score.bias_stride)/' '--hd 64 --bias'
plant 'bias: a hidden infinity is NaN' $in/bias.hip 's/added <= .* ? -fmha_infinity() : //' '--hd 64 --bias'
plant 'bias: in natural logarithms' $in/bias.hip 's/1\.4426950408889634f/1.0f/' '--hd 64 --bias=f32'
plant 'sink: O is not made smaller' $in/sink.hip 's/factor \*= alpha;//' '--hd 64 --sink'
plant 'sink: not in the LSE' $in/sink.hip 's/l = l \* alpha + __builtin_amdgcn_exp2f(score\.sink\[r\] - reference)/l = l * alpha/' '--hd 64 --sink'
plant 'sink: of the first head' $in/sink.hip 's/sink\[head\]/sink[0]/' '--hd 64 --sink'
plant 'head scale: of the first head' $in/head_scale.hip 's/head_scale\[head\]/head_scale[0]/' '--hd 64 --head-scale'
plant 'dropout: kept weights stay as they are' $in/dropout.hip 's/factor \*= score\.kept_inverse;//' '--hd 64 --dropout'
plant 'dropout: the sum loses what is dropped' $kq 's/sum += weight\[i\];/sum += i \& 1 ? weight[i] : 0.0f;/' '--hd 64 --dropout'
plant 'dropout: nine rounds' $in/dropout.hip 's/round < 10/round < 9/' '--hd 64 --dropout'
plant 'dropout: by key heads' $in/dropout.hip 's/batch \* arguments\.heads_q/batch * arguments.heads_k/' '--hd 64 --dropout'
plant 'dropout: odd keys first' $in/dropout.hip 's/(key + i) & 1 ? word >> 16 : word & 0xffff/(key + i) \& 1 ? word \& 0xffff : word >> 16/' '--hd 64 --dropout'

for axis in q o; do
    plant "packed: first row of $axis in 32 bits" ops/forward.hip "s/\"rows\.first_row \* arguments\.stride_${axis}_row\"/\"(int)(rows.first_row * arguments.stride_${axis}_row)\"/" '--hd 64 --varlen=packed'
done
for axis in k v; do
    narrow "packed: first row of $axis in 32 bits" ops/forward.hip first_key ${axis}_row '--hd 64 --varlen=packed'
done
decode='--op decode --hd 64'
plant 'decode: heads before queries' ops/forward.hip 's|rows\.query\[r\] = row % \$(forward\.seqlen_q);|rows.query[r] = row / group;|' "$decode --causal --shape 1,6,2,3,40"
plant 'decode: the head is left out' ops/forward.hip 's|rows\.head\[r\] = head + row / .*|rows.head[r] = head;|' "$decode --shape 1,6,2,3,40"
plant 'decode: a tile of each split is lost' ops/decode.hip 's|tiles = split == 0 \&\& each == 0 ? end : fmha_min(first + each, end)|tiles = fmha_min(first + fmha_max(each - 1, 0), end)|' "$decode --shape 1,6,2,3,300 --splits 3"
plant 'decode: a tile twice' ops/decode.hip 's|fmha_min(first_of_all + split \* each, end)|fmha_min(first_of_all + split * fmha_max(each - 1, 0), end)|' "$decode --shape 1,6,2,3,300 --splits 3"
plant 'decode: the sink joins each split' $in/sink.hip 's|__builtin_amdgcn_workgroup_id_x() == 0 ?|true ?|' "$decode --sink --shape 1,6,2,3,300 --splits 3"
plant 'decode: partial LSE of base 2' ops/decode.hip 's|lse_partial\[row\] = 0\.69314718055994531f \*|lse_partial[row] =|' "$decode --shape 1,6,2,3,300 --splits 3"
plant 'decode: batches of a split overlap' ops/decode.hip 's|(i64)arguments\.batch \* arguments\.heads_q|(i64)arguments.heads_q|' "$decode --shape 2,6,2,3,300 --splits 3"
plant 'decode: each split writes O and LSE' ops/decode.hip 's|^            continue;|            (void)0;|' "$decode --shape 1,6,2,3,300 --splits 3"
plant 'decode: infinities of other splits' $spans 's|fmha_add_broken(rows, keys, split == 0 ? 0 : first \* \$(BK));|fmha_add_broken(rows, keys, 0);|' "$decode --causal"
waves='--op decode --hd 512 --causal --shape 1,6,2,3,40'
plant 'waves: the scores of one are left out' $kq 's/part < \$(sharing)/part < $(sharing - 1)/' "$waves"
plant 'waves: columns of O are another wave'"'"'s' ops/forward.hip 's/rows\.v_first = keys\.v_first;/rows.v_first = keys.v_first ^ 128;/' "$waves"
plant 'waves: columns of V are another wave'"'"'s' ops/tiles.hip 's/"keys\.v_first + t \* "/"(keys.v_first ^ 128) + t * "/' "$waves"
plant 'waves: all have the first dimensions of Q' ops/forward.hip 's/rows\.k_first = keys\.k_first;/rows.k_first = 0;/' "$waves"
plant 'waves: scores are read before they are there' $kq '/^FMHA_INLINE void fmha_add_scores/,/^}/ s/    fmha_barrier();//' "$waves"
latent='--op mla --causal --shape 1,16,1,2,40'
plant 'mla: V from column 64 on' ops/forward.hip 's/keys\.v = keys\.k;/keys.v = keys.k + 64;/' "$latent"
plant 'mla: what is not V of a row is the first of it' ops/forward.hip '/keys\.k += /d' "$latent"
plant 'mla: what is not V of a row is left out' ops/tiles.hip 's/"_shares(keys\.thread)"$/(kind == "k" and "_shares(keys.thread) \&\& false" or "_shares(keys.thread)")/' "$latent"
plant 'mla: rows of K in the order of memory' ops/way_eights.hip 's/keys\.k_lds + fmha_lds_row(row \* 8 + j)/keys.k_lds + (row * 8 + j)/' "$latent"
plant 'mla: scales of K from the first of a row on' ops/forward.hip '/(scales) += \$(DV \/\/ 32);/d' "$latent --kv-dtype mxfp4"

lanes=atoms/lanes_gcn.hip
arch=gfx942
plant 'cdna: a lane group reads its own maximum' $lanes 's/(lane ^ 32) \* 4/lane * 4/' '--hd 64'
plant 'cdna: weights are taken for the neighbouring group' $kq 's/(int)fmha_group_first(rows\.group)/(int)fmha_group_first(rows.group ^ 1)/' '--hd 64 --causal'
plant 'cdna: outputs go to the neighbouring group' $kq 's/fmha_group_first(group)/fmha_group_first(group ^ 1)/' '--hd 64'
plant 'cdna: V of the neighbouring group' ops/tiles.hip 's|fmha_group_first(keys\.lane / |fmha_group_first((keys.lane ^ 32) / |' '--hd 64'
plant 'cdna: a row of another octet' $lanes 's/"0x140"/"0x141"/' '--hd 64 --orientation qk'
plant 'cdna: the tile before is overwritten' ops/forward.hip 's|fmha_barrier(); /\* every wave is done .*||' '--hd 64 --q-path lds'
plant 'cdna: a tile is read before it is there' ops/forward.hip '/fmha_store_tile(keys, tile, masked);/{n;s/fmha_barrier();//}' '--hd 64 --q-path lds'
plant 'cdna: what lands in LDS is not waited for' device/into_lds_gfx9.hip '/__builtin_amdgcn_s_waitcnt/d' '--hd 64 --k-path async'
plant 'cdna: K lands where it is read' ops/way_async.hip 's/\*to = keys.k_lds + (tile & 1)/*to = keys.k_lds + (tile * 0)/' '--hd 64 --k-path async'
arch=gfx950
plant 'cdna4: halves of a wave keep their own maximum' $lanes 's/x = __builtin_fmaxf(\(low\|own\), \(high\|other\));/x = \1;/' '--hd 64'
plant 'cdna4: halves of a wave keep their own sum' $lanes 's/x = \(low\|own\) + \(high\|other\);/x = \1 + \1;/' '--hd 64'
plant 'mla: V for itself, and K by what brings it' ops/tiles.hip 's/and k_lds and spec\.v_path == "lds"/and k_lds and v_lds/' '--op mla --hd 96 --hd-v 64 --v-path transpose --shape 1,12,1,2,40'
arch=gfx90a
plant 'gfx90a: a rounded shift of huge exponents' $kq '/s\[r\]\[j\] -= reference;/s/reference/0.0f/; /references = (f32x2)(0\.0f);/d' '--hd 64'
plant 'gfx90a: small weights in f16 are lost' arch/gfx90a.lua 's/^chip\.p_shift.*//' '--hd 64'
plant 'gfx90a: l as large as the weights' ops/forward.hip 's/l = p_shift and .*, *$/l = "l",/' '--hd 64'

# The product of chips without matrix instructions: of which row the lane has what, and both halves of a pair.
arch=gfx1030
plant 'dot: the neighbouring lane, by v_dot2c' device/dot2_gfx10.hip 's/0x150 + row/0x150 + (row ^ 1)/' '--hd 64'
plant 'dot: sums clamped to 1' device/dot2_gfx10.hip 's/c, false)/c, true)/' '--hd 64'
plant 'dot: a row of A for each lane' atoms/dot.hip 's/lane \/ 16 \* $(L) + lane % $(L);/lane % 16;/' '--hd 64'
arch=gfx906
plant 'dot: the neighbouring lane, by v_dot2' device/dot2_gfx9.hip 's/0x55 \* row/0x55 * (row ^ 1)/' '--hd 64'
plant 'dot: places past the eighth are lost' atoms/dot.hip 's/p < 8/p < 4/' '--hd 64'
arch=gfx9-generic
plant 'dot: the neighbouring lane, by v_fma' device/fma_gfx9.hip 's/0x55 \* row/0x55 * (row ^ 1)/' '--hd 64'
plant 'dot: low halves twice' device/fma_gfx9.hip 's/y\[1\]/y[0]/' '--hd 64'

# Sequences of a batch: whose rows, how many, and where they are written.
arch=gfx1151 lengths='--hd 64 --q-lens 1,0,70,17 --k-lens 37,20,105,0 --shape 4,2'
plant 'packed: keys from the sequence before' ops/forward.hip 's/arguments\.cu_seqlens_k\[batch\]/arguments.cu_seqlens_k[batch \& 2]/' "$lengths --varlen"
plant 'packed: keys from the first query on' ops/forward.hip 's/first_key \* arguments\.stride_k_row/first_row * arguments.stride_k_row/' "$lengths --varlen"
plant 'packed: O from the first key on' ops/forward.hip 's/rows\.first_row \* arguments\.stride_o_row/batch * arguments.stride_o_row/' "$lengths --varlen"
plant 'packed: LSE by the own length' ops/forward.hip 's/arguments\.tokens_q + rows/rows.seqlen_q + rows/' "$lengths --varlen"
plant 'packed: rows of the next sequence are written' $kq 's/query >= \$(forward\.seqlen_q)/false/' "$lengths --varlen"
plant 'packed: no workgroup leaves' ops/forward.hip 's/if (first_query >= seqlen_q)/if (false)/' '--hd 64 --q-lens 0,1 --k-lens 20,37 --shape 4,2 --varlen'
plant 'padded: queries of the longest' ops/forward.hip 's/seqlen_q = arguments\.seqlens_q\[batch\]/seqlen_q = arguments.seqlen_q/' "$lengths --varlen=padded"
plant 'padded: keys of the neighbour' ops/forward.hip 's/seqlen_k = arguments\.seqlens_k\[batch\]/seqlen_k = arguments.seqlens_k[batch ^ 1]/' "$lengths --varlen=padded"
plant 'padded: the diagonal of the longest' ops/forward.hip 's/seqlen_k - \$(forward\.seqlen_q);/seqlen_k - arguments.seqlen_q;/' "$lengths --varlen=padded --causal"

# Pages: which one, which row of it, and when that is known.
pages=ops/pages.hip lengths='--hd 64 --k-lens 37,20,105,1,68 --shape 5,4,2,20,105 --paged --page-size 4'
plant 'pages: the next entry of the table' $pages 's/(key >> keys\.page_shift) \* 4/((key >> keys.page_shift) + 1) * 4/' "$lengths"
plant 'pages: those of the first sequence' $pages 's/batch \* arguments\.stride_block_table/0 * arguments.stride_block_table/' "$lengths"
plant 'pages: a slot past the length' $pages 's/last = (u32)keys\.seqlen_k - 1/last = (u32)keys.seqlen_k/' "$lengths"
plant 'pages: whatever the length' $pages 's/return key < last ? key : last;/return key;/' "$lengths"
plant 'pages: of twice the size' $pages 's/(1u << keys\.page_shift) - 1/(2u << keys.page_shift) - 1/' "$lengths"
plant "pages: V by K's pages" $pages 's/of_k ? keys\.k_page : keys\.v_page/keys.k_page/' '--hd 64 --paged'
plant "pages: V by K's rows" $pages 's/of_k ? keys\.k_stride : keys\.v_stride/keys.k_stride/' '--hd 64 --paged'
plant 'pages: in 32 bits' $pages 's/(i64)page \* page_stride/(i64)(int)(page * (u32)page_stride)/' '--hd 64 --paged'
plant 'pages: of the tile before' $pages 's/fmha_min(tile + 2, tiles - 1)/fmha_min(tile + 1, tiles - 1)/' "$lengths"
plant 'pages: rows are read before they are there' $pages '/if pages\.between then/{n;s/fmha_barrier();//}' "$lengths"
plant 'pages: rows of the next tile' $pages 's/(keys\.rows_at ^ " \.\. entries \.\. ")/keys.rows_at/' "$lengths --k-path direct"
plant 'pages: waves share a list without a barrier' $pages 's/lds \.\. " + wave \* " \.\. rows \* lists/lds/' "$lengths --k-path direct --v-path gather"
plant 'pages: infinities of V from page 0' ops/tiles.hip 's/fmha_page(keys, (u32)key), keys\.v_page/0, keys.v_page/' '--hd 64 --paged --causal'

# MLA on the scaled matrix instructions.
arch=gfx950 scaled=ops/mla_scaled.hip
native='--op mla --dtype bf16 --kv-dtype mxfp4 --kv-math native'
one="$native --inputs random --shape 1,16,1,1,100"
plant 'scaled: the scales of the neighbouring block of K' $scaled 's/k_scales\[group \* 32\]/k_scales[(group ^ 1) * 32]/' "$one"
plant 'scaled: the half step repeats its blocks' $scaled '/rows\.q\[r\]\[4\] = group < 2/d' "$one"
plant "scaled: a wave has a tile of the next one's" $scaled 's/fmha_min(tile + of_wave, split_end)/fmha_min(tile + of_wave + 1, split_end)/' "$one"
plant 'scaled: waves do not wait for m and l' $scaled 's|fmha_barrier(); /\* and nobody reads a tile .*||' "$one"
plant 'scaled: waves do not wait for what they exchange' $scaled '/\$(round_first) + t\];/{n;n;n;s/fmha_barrier();//}' "$one"
plant 'scaled: floor for three quarters' ops/q_blocks.hip 's/local carry = spec.scale_rule.*/local carry = ""/' "$one --scale-rule threequarters"
plant 'scaled: the scale of V of the neighbouring block' $scaled 's/9 + 8 \* (column % 4)/9 + 8 * (column % 4 ^ 1)/' "$one"
plant 'scaled: weights truncated' $scaled \
    's/fmha_pack_weights(\(weight[^,]*\), \(weight.*\]\))/__builtin_bit_cast(u32, \1) >> 16 | (__builtin_bit_cast(u32, \2) \& 0xffff0000)/' \
    "$native --inputs random --shape 1,64,1,2,200"
plant 'scaled: a tile is read before it is there' device/scaled_gfx950.hip '/__builtin_amdgcn_s_waitcnt/d' "$one"
plant 'scaled: rows past the last key' $scaled 's/(n < last ? n : last)/n/' "$one"
plant 'scaled: NaN that no row sees' $scaled 's/const bool large = .*/const bool large = false;/' "$native --causal"
plant 'scaled: pages of the tile before' $scaled 's/fmha_find_pages(keys, tile + 2)/fmha_find_pages(keys, tile + 1)/' "$native --paged --inputs random --shape 1,16,1,1,500"
plant 'scaled: a row of the list of another head' $scaled 's|rows\.head\[r\] = row / seqlen_q|rows.head[r] = row % arguments.heads_q|' "$native --inputs random --shape 1,8,1,2,40"

# Keys of mxfp4 that are multiplied as they are.
keys='--kv-dtype mxfp4 --kv-math native --inputs random --shape 1,2,1,33,70' k=ops/forward_scaled.hip q=ops/forward_q_fp4.hip
plant 'keys: the scale of the neighbouring block of K' $k 's/(row + \$(blocks \* 8)))\[block\]/(row + $(blocks * 8)))[block ^ 1]/' "--hd 64 $keys"
plant 'keys: the scale of the neighbouring block of K, from memory' $k 's/\*fmha_k_scale_at(keys, tile, present, block)/*fmha_k_scale_at(keys, tile, present, block ^ 1)/' \
    "--op decode --hd 128 $keys"
plant 'keys: scales of the other half of the keys' $k 's/fmha_mma_scaled(a.numbers\[1\], a.scale\[1\]/fmha_mma_scaled(a.numbers[1], a.scale[0]/' "--hd 64 $keys --matrix 16x16x32"
plant 'keys: scales of K and Q change places' $k 's/a\.numbers\[0\], a\.scale\[0\], b\.numbers, b\.scale, c)/a.numbers[0], b.scale, b.numbers, a.scale[0], c)/' "--hd 64 $keys"
plant 'keys: blocks of K from the first of a step on' $k 's/"t \* " \.\. groups \.\. " + keys/"0 * t + keys/' "--hd 128 $keys"
plant 'keys: Q without its scales' $q 's/rows\.q\[r\]\[t\]\.scale = \(fmha_quantize.*\);/\1, rows.q[r][t].scale = 127;/' "--hd 128 $keys"
plant 'keys: the scale of the neighbouring block of Q' $q 's/fmha_quantize(q + block \* 32, /fmha_quantize(q + (block ^ 1) * 32, /' "--hd 128 $keys"
plant 'keys: Q repeats its last block' $q 's/is_there ? numbers : (u32x4){0, 0, 0, 0}/numbers/' "--hd 96 $keys"
plant 'keys: the other nibble of Q first' ops/q_blocks.hip 's/fmha_elements_to_fp4(block\[i\], factor)/fmha_elements_to_fp4((block[i] >> 16 | block[i] << 16), factor)/' "--hd 64 $keys"
plant 'keys: the other byte of V first' device/scaled_gfx950.hip 's/(u32x4){pair0, pair1, pair2, pair3}/(u32x4){pair1, pair0, pair2, pair3}/' "--hd 64 $keys"
plant 'keys: scales of four waves from the first block on' $k 's|"keys\.k_first / 32 + "|"0 * keys.k_first + "|' "--op decode --hd 512 $keys"

# fp8 that is multiplied as it is: scales of Q's rows, what weights become, and bytes.
bytes='--kv-dtype fp8 --kv-math native --hd 64 --shape 1,2,1,33,70' q=ops/forward_q_fp8.hip
arch=gfx942
plant 'bytes: a row of Q without its scale' $q 's/rows\.row_scale\[r\] = \$(of_row) \* scale;/rows.row_scale[r] = $(of_row);/' "$bytes"
plant 'bytes: a scale of its own for each lane of a row' $q 's/fmha_group_max(magnitude)/magnitude/' "$bytes"
plant 'bytes: weights beyond the largest number' ops/forward.hip 's/(cache\.fnuz and 7 or 8)/8/' "$bytes"
plant 'bytes: weights change places' ops/forward_kq.hip 's/fmha_pack_four(weight\[2 \* i\]\.x, weight\[2 \* i\]\.y/fmha_pack_four(weight[2 * i].y, weight[2 * i].x/' "$bytes"
plant 'bytes: keys of V change places' ops/way_eights.hip 's/(low2, low, 0x07060302)/(low, low2, 0x07060302)/' "$bytes"
plant 'bytes: halves of a product of different keys' atoms/mfma.hip 's/piece_of("b", step)/piece_of("b", steps - 1 - step)/' "$bytes"
plant 'bytes: units of weights as of f16' ops/cache.hip 's/native and (fnuz and 6 or 7) or 14/14/' "$bytes --kv-scale token"
plant 'bytes: NaN of V that no row sees' ops/tiles.hip 's/ | other) \& 0x80808080/ | other) \& 0x00808080/' '--kv-dtype fp8 --kv-math native --hd 64 --causal'
arch=gfx1201
plant 'bytes: V of e5m2 read as e4m3' atoms/wmma_gfx12.hip 's/"bf8_fp8" or/"fp8_fp8" or/' '--kv-dtype e5m2 --kv-math native --hd 64 --shape 1,2,1,33,70'
plant 'bytes: NaN of V that some rows do not see' ops/tiles.hip 's/"0x01010101"$/"0x00000000"/' '--kv-dtype e4m3 --kv-math native --hd 64 --wave 64 --causal'

# K and V of small formats, by conversion.
arch=gfx1151
cache=ops/cache.hip some='--shape 2,4,2,20,77' fp8='--hd 64 --kv-dtype e4m3' mxfp4='--hd 64 --kv-dtype mxfp4' token='--hd 64 --kv-dtype e4m3 --kv-scale token'
plant 'small: V without its scale' ops/forward.hip 's/rows\.v_scale = \$(of_v)/rows.v_scale = 1.0f/' "$fp8 $some"
plant 'small: V by the scale of K' ops/forward.hip 's/scale_of(forward\.k), scale_of(forward\.v)/scale_of(forward.k), scale_of(forward.k)/' "$fp8 $some"
plant 'small: K without its scale beside the factor of a head' ops/forward.hip '/rows\.score\.scale\[r\] \*= k_scale/d' "$fp8 $some --head-scale"
plant 'small: scales of V by strides of K' ops/forward.hip 's/"arguments\.stride_" \.\. forward\[kind\] \.\. "_scale_"/"arguments.stride_k_scale_"/' "$mxfp4 $some"
plant 'small: the scale of the next token' $cache 's/v_scale_lds\[n\] = /v_scale_lds[n ^ 1] = /' "$token $some"
plant 'small: scales past the end' $cache 's/part \&\& n >= rows ? rows - 1 : n/n/' "$token $some"
plant 'small: O keeps the units before' ops/forward_kq.hip 's/"alpha \* shrink"/"alpha"/' "$token $some"
plant 'small: a scale that is not finite in a masked tile' ops/tiles.hip 's/broken |= !fmha_is_finite(keys\.v_scale_next\[r\])/(void)r/' "$token --causal"
plant 'small: an infinite scale' $cache 's/return fmha_is_finite(scale) ? scale : __builtin_nanf("")/return scale/' "$token"
plant 'small: one kind of fp8 for the other' $cache 's/"device\/fp8_" \.\. kind \.\./"device\/fp8_" .. (kind:gsub("fnuz", "")) ../' "--hd 64 --kv-dtype e4m3fnuz $some"
plant 'small: the other nibble first' $cache 's/return \$(load);/return ($(load) >> 4 \& 0x0f0f0f0f) | ($(load) << 4 \& 0xf0f0f0f0);/' "$mxfp4 $some"
plant 'small: the scale of the next block of K' ops/way_rows.hip 's/(keys, \$(place), column)/(keys, $(place), column ^ 1)/' "$mxfp4 $some"
plant 'small: scales of the first lane' ops/way_eights.hip 's/j \/\/ 2 \* 0x55/0/' "$mxfp4 $some"
plant 'small: lanes of a scale in two parts of a row' ops/way_eights.hip 's/, cache\.mx and 4)/)/' '--op decode --hd 32 --hd-v 352 --kv-dtype mxfp4 --waves 1 --v-waves 1 --shape 1,3,1,2,37'
plant 'small: pages of scales of V by those of K' $pages 's/of_k ? keys\.k_scale_page : keys\.v_scale_page/keys.k_scale_page/' "$mxfp4 $some --paged"

# NVIDIA's chips: rows of a lane, tiles in stages.
arch=sm_90
own=ops/forward_qk_rows.hip stages=ops/tiles_stages.hip products=atoms/wgmma.hip few='--hd 64 --shape 1,2,1,40,150'
plant 'sm: the tile is read before it has arrived' $stages 's/fmha_wait<0>();//' "$few"
plant 'sm: the next tile into the place of this one' $stages 's/(keys\.read ^ 1) \* \$(way/keys.read * $(way/' "$few"
plant 'sm: V in the order of other rows' $stages 's/keys\.v_order = (lane \/ 16 ^ lane % 8)/keys.v_order = (lane \/ 16 ^ lane % 4)/' "$few --matrix 16x16"
plant 'sm: keys of V change places' atoms/mma_sync.hip 's/"r"(b\[2 \* h\])/"r"(b[2 * h ^ 1])/; s/\&b\[2 \* h\]/\&b[2 - 2 * h]/' "$few --matrix 16x16"
plant 'sm: eights of a tile in the order of other rows' $stages 's/(eight % 8 ^ row % 8)/(eight % 8 ^ row % 4)/' "$few"
plant 'sm: products before the tile is shown' $stages '/fmha_wait<0>();/,/keys\.read/s/fmha_show_products();//' "$few"
plant 'sm: products before the tile without infinities is shown' $stages '/all\[i\] = fmha_finite/,$s/fmha_show_products();//' '--hd 64 --causal'
plant 'sm: products of a group before their registers' $own 's/fmha_products_begin();//' "$few"
plant 'sm: products are not waited for' $products 's/wgmma_wait_group(0)/wgmma_wait_group(1)/' "$few"
plant 'sm: the second 64 columns of V are the first' $products 's/DV, false, block_bytes/DV, false, 0/' '--hd 128 --shape 1,2,1,40,150'
plant 'sm: scores on top of the tile before' $own 's/, t > 0);/, true);/' "$few"
plant 'sm: rows of Q by the wave of the workgroup' $own 's/\/ 32 % 4 \* 16/\/ 32 * 16/' '--hd 128 --shape 1,2,1,140,150'
plant 'sm: rows past the end are read' $stages 's/"(int)row < rows"/"row < 64"/' "$few"
plant 'sm: O keeps the maximum before' $own 's/rows\.o\[r\]\[t\]\[e\] \*= alpha\[2 \* r + e \/ 2 % 2\]/rows.o[r][t][e] *= alpha[2 * r]/' "$few"
plant 'sm: large products in one operation' $own 's/large |= !(.*);/large = false;/' '--hd 64'
plant 'sm: weights outgrow their reference' $own 's/\$(forward\.slack)\.0f/60.0f/' '--hd 64 --scale 4'
plant 'sm: a rounded bound of what does not rescale' $own 's/maxima\[n\] - rows\.m\[n\] > \$(forward\.slack)\.0f/maxima[n] > rows.m[n] + 8.0f/' '--hd 64'
plant 'sm: the maximum of a lane alone' $own 's/fmha_row_max(maxima\[n\])/maxima[n]/' "$few"
plant 'sm: a scale below zero' $own 's/rows\.scale_log2 < 0\.0f ? 0x80008000 : 0/0/' '--hd 64'
plant 'sm: a scale of zero' $own 's/rows\.scale_log2 == 0\.0f ? 0 : 0xffffffff/0xffffffff/' '--hd 64'
plant 'sm: maximum starts at -1e30f' $own 's/-0x1\.fffffep127f/-1e30f/' '--hd 64'
plant 'sm: infinities of V leak' ops/forward.hip 's/masked \&\& fmha_v_broken(keys, tile)/false/' '--hd 64 --causal'
plant 'sm: a part of the keys by the row of the whole' $own 's/\* (\$(rows_of_split)) + lse_row/* 0 + lse_row/' '--op decode --hd 64 --shape 2,4,1,1,300'
plant 'sm: merge: lanes of a piece have all splits' $merge 's/leave = "share"/leave = "0"/' "$both"
plant 'sm: merge: the largest LSE of a lane alone' $merge 's/m = fmha_piece_max(m);//' "$both"
plant 'sm: merge: weights of a lane alone' $merge 's/l = fmha_piece_sum(l);//' "$both"
plant 'sm: merge: half of the lanes' $merge 's/apart < \$(shares)/apart < $(shares) \/ 2/' "$both"
plant 'sm: merge: rows that are not there' $merge 's/"there = false"/""/' '--op merge --varlen=packed'
exit $failed
