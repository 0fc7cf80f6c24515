// The median of the distances that a block has in its registers (wide_term.cuh): as in tile_search.cuh, with counts of all
// warps.

// Which numbers are below a value, a bit each, the first one first.
template <int COUNT> static __device__ __forceinline__ unsigned wide_below(const float (&v)[COUNT], float value) {
    unsigned word = 0;
#pragma unroll
    for (int e = 0; e < COUNT; e++) push_sign(word, v[e] - value);
    return word;
}

// The sum of a number of each thread, to all. `turn` alternates: the numbers before are still being read.
static __device__ __forceinline__ unsigned wide_count(unsigned mine, unsigned turn, wide_shared &shared) {
    mine = warp_sum(mine);
    if (threadIdx.x % 32 == 0) shared.count[turn % 2][threadIdx.x / 32] = mine;
    __syncthreads();
    return wide_total(shared.count[turn % 2]);
}

// The largest number below the pivot, and the smallest above it.
template <int COUNT>
static __device__ __forceinline__ void wide_around(const float (&v)[COUNT], unsigned valid, float pivot,
                                                   wide_shared &shared, float &lower, float &upper) {
    unsigned below = 0, above = bits_type<float>::infinity;
#pragma unroll
    for (int e = 0; e < COUNT; e++) {
        const bool counts = valid >> (COUNT - 1 - e) & 1u;
        if (counts && v[e] < pivot && v[e] > 0) below = max(below, to_bits(v[e]));
        if (counts && v[e] >= pivot) above = min(above, to_bits(v[e]));
    }
    below = warp_max(below), above = warp_min(above);
    if (threadIdx.x % 32 == 0) atomicMax(&shared.below, below), atomicMin(&shared.above, above);
    __syncthreads();
    lower = from_bits(shared.below);
    upper = from_bits(shared.above);
}

// The numbers of two ranks among those in `set`, of which there are few. shared.value is infinite, and shared.listed 0.
template <int COUNT>
static __device__ __forceinline__ void wide_rank(const float (&v)[COUNT], unsigned set, unsigned left, unsigned first,
                                                 unsigned second, wide_shared &shared, float &lower, float &upper) {
    if (set) {
        unsigned place = atomicAdd(&shared.listed, __popc(set)); // in any order: they are ranked
#pragma unroll
        for (int t = 0; t < COUNT; t += 4) {
            const unsigned four = set >> (COUNT - 4 - t) & 15u;
            if (four == 0) continue;
#pragma unroll
            for (int e = 0; e < 4; e++)
                if (four >> (3 - e) & 1u) shared.value[place++] = fmaxf(v[t + e], 0);
        }
    }
    __syncthreads();
    const float value = shared.value[threadIdx.x % 32];
    unsigned less = 0;
#pragma unroll
    for (unsigned k = 0; k < 32; k += 4) {
        if (k >= left) break;
        const float4 four = *(const float4 *)&shared.value[k];
        less += (four.x < value) + (four.y < value) + (four.z < value) + (four.w < value);
    }
    lower = tile_ranked(value, less, first);
    upper = second == first ? lower : tile_ranked(value, less, second);
}

// The squared distances of the two middle ranks. `unit`: what they are counted in.
template <int TILES>
static __device__ __forceinline__ void wide_middle(const pair_args &a, unsigned u, tile_guess &guess, float unit,
                                                   const wide_lane<TILES> &has, const float (&v)[4 * TILES],
                                                   wide_shared &shared, float &lower, float &upper) {
    enum { REACH = 6, FEW = 32 }; // distances on either side of the median; those that are ranked
    const unsigned n = (unsigned)a.n, pairs = n * (n - 1) / 2;
    const unsigned rank = (unsigned)(a.lower == SIZE_MAX ? a.upper : a.lower);
    const float expected = __fdividef(tile_expected(a, u, guess), unit);
    const float each = __fdividef(expected, guess.density * (float)pairs), reach = REACH * each;
    bracket<float> s = {0, from_bits(bits_type<float>::infinity), 0, pairs, rank, (unsigned)a.upper, pairs, 0, 0, 0};
    s.first = fmaxf(expected - reach, 0.5f * expected);
    s.second = expected + reach;
    const unsigned masks[2] = {wide_below(v, s.first) & has.valid, wide_below(v, s.second) & has.valid};
    const unsigned counts = wide_count(__popc(masks[0]) | __popc(masks[1]) << 16, 0, shared);
    const unsigned one = counts & 0xffffu, two = counts >> 16;
    unsigned at_low = 0, at_high = has.valid, turn = 1;
    bool between = false, ranked = false;
    float pivot = 0;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const float low = s.low, high = s.high;
        if (between) break;
        pivot = k == 0 ? s.first : s.second;
        between = search_take(s, pivot, k == 0 ? one : two);
        if (s.low != low) at_low = masks[k];
        if (s.high != high) at_high = masks[k];
    }
#pragma unroll 1
    for (; !between; s.passes++, turn++) {
        ranked = s.upto - s.below <= FEW && to_bits(s.high) != bits_type<float>::infinity;
        if (ranked || search_ended(s)) break;
        const float low = s.low, high = s.high;
        pivot = tile_pivot(s, each);
        const unsigned mask = wide_below(v, pivot) & has.valid;
        between = search_take(s, pivot, wide_count(__popc(mask), turn, shared));
        if (s.low != low) at_low = mask;
        if (s.high != high) at_high = mask;
    }
    const unsigned left = s.upto - s.below;
    if (between)
        wide_around(v, has.valid, pivot, shared, lower, upper);
    else if (ranked)
        wide_rank(v, at_high & ~at_low, left, s.lower - s.below, s.upper - s.below, shared, lower, upper);
    else
        lower = upper = s.low;
    lower *= unit;
    upper *= unit;
    if (left > 4 && s.high < TILE_FAR) {
        const float seen = __fdividef((float)left * upper, unit * (s.high - s.low) * (float)pairs);
        guess.density = 0.9f * guess.density + 0.1f * fminf(fmaxf(seen, 0.1f), 1.0f);
    }
    guess.moved = guess.last > 0 ? 0.8f * (upper - guess.last) : 0;
    guess.last = upper;
}
