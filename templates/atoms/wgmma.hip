//% -- wgmma.mma_async.m64nNk16 of sm_90a: four waves, sixteen rows each, multiply what they have of A in registers with a tile in LDS that all of them
//% -- read, beside what the waves do meanwhile. What a lane has of A and D is as with mma.sync.
//% -- B stands in LDS by blocks of 64 columns, 128 bytes a row, whose eights are in an order that differs between eight neighbouring rows ("128-byte
//% -- swizzle"). Blocks begin at multiples of 1024 bytes.
//% -- Source: "Parallel Thread Execution ISA", asynchronous warpgroup level matrix instructions, matrix descriptor and strides.
//% include("atoms/quads.hip")
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
//% local function multiplies(name, columns, transposed, apart, doc)
//%     local last = columns // 2 - 1
//%     local shape = "m64n" .. columns .. "k16"
//%     local text = '"{.reg .pred p; setp.ne.b32 p, %' .. last + 6 .. ', 0; wgmma.mma_async.sync.aligned.' .. shape .. ".f32." .. type .. "." .. type .. " " ..
//%         places(0, last) .. ", " .. places(last + 1, last + 4) .. ", %" .. last + 5 .. ", p, 1, 1, " .. (transposed and 1 or 0) .. ';}"'
//%     local all, count, emulated = elements(columns), columns // 16, "fmha_emu_wgmma_m64nNk16_" .. type
//%     local bits = string.format("0x%xULL", 1 << 62 | 1024 // 16 << 32 | apart // 16 << 16)
//%     local major = transposed and 1 or 0

/* $(doc) */
FMHA_INLINE void $(name)(accumulator (&c)[$(count)], u32x4 a, fmha_place b, bool add)
{
    const u64 description = $(bits) | (u64)(fmha_shared(b) >> 4);
#ifdef FMHA_EMULATED
    $(emulated)(&c[0][0], &a[0], description, $(columns), add, $(major));
#else
    asm volatile($(text)
                 : $(all)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(description), "r"((int)add));
#endif
}
//% end
//% waits(BK)
//% waits(DV)
//% multiplies("fmha_multiply_k", BK, false, 16, "c[64 x " .. BK .. "] = a[64 x 16] b^T, with the former c where `add`: b has " .. BK .. " rows of sixteen columns. Begins it; see fmha_products_wait.")
//% multiplies("fmha_multiply_v", DV, true, block_bytes, "c[64 x " .. DV .. "] = a[64 x 16] b, with the former c where `add`: b has sixteen rows of " .. DV .. " columns. Begins it likewise.")
