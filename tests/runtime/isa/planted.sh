#!/bin/sh
# Faults planted in the machine code of default kernels are found when it is executed: the compiler's assembly text is
# edited at one place, assembled and verified. Nothing is wrong with the unedited text.
#   planted.sh FMHAGEN FOLDER
set -eu
fmhagen=$(realpath "$1")
mkdir -p "$2"
cd "$2"
compiler=$("$fmhagen" build --arch gfx1201 --hd 64 -o . | sed -n '1s/.*, //p') # "clang version …, /usr/bin/clang++-22"
failed=0 planted=0

assemble() { # TEXT OBJECT
    "$compiler" -x assembler -target amdgcn-amd-amdhsa -mcpu=$arch "$1" -o "$2"
}

verify() { # OBJECT; prints what verify says
    "$fmhagen" verify --device isa --arch $arch --hd 64 --causal --orientation "$orientation" --object "$1" \
        --inputs random --shape 1,2,1,70,90 --shape 1,2,1,64,192 2>&1
}

# The number of the N-th line that matches PATTERN and, if NEXT is given, stands before one that matches NEXT.
line_of() { # N PATTERN [NEXT]
    awk -v n="$1" -v pattern="$2" -v next_pattern="${3-}" '
        found && $0 ~ next_pattern && ++seen == n { print NR - 1; exit }
        { found = $0 ~ pattern }' "$orientation.s"
}

# The number of the first line that matches NEXT behind one that matches PATTERN.
line_behind() { # PATTERN NEXT
    awk -v pattern="$1" -v next_pattern="$2" 'found && $0 ~ next_pattern { print NR; exit }
        { found = $0 ~ pattern }' "$orientation.s"
}

# The number of the last line that matches PATTERN before the first that matches LATER.
line_before() { # PATTERN LATER
    awk -v pattern="$1" -v later="$2" '$0 ~ later { print line; exit } $0 ~ pattern { line = NR }' "$orientation.s"
}

# The number of the N-th line that selects between minus infinity, written out or in a register that holds it, and another
# register.
mask_line() { # N
    awk -v n="$1" '
        { gsub(",", "") }
        $1 == "v_cndmask_b32_e32" && ($3 == "0xff800000" || infinite[$3]) && ++seen == n { print NR; exit }
        { infinite[$2] = $1 == "v_mov_b32_e32" && $3 == "0xff800000" }' "$orientation.s"
}

# Edits the line by a script of sed and wants a finding that matches KIND.
plant() { # NAME KIND LINE SCRIPT
    planted=$((planted + 1))
    if [ -z "$3" ]; then
        echo "$arch, $orientation, $1: no such place in the text" >&2
        failed=$((failed + 1))
        return
    fi
    sed -E "$3{$4}" "$orientation.s" >planted.s
    if cmp -s planted.s "$orientation.s"; then
        echo "$arch, $orientation, $1: nothing was changed at line $3" >&2
        failed=$((failed + 1))
        return
    fi
    assemble planted.s planted.hsaco
    status=0
    verify planted.hsaco >found || status=$?
    if [ $status -ne 1 ] || ! grep -Eq "$2" found; then
        echo "$arch, $orientation, $1 (line $3): expected exit status 1 and a finding '$2', got status $status and:" >&2
        cat found >&2
        failed=$((failed + 1))
    fi
}

wrong='over its bound|expected .* got|NAN|nan' # an element, found by comparison

