//% -- wgmma.mma_async.m64nNk16 of sm_90a: four waves, sixteen rows each, multiply A with a tile in LDS that all of them read, beside what the waves do
//% -- meanwhile. What a lane has of A, where that is in registers, and of D is as with mma.sync.
//% -- Q stands in LDS, too: where it stayed in registers through the loop, ptxas 13.0 was seen to use them for others in between.
//% -- What stands in LDS does so by blocks of 64 columns, 128 bytes a row, whose eights are in an order that differs between eight neighbouring rows ("128-byte
//% -- swizzle"). Blocks begin at multiples of 1024 bytes.
//% -- Source: "Parallel Thread Execution ISA", asynchronous warpgroup level matrix instructions, matrix descriptor and strides.
//% include("atoms/quads.hip")
//% if spec.q_path ~= "lds" then fail("--q-path " .. spec.q_path .. " with --matrix 64x16: four waves read Q from LDS: use --q-path lds") end
//% if spec.waves % 4 ~= 0 then fail("--waves " .. spec.waves .. " with --matrix 64x16: expected waves by fours, which multiply together: use --block-m 64 and --waves 4, or --matrix 16x16") end
//% atom.together = 4 -- waves that multiply together
//% atom.instructions = 1
//% local type, BK, D, DV = spec.dtype, spec.block_k, spec.head_dim, (forward.v_columns + 15) // 16 * 16
//% local block_bytes = BK * 128 -- of LDS, 64 columns of a tile
//% -- Operands of an inline instruction: every element of `columns` columns of c.
//% local function elements(columns)
//%     local list = {}
//%     for i = 0, columns // 2 - 1 do list[#list + 1] = '"+f"(c[' .. i // 8 .. "][" .. i % 8 .. "])" end
//%     return table.concat(list, ", ")
//% end
//% local function places(first, last)
//%     local list = {}
//%     for i = first, last do list[#list + 1] = "%" .. i end
//%     return "{" .. table.concat(list, ", ") .. "}"
//% end
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error "this kernel uses instructions that sm_90 alone has: compile it for the target sm_90a"
#endif

/* Before products: what other instructions wrote to the registers that they use is there. */
FMHA_INLINE void fmha_products_begin(void)
{
#ifdef FMHA_EMULATED
    fmha_emu_wgmma_fence();
#else
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

/* The products issued since the last time are a group. */
FMHA_INLINE void fmha_products_commit(void)
{
#ifdef FMHA_EMULATED
    fmha_emu_wgmma_commit_group();
#else
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

/* What this thread wrote to LDS is seen by products that begin behind the next barrier. */
FMHA_INLINE void fmha_show_products(void)
{
#ifdef FMHA_EMULATED
    fmha_emu_fence_proxy_async();
#else
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
//% local done = {}
//% local function waits(columns)
//%     if done[columns] then return end
//%     done[columns] = true
//%     local all, count = elements(columns), columns // 16

/* Waits until all products are done, whose sums in c may be read then. */
FMHA_INLINE void fmha_products_wait(accumulator (&c)[$(count)])
{
#ifdef FMHA_EMULATED
    fmha_emu_wgmma_wait_group(0);
    (void)c;
#else
    asm volatile("wgmma.wait_group.sync.aligned 0;" : $(all)::"memory");
#endif
}
//% end

//% -- What a descriptor has beside the address: the order of 128 bytes, and units of 16 bytes from eight rows to the next and from a block to the next.
//% local function description(apart) return string.format("0x%xULL", 1 << 62 | 1024 // 16 << 32 | apart // 16 << 16) end
/* Where a tile in LDS begins, as a product takes it: the distance of its blocks is `bits`' to say. */
FMHA_INLINE u64 fmha_description(u64 bits, fmha_place tile)
{
    return bits | (u64)(fmha_shared(tile) >> 4);
}
//% local function multiplies(name, columns, a_in_lds, apart, doc)
//%     local last = columns // 2 - 1
//%     local a, adds = a_in_lds and 1 or 4, '.reg .pred p; setp.ne.b32 p, %'
//%     local list = a_in_lds and "%" .. last + 1 or places(last + 1, last + 4)
//%     local text = '"{' .. adds .. last + a + 2 .. ", 0; wgmma.mma_async.sync.aligned.m64n" .. columns .. "k16.f32." .. type .. "." .. type .. " " ..
//%         places(0, last) .. ", " .. list .. ", %" .. last + a + 1 .. ", p, 1, 1, " .. (a_in_lds and "0, 0" or "1") .. ';}"'
//%     local all, count = elements(columns), columns // 16
//%     local emulated = "fmha_emu_wgmma_m64nNk16_" .. (a_in_lds and "lds_" or "") .. type
//%     local rows, bits, a_bits, transposed = a_in_lds and "fmha_place a" or "u32x4 a", description(apart), description(16), a_in_lds and 0 or 1

/* $(doc) */
FMHA_INLINE void $(name)(accumulator (&c)[$(count)], $(rows), fmha_place b, bool add)
{
    const u64 b_at = fmha_description($(bits), b);
//%     if a_in_lds then
    const u64 a_at = fmha_description($(a_bits), a);
#ifdef FMHA_EMULATED
    $(emulated)(&c[0][0], a_at, b_at, $(columns), add, $(transposed));
#else
    asm volatile($(text) : $(all) : "l"(a_at), "l"(b_at), "r"((int)add));
#endif
//%     else
#ifdef FMHA_EMULATED
    $(emulated)(&c[0][0], &a[0], b_at, $(columns), add, $(transposed));
#else
    asm volatile($(text) : $(all) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b_at), "r"((int)add));
#endif
//%     end
}
//% end
//% waits(BK)
//% waits(DV)
//% multiplies("fmha_multiply_k", BK, true, 16, "c[64 x " .. BK .. "] = a[64 x 16] b^T, with the former c where `add`: a and b have rows of sixteen columns. Begins it; see fmha_products_wait.")
//% multiplies("fmha_multiply_v", DV, false, block_bytes, "c[64 x " .. DV .. "] = a[64 x 16] b, with the former c where `add`: b has sixteen rows. Begins it likewise.")
