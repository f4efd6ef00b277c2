/* NVIDIA's chips from sm_80 on, as a kernel's text reaches them: CUDA's functions, and PTX instructions under names of
 * their own, fmha_emu_…, for a host's compiler reads no PTX. */
#pragma once

#define FMHA_EMU_WARP 32
#define FMHA_EMU_ALL  0xffffffffu

#define __syncthreads() FMHA_EMU_MEET(FMHA_EMU_S_BARRIER, "__syncthreads", fmha_emu_barrier)
#define __syncwarp()    FMHA_EMU_MEET(FMHA_EMU_WAVE_BARRIER, "__syncwarp", fmha_emu_barrier)

template <class T> FMHA_EMU_INLINE T fmha_emu_shuffle(const fmha_emu_site *site, T value, unsigned select) {
    static_assert(sizeof(T) == 4, "shuffles: expected a value of 32 bits");
    return fmha_emu_bits<T>(fmha_emu_exchange_select(site, fmha_emu_bits<unsigned>(value), select));
}
#define FMHA_EMU_SHUFFLE(operation, name, mask, value, select)                                                         \
    ({                                                                                                                 \
        static_assert((mask) == FMHA_EMU_ALL, name ": the mask must be that of all lanes, 0xffffffff");                \
        FMHA_EMU_MEET(operation, name, fmha_emu_shuffle, (value), (unsigned)(select));                                 \
    })
#define __shfl_sync(mask, value, lane)     FMHA_EMU_SHUFFLE(FMHA_EMU_SHFL_IDX, "__shfl_sync", mask, value, lane)
#define __shfl_xor_sync(mask, value, bits) FMHA_EMU_SHUFFLE(FMHA_EMU_SHFL_BFLY, "__shfl_xor_sync", mask, value, bits)

/* mma.sync.aligned.m16n8k16.row.col.f32.{f16,bf16}.{f16,bf16}.f32: c += a b, of registers. */
FMHA_EMU_INLINE void fmha_emu_mma_m16n8k16(const fmha_emu_site *site, float *c, const unsigned *a, const unsigned *b) {
    fmha_emu_this lane = fmha_emu_this_lane();
    for (int i = 0; i < 8; i++) {
        lane->a[i] = (unsigned short)(a[i / 2] >> i % 2 * 16);
    }
    for (int i = 0; i < 4; i++) {
        lane->b[i] = (unsigned short)(b[i / 2] >> i % 2 * 16);
        lane->c[i] = c[i];
    }
    fmha_emu_meet(lane, site);
    for (int i = 0; i < 4; i++) {
        c[i] = lane->c[i];
    }
}
#define fmha_emu_mma_m16n8k16_f16(c, a, b)                                                                             \
    FMHA_EMU_MEET(FMHA_EMU_MMA_M16N8K16_F16, "mma.sync.m16n8k16.f16", fmha_emu_mma_m16n8k16, (c), (a), (b))
#define fmha_emu_mma_m16n8k16_bf16(c, a, b)                                                                            \
    FMHA_EMU_MEET(FMHA_EMU_MMA_M16N8K16_BF16, "mma.sync.m16n8k16.bf16", fmha_emu_mma_m16n8k16, (c), (a), (b))

/* ldmatrix.sync.aligned.m8n8.x4{,.trans}.shared.b16: the lane's row, 16 bytes, is read where the text stands, so that
 * it is checked and counted like any read of LDS. */
typedef unsigned fmha_emu_row __attribute__((ext_vector_type(4)));
FMHA_EMU_INLINE void fmha_emu_ldmatrix(const fmha_emu_site *site, fmha_emu_row row, unsigned *to) {
    fmha_emu_this lane = fmha_emu_this_lane();
    *(FMHA_EMU_OWN fmha_emu_row *)lane->a = row;
    fmha_emu_meet(lane, site);
    const fmha_emu_row all = *(FMHA_EMU_OWN fmha_emu_row *)lane->a;
    for (int i = 0; i < 4; i++) {
        to[i] = all[i];
    }
}
#define fmha_emu_ldmatrix_x4(row, to)                                                                                  \
    FMHA_EMU_MEET(FMHA_EMU_LDMATRIX, "ldmatrix.x4", fmha_emu_ldmatrix, *(const fmha_emu_row *)(row), (to))
#define fmha_emu_ldmatrix_x4_trans(row, to)                                                                            \
    FMHA_EMU_MEET(FMHA_EMU_LDMATRIX_TRANS, "ldmatrix.x4.trans", fmha_emu_ldmatrix, *(const fmha_emu_row *)(row), (to))

