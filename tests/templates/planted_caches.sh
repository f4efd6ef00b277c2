#!/bin/sh
# Faults planted in what appends to caches and quantizes, as planted.sh plants others.
#   planted_caches.sh FMHAGEN SOURCE_ROOT [NAME]
. "$2/tests/templates/planting.sh"

append=ops/append.hip both='--op append --hd 40 --hd-v 24 --align 16,2 --varlen=none,packed --paged=off,on'
for axis in batch head row; do
    case $axis in batch) place=block ;; row) place=slot ;; *) place=head ;; esac
    plant "append: V by K's $axis stride" $append "s/key\\.$place \\* \" \\.\\. stride \\.\\. \"$axis/key.$place * arguments.stride_k_$axis/" '--op append --hd 40'
    plant "append: new V by new K's $axis stride" $append "s/key\\.$axis \\* \" \\.\\. stride \\.\\. \"$axis/key.$axis * arguments.stride_k_new_$axis/" '--op append --hd 40'
    plant "append: $axis stride of the cache in 32 bits" $append "s/key\\.$place \\* \" \\.\\. stride \\.\\. \"$axis/(int)key.$place * (int)\" .. stride .. \"$axis/" "$both"
    plant "append: $axis stride of what is new in 32 bits" $append "s/key\\.$axis \\* \" \\.\\. stride \\.\\. \"$axis/(int)key.$axis * (int)\" .. stride .. \"$axis/" '--op append --hd 40'
done
plant 'append: a position too far' $append 's/seqlens_k\[batch\] + row;/seqlens_k[batch] + row + 1;/' "$both"
plant 'append: beyond what there is room for' $append 's/(u32)position >= (u32)arguments\.seqlen_k/position < 0/' "$both"
plant 'append: every page is the first' $append 's/(position >> shift)/0/' '--op append --hd 40 --paged'
plant 'append: the pages of the first sequence' $append 's/key\.batch \* arguments\.stride_block_table/0/' '--op append --hd 40 --paged'
plant 'append: the place in a page by the new row' $append 's/key\.slot = position \& /key.slot = row \& /' '--op append --hd 40 --paged'
plant 'append: a sequence without tokens is taken' $append 's/begins\[middle\] <= token/begins[middle] < token/' '--op append --hd 40 --varlen'
plant 'append: all rows of a padded batch' $append 's/row >= arguments\.seqlens_new\[batch\]/false/' '--op append --hd 40 --varlen=padded'
plant 'append: heads by batches' $append 's/group % (u32)arguments\.heads_k/group % (u32)arguments.batch/' '--op append --hd 40'
plant 'append: a piece too many' $append 's/if (at >= \$(dim\[side\]))/if (at > $(dim[side]))/' '--op append --hd 64 --hd-v 24'
for rotary in neox interleaved; do
    options="--op append --hd 64 --align 16,2 --rotary=$rotary"
    plant "append: $rotary: the other pairs" $append "s/spec\\.rotary == \"neox\"\$/spec.rotary ~= \"neox\"/" "$options"
    plant "append: $rotary: cosine for sine" $append 's/rotary\.cos = arguments\.rotary_cos/rotary.cos = arguments.rotary_sin/' "$options"
    plant "append: $rotary: by the cosines' stride" $append 's/stride_rotary_sin_row;$/stride_rotary_cos_row;/' "$options"
    plant "append: $rotary: angles of the new row" $append 's/key\.position \* arguments\.stride_rotary/key.row * arguments.stride_rotary/' "$options"
    plant "append: $rotary: turned the other way" $append 's/? -product : product/? product : -product/' "$options"
    plant "append: $rotary: from the first column on" $append 's/rotary\.first = arguments\.rotary_first/rotary.first = 0/' "$options"
    plant "append: $rotary: rounded toward zero" $append 's/= fmha_to_element(x\[j\]);/= fmha_to_element(x[j] * 0.9999f);/' "$options"
    plant "append: $rotary: V too" $append 's/if rotary and side == "k" then/if rotary then/' "$options"
done
rows=ops/small_rows.hip small='--op append --hd 40 --hd-v 24 --align 16,2'
plant 'append: small: scale of the neighbour' $append 's/scale_head"/scale_head + 1"/' "$small --kv-dtype e4m3"
plant 'append: small: V by the scale of K' $append 's/"arguments\." \.\. side \.\. "_scale + key\.batch/"arguments.k_scale + key.batch/' "$small --kv-dtype e4m3"
plant 'append: small: scales of V by strides of K' $append 's/\.\. stride \.\. "scale_row"/.. "arguments.stride_k_scale_row"/' "$small --kv-dtype mxfp4"
plant 'append: small: scale of the slot in 32 bits' $append 's/key\.slot \* " \.\. stride \.\. "scale_row/(int)key.slot * (int)" .. stride .. "scale_row/' "$small --kv-dtype e5m2 --kv-scale token"
plant 'append: small: multiplied by the inverse' $rows 's|\$(values)\[i\]\[j\] / \$(by)|$(values)[i][j] * (1.0f / $(by))|' "$small --kv-dtype e4m3"
plant 'append: small: numbers of the neighbour' $rows 's/<< 8 \* (j % 4)/<< 8 * (3 - j % 4)/; s/<< 4 \* j/<< 4 * (j ^ 1)/' "$small --kv-dtype e4m3,mxfp4"
plant 'append: small: four lanes of a token' $rows 's/fmha_largest_of_8(/fmha_largest_of_4(/' "$small --kv-dtype e4m3 --kv-scale token"
plant 'append: small: eight lanes of a block' $rows 's/fmha_largest_of_4(/fmha_largest_of_8(/' "$small --kv-dtype mxfp4"
plant 'append: small: every other scale' $rows 's/if (at % 32 == 0)/if (at % 64 == 0)/' "$small --kv-dtype mxfp4"
plant 'append: small: the scale before the rotation' $append 's/fmha_rotate(\$(new), at, \$(pieces)\[i\], rotary, \$(values)\[i\]);/for (int j = 0; j < 8; ++j) $(values)[i][j] = fmha_from_element($(pieces)[i][j]);/' "$small --kv-dtype e4m3 --kv-scale token --rotary"
for rule in floor threequarters; do
    plant "append: small: not by the rule $rule" $rows 's/spec\.scale_rule == "threequarters"/spec.scale_rule ~= "threequarters"/' "$small --kv-dtype mxfp4 --scale-rule $rule"