for kernel in gfx1151,kq gfx1151,qk gfx1201,kq gfx1201,qk gfx942,kq gfx942,qk gfx950,kq gfx908,qk gfx1030,kq; do
    arch=${kernel%,*}
    orientation=${kernel#*,}
    matrix=v_wmma read='ds_load_b128.* offset:' write=ds_store_b128 load=global_load_b128 store=global_store_b
    lanes=v_cmpx_ left_on='s/v_cmpx_.*/s_nop 0/' exec_back='s_or_b32 exec_lo, exec_lo' last=global_store
    far=2048 arrives=s_barrier of_stores=1 # which of the waits before a barrier has stores to wait for
    product= # what begins the first product, if not the matrix instruction
    swap='s/([av]\[[0-9:]+\]), (v\[[0-9:]+\]), (v\[[0-9:]+\]), /\1, \3, \2, /'
    turn='s/^(.*v_(wmma|mfma)[^,]*, v\[)([0-9]+)(:.*)$/v_mov_b32_dpp v\3, v\3 row_ror:1 row_mask:0xf bank_mask:0xf\n&/'
    drop='s/, v\[[0-9:]+\]$/, 0/'
    case $arch in
    gfx10*) # dot products, each in a text of its own, whose lanes share a row by DPP
        argument_wait='s_waitcnt lgkmcnt\(0\)' lds_wait='s_waitcnt lgkmcnt' load_wait='s_waitcnt vmcnt'
        weaker='s/lgkmcnt\(([0-9]+)\)/lgkmcnt(63)/'
        matrix=v_dot2c product=ASMSTART swap='s/(v[0-9]+), (v[0-9]+) row_share/\2, \1 row_share/'
        turn='s/row_share:[0-9]+/row_share:9/' drop=d far=2032
        read='ds_read_b128.* offset:' write=ds_write_b128 load=global_load_dwordx4 store='global_store_(dword|short)' ;;
    gfx12*) # a counter for each kind of access; the barrier in two steps
        argument_wait='s_wait_kmcnt 0x0' lds_wait=s_wait_dscnt load_wait=s_wait_loadcnt arrives=s_barrier_signal of_stores=2
        weaker='s/0x[0-9a-f]+/0x3f/' ;;
    gfx9*) # other names, and lanes by way of scalars
        argument_wait='s_waitcnt lgkmcnt\(0\)' lds_wait='s_waitcnt lgkmcnt' load_wait='s_waitcnt vmcnt'
        weaker='s/lgkmcnt\(([0-9]+)\)/lgkmcnt(15)/'
        matrix=v_mfma read='ds_read(2_b64|_b64|_b128).* offset1?:' write=ds_write_b128 load=global_load_dwordx4 store='global_store_(dwordx4|short)'
        [ $orientation = qk ] || last=v_log_f32 # rows outside are left out before their sums
        lanes='s_and_saveexec_b64 .*vcc' left_on='s/s_and_saveexec_b64 (s\[[0-9:]+\]), .*/s_mov_b64 \1, exec/'
        exec_back='s_or_b64 exec, exec' ;;
    *)
        argument_wait='s_waitcnt lgkmcnt\(0\)' lds_wait='s_waitcnt lgkmcnt' load_wait='s_waitcnt vmcnt'
        weaker='s/lgkmcnt\(([0-9]+)\)/lgkmcnt(63)/' ;;
    esac
    "$fmhagen" --arch $arch --hd 64 --causal --orientation $orientation -o $orientation.hip
    "$compiler" -x hip --offload-arch=$arch --offload-device-only -nogpuinc -nogpulib -O3 -S $orientation.hip \
        -o $orientation.s
    assemble $orientation.s $orientation.hsaco
    verify $orientation.hsaco >found || {
        echo "$orientation: expected the unedited kernel to pass, got:" >&2
        cat found >&2
        exit 1
    }
    plant 'wait of an argument deleted' missing-wait "$(line_of 1 "$argument_wait")" d
    plant 'wait before a matrix instruction deleted' missing-wait "$(line_of 1 "$lds_wait" ${product:-$matrix})" d
    plant 'wait before a matrix instruction weakened' missing-wait "$(line_of 1 "$lds_wait" ${product:-$matrix})" \
        "$weaker"
    plant 'wait for stores to LDS before the barrier deleted' lds-race "$(line_of $of_stores "$lds_wait" "$arrives")" d
    plant 'wait of a global load deleted' missing-wait "$(line_of 1 "$load_wait")" d
    case $arch in
    gfx12*)
        plant 'barrier deleted' 'lds-race|lds-unwritten' \
            "$(line_of 1 s_barrier_signal),$(line_of 1 s_barrier_wait)" '/s_barrier/d'
        plant 'second barrier deleted' 'lds-race|lds-unwritten' \
            "$(line_of 2 s_barrier_signal),$(line_of 2 s_barrier_wait)" '/s_barrier/d'
        plant 'wait for the barrier deleted' 'before it has waited for it' "$(line_of 1 s_barrier_wait)" d
        plant 'signal to the barrier deleted' 'without having signaled it' "$(line_of 1 s_barrier_signal)" d ;;
    *)
        plant 'barrier deleted' 'lds-race|lds-unwritten' "$(line_of 1 s_barrier)" d
        plant 'second barrier deleted' 'lds-race|lds-unwritten' "$(line_of 2 s_barrier)" d ;;
    esac
    plant 'operands of a matrix instruction swapped' "$wrong" "$(line_of 1 $matrix)" "$swap"
    plant 'lanes of a matrix instruction turned' "$wrong|matrix-not-replicated" "$(line_of 1 $matrix)" "$turn"
    case $arch in
    gfx908) plant 'matrix instruction dropped' "$wrong" "$(line_of 4 $matrix)" d ;; # it adds to no constant
    *) plant 'sum of a matrix instruction dropped' "$wrong" "$(line_of 4 $matrix)" "$drop" ;;
    esac
    plant 'register of an exponential swapped' "$wrong" "$(line_of 5 v_exp_f32_e32)" 's/(v[0-9]+), v[0-9]+/\1, v1/'
    plant 'exponential dropped' "$wrong" "$(line_of 1 v_exp_f32_e32)" 's/v_exp_f32_e32/v_mov_b32_e32/'
    plant 'select of a mask dropped' "$wrong" "$(mask_line 3)" \
        's/v_cndmask_b32_e32 (v[0-9]+), [^,]+, (v[0-9]+), .*/v_mov_b32_e32 \1, \2/'
    plant 'offset of a read from LDS wrong' "$wrong|lds-unwritten" "$(line_of 1 "$read")" \
        's/(offset1?):[0-9]+/\1:48/'
    case $arch in
    gfx9*) ;; # two offsets of 8 bits do not reach outside
    *) plant 'read from LDS outside' lds-out-of-bounds "$(line_of 1 "$read")" 's/offset:[0-9]+/offset:65520/' ;;
    esac
    plant 'write to LDS dropped' 'lds-unwritten|lds-race' "$(line_of 1 $write)" d
    plant 'offset of a global load wrong' "out-of-bounds|outside-tensor|$wrong" "$(line_of 1 $load)" \
        "s/( offset:[0-9]+)?$/ offset:$far/"
    plant 'offset of a store wrong' 'outside-tensor|out-of-bounds|output-unwritten' "$(line_of 1 "$store")" \
        's/( offset:-?[0-9]+)?$/ offset:-4/'
    plant 'lanes left on' 'outside-tensor|out-of-bounds|output-race' \
        "$(line_before "$lanes" $last)" "$left_on"
    plant 'lanes left off' 'output-unwritten|lanes|lds-unwritten' "$(line_of 1 "$exec_back")" d
    case $arch in
    gfx908) ;; # whose are not checked
    gfx9*) # in kq enough stands between
        [ $orientation = kq ] || plant 'wait states of a matrix instruction deleted' missing-nop "$(line_behind v_mfma s_nop)" d ;;
    esac
    case $arch in
    gfx950)
        plant 'exchange of halves of rows instead' "$wrong" "$(line_of 1 v_permlane32_swap)" 's/permlane32/permlane16/'
        plant 'exchange of halves dropped' "$wrong" "$(line_of 1 v_permlane32_swap)" d ;;
    esac
