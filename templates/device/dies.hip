/* Workgroups go to the dies of a chip in turns, and each die has a cache of its own: of the workgroups with one remainder, those that a die gets, `each` have
 * neighbouring work. Returns the number of the work that workgroup `place` has; what is left of the grid behind `each` of all dies keeps its place. */
FMHA_INLINE u32 fmha_work_of(u32 place, u32 each, u32 dies)
{
    return place < each * dies ? place % dies * each + place / dies : place;
}