done
plant 'append: small: infinity has a say in the scale' device/to_fp8.hip 's/return fmha_fp8_finite(x) ? \(.*\) : 0;/return \1;/' "$small --kv-dtype e4m3 --kv-scale token"
plant 'append: small: rounded toward zero' device/to_fp8.hip 's/ + ((bits >> shift) \& 1) + (1u << (shift - 1)) - 1)/)/' "$small --kv-dtype e5m2"
plant 'append: small: ties up' device/to_fp8.hip 's/((bits >> shift) \& 1) + (1u << (shift - 1)) - 1/(1u << (shift - 1))/' "$small --kv-dtype e4m3"
plant 'append: small: fp4 rounded toward zero' device/to_fp4.hip 's/ + ((bits >> 22) \& 1) + 0x1fffff)/)/' "$small --kv-dtype mxfp4"
plant 'append: small: beyond the largest is NaN' device/to_fp8.hip 's/return code < largest ? code : largest;/return code <= largest ? code : 0x7f;/' "$small --kv-dtype e4m3"
plant 'append: small: infinity saturates' device/to_fp8.hip 's/fmha_fp8_finite(x) ? magnitude : infinity/magnitude/' "$small --kv-dtype e4m3"
plant 'append: small: negative zeros of fnuz' device/to_fp8.hip 's/magnitude == 0 ? 0 : magnitude/magnitude/' "$small --kv-dtype e4m3fnuz"

quantize=ops/quantize.hip shared='--op quantize --hd 40 --from f16 --kv-dtype e4m3 --align 16,2'
for axis in batch head row; do
    case $axis in row) place=token ;; *) place=$axis ;; esac
    swap "quantize: to by from's $axis stride" $quantize to_$axis from_$axis "$shared"
    plant "quantize: $axis stride of from in 32 bits" $quantize "s/$place \\* arguments\\.stride_from_$axis/(int)$place * (int)arguments.stride_from_$axis/" "$shared"
    plant "quantize: $axis stride of to in 32 bits" $quantize "s/$place \\* arguments\\.stride_to_$axis/(int)$place * (int)arguments.stride_to_$axis/" "$shared"
    swap "quantize: scales by the $axis stride of numbers" $quantize to_scale_$axis to_$axis "$shared --kv-scale token"
done
plant 'quantize: the first part is the scale' $quantize 's/i < arguments\.parts; i += 8/i < 1; i += 8/' "$shared"
plant 'quantize: eight parts at most' $quantize 's/i < arguments\.parts; i += 8/i < 8 \&\& i < arguments.parts; i += 8/' "$shared"
plant 'quantize: scale of the first head' $quantize 's/head \* arguments\.stride_scale_partial_head/0/' "$shared"
plant 'quantize: every head tells the scale' $quantize 's/ \&\&$/ \&\& true ||/' "$shared"
plant 'quantize: a scale that nobody wants' $quantize 's/arguments\.to_scale \&\& present/present/' "$shared"
plant 'quantize: rows by heads' $quantize 's/row % (u32)arguments\.seqlen_k, head/row % (u32)arguments.heads_k, head/' "$shared"
plant 'quantize: the last part of the rows is lost' $quantize 's/row < rows; row/row + arguments.parts * 2 < rows; row/' "$shared --pass scales"
plant 'quantize: every part is the first' $quantize 's/(u64)part \* \$(groups)/(u64)0/' "$shared --pass scales"
plant 'quantize: heads share what is not theirs' $quantize 's/(i64)(scale \* heads + line % heads)/(i64)(line % heads)/' "$shared --pass scales"
plant 'quantize: the first batch alone' $quantize 's/(u64)arguments\.batch \* heads/(u64)heads/' "$shared --pass scales"
plant 'quantize: no barrier' $quantize 's/^    fmha_barrier();//' "$shared --pass scales"
plant 'quantize: eight lanes of a workgroup' $quantize 's/i < \$(groups); i += 8/i < 8; i += 8/' "$shared --pass scales"
plant 'quantize: no least scale' device/to_fp8.hip 's/return scale > least ? scale : least/return scale/' "$shared --pass scales"
exit $failed