done
# Numbers with scales of blocks: MLA on gfx950.
arch=gfx950 orientation=scaled
scaled='--op mla --dtype bf16 --kv-dtype mxfp4 --kv-math native'
verify() {
    # shellcheck disable=SC2086 # options are words
    "$fmhagen" verify --device isa --arch $arch $scaled --object "$1" --inputs random --shape 1,16,1,2,200 2>&1
}
# shellcheck disable=SC2086
"$fmhagen" --arch $arch $scaled -o scaled.hip
"$compiler" -x hip --offload-arch=$arch --offload-device-only -nogpuinc -nogpulib -O3 -S scaled.hip -o scaled.s
assemble scaled.s scaled.hsaco
verify scaled.hsaco >found || {
    echo "scaled: expected the unedited kernel to pass, got:" >&2
    cat found >&2
    exit 1
}
plant 'byte of the scales wrong' "$wrong" "$(line_of 2 v_mfma_scale)" 's/op_sel_hi:.0,0,0./op_sel_hi:[1,1,0]/'
plant 'scales of A and B swapped' "$wrong" "$(line_of 1 v_mfma_scale)" 's/(v[0-9]+), (v[0-9]+) op_sel/\2, \1 op_sel/'
plant 'scales left out' "$wrong" "$(line_of 1 v_mfma_scale)" 's/_scale//;s/, v[0-9]+, v[0-9]+ op_sel_hi:[^ ]*//;s/ op_sel:[^ ]*//'
plant 'byte of fp4 wrong' "$wrong" "$(line_of 1 v_cvt_scalef32_pk_bf16_fp4)" 's/( op_sel:.*)?$/ op_sel:[1,1,0]/'
plant 'scale of another key' "$wrong" "$(line_of 1 v_cvt_scalef32_pk_bf16_fp4)" 's/(v[0-9]+, v[0-9]+), v[0-9]+/\1, v1/'
plant 'byte of fp4 quantized twice' "$wrong" "$(line_of 2 v_cvt_scalef32_pk_fp4)" 's/ op_sel:[^ ]*//'
plant 'wait for what lands in LDS deleted' missing-wait "$(line_before 's_waitcnt vmcnt\(0\)' v_mfma_scale)" d
plant 'lands elsewhere in LDS' "lds-unwritten|$wrong" "$(line_of 3 global_load_lds_dwordx4)" 's/offset:([0-9]+)/offset:16/'
plant 'barrier of the merge deleted' 'lds-race|lds-unwritten' "$(line_of 1 s_barrier)" d
plant 'wait states of a scaled matrix instruction deleted' missing-nop "$(line_behind v_mfma_scale s_nop)" d
# fp8 that is multiplied as it is.
orientation=bytes
verify() {
    "$fmhagen" verify --device isa --arch $arch --hd 64 --kv-dtype fp8 --kv-math native --object "$1" --inputs random \
        --shape 1,2,1,70,90 2>&1
}
for arch in gfx942 gfx1201; do
    matrix=v_mfma
    [ $arch = gfx942 ] || matrix=v_wmma
    "$fmhagen" --arch $arch --hd 64 --kv-dtype fp8 --kv-math native -o bytes.hip
    "$compiler" -x hip --offload-arch=$arch --offload-device-only -nogpuinc -nogpulib -O3 -S bytes.hip -o bytes.s
    assemble bytes.s bytes.hsaco
    verify bytes.hsaco >found || {
        echo "$arch, bytes: expected the unedited kernel to pass, got:" >&2
        cat found >&2
        exit 1
    }
    plant 'matrix instruction of other numbers' "$wrong" "$(line_of 1 $matrix)" 's/fp8_fp8/bf8_fp8/'
    plant 'numbers of another format' "$wrong" "$(line_of 1 v_cvt_pk_fp8_f32)" 's/fp8_f32/bf8_f32/'
    plant 'weights of another format' "$wrong" "$(line_of 18 v_cvt_pk_fp8_f32)" 's/fp8_f32/bf8_f32/'
    plant 'half of a register written twice' "$wrong" "$(line_of 9 'v_cvt_pk_fp8_f32.*op_sel')" 's/ op_sel:.*//'
    plant 'two weights change places' "$wrong" "$(line_of 18 v_cvt_pk_fp8_f32)" 's/(v[0-9]+), (v[0-9]+), (v[0-9]+)/\1, \3, \2/'
    [ $arch != gfx942 ] || plant 'wait states of a matrix instruction deleted' missing-nop "$(line_behind v_mfma s_nop)" d
done
[ $failed -eq 0 ] || { echo "$failed of $planted faults were not found" >&2; exit 1; }
echo "$planted faults, all found"