/* cp.async.cg.shared.global [to], [from], 16, bytes: each lane for itself. */
#if defined(FMHA_EMU_CHECKS)
#define FMHA_EMU_COPY_CHECKED 1
#else
#define FMHA_EMU_COPY_CHECKED 0
#endif
#define fmha_emu_cp_async_16(to, from, bytes)                                                                          \
    ({                                                                                                                 \
        FMHA_EMU_SITE(-1, "cp.async", FMHA_EMU_COPY_CHECKED);                                                          \
        fmha_emu_the_engine.copy_begin((fmha_emu_lane *)fmha_emu_this_lane(), &fmha_emu_site_here,                     \
                                       (unsigned long)(to), (unsigned long)(from), (unsigned)(bytes));                 \
    })
#define fmha_emu_cp_async_commit_group()   fmha_emu_the_engine.copy_commit((fmha_emu_lane *)fmha_emu_this_lane())
#define fmha_emu_cp_async_wait_group(left) fmha_emu_the_engine.copy_wait((fmha_emu_lane *)fmha_emu_this_lane(), (left))

/* wgmma.mma_async.sync.aligned.m64n`columns`k16.f32.{f16,bf16}.{f16,bf16}: c = a b, or c += a b; b stands in LDS where
 * the descriptor says, a in registers or there, too. c is where it is to be after the wait. Four waves execute it
 * together. */
#define fmha_emu_shared_address(place) fmha_emu_the_engine.shared((fmha_emu_lane *)fmha_emu_this_lane(), (place))
#define fmha_emu_fence_proxy_async()   fmha_emu_the_engine.show((fmha_emu_lane *)fmha_emu_this_lane())
FMHA_EMU_INLINE void fmha_emu_wgmma_a(fmha_emu_this lane, const unsigned *a) {
    for (int i = 0; i < 8; i++) {
        lane->a[i] = (unsigned short)(a[i / 2] >> i % 2 * 16);
    }
}
FMHA_EMU_INLINE void fmha_emu_wgmma_a(fmha_emu_this lane, unsigned long long description) {
    *(FMHA_EMU_OWN unsigned long *)lane->a = (unsigned long)description;
}
template <class A>
FMHA_EMU_INLINE void fmha_emu_wgmma(const fmha_emu_site *site, float *c, A a, unsigned long long description,
                                    bool add) {
    fmha_emu_this lane = fmha_emu_this_lane();
    fmha_emu_wgmma_a(lane, a);
    *(FMHA_EMU_OWN unsigned long *)lane->b = (unsigned long)c;
    lane->word[FMHA_EMU_SELECT_LOW] = (unsigned)description;
    lane->word[FMHA_EMU_SELECT_HIGH] = (unsigned)(description >> 32);
    lane->word[FMHA_EMU_OLD] = add;
    fmha_emu_meet(lane, site);
}
#define FMHA_EMU_WGMMA(operation, name, a_in_lds, c, a, description, columns, add, transposed)                         \
    ({                                                                                                                 \
        static_assert((columns) % 16 == 0 && (columns) > 0 && (columns) <= 256, name ": columns by sixteens, to 256"); \
        FMHA_EMU_SITE(operation, name, (columns), (transposed), FMHA_EMU_COPY_CHECKED, a_in_lds);                      \
        fmha_emu_wgmma(&fmha_emu_site_here, (c), (a), (description), (add));                                           \
    })
#define fmha_emu_wgmma_m64nNk16_f16(c, a, description, columns, add, transposed)                                       \
    FMHA_EMU_WGMMA(FMHA_EMU_WGMMA_F16, "wgmma.f16", 0, c, a, description, columns, add, transposed)
#define fmha_emu_wgmma_m64nNk16_bf16(c, a, description, columns, add, transposed)                                      \
    FMHA_EMU_WGMMA(FMHA_EMU_WGMMA_BF16, "wgmma.bf16", 0, c, a, description, columns, add, transposed)
#define fmha_emu_wgmma_m64nNk16_lds_f16(c, a_description, description, columns, add, transposed)                       \
    FMHA_EMU_WGMMA(FMHA_EMU_WGMMA_F16, "wgmma.f16", 1, c, a_description, description, columns, add, transposed)
#define fmha_emu_wgmma_m64nNk16_lds_bf16(c, a_description, description, columns, add, transposed)                      \
    FMHA_EMU_WGMMA(FMHA_EMU_WGMMA_BF16, "wgmma.bf16", 1, c, a_description, description, columns, add, transposed)
#define fmha_emu_wgmma_fence()        FMHA_EMU_MEET(FMHA_EMU_WGMMA_FENCE, "wgmma.fence", fmha_emu_barrier)
#define fmha_emu_wgmma_commit_group() FMHA_EMU_MEET(FMHA_EMU_WGMMA_COMMIT, "wgmma.commit_group", fmha_emu_barrier)
#define fmha_emu_wgmma_wait_group(left)                                                                                \
    ({                                                                                                                 \
        FMHA_EMU_SITE(FMHA_EMU_WGMMA_WAIT, "wgmma.wait_group", (left));                                                \
        fmha_emu_barrier(&fmha_emu_site_here);                                                                         \
    })
