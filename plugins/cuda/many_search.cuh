// The search for medians among distances in the registers of a warp (many_pairs.cuh).

// Bits of the pairs of a lane, the first one first in each word.
template <int NT> struct many_mask {
    enum { COUNT = many_pairs<NT>::COUNT, WORDS = many_pairs<NT>::WORDS };
    unsigned word[WORDS];

    // The pairs that there are: those above the diagonal, of particles that are there.
    __device__ __forceinline__ void pairs(unsigned g, unsigned q, unsigned n) {
#pragma unroll
        for (int w = 0; w < WORDS; w++) word[w] = 0;
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int r = 0; r <= j; r++)
#pragma unroll
                for (int c = 0; c < 2; c++) {
                    const bool there = 8 * j + 2 * q + c < n && (r < j || 2 * q + c > g);
                    unsigned &to = word[(j * (j + 1) + 2 * r + c) / 32];
                    to = to << 1 | (there ? 1u : 0);
                }
    }
    __device__ __forceinline__ void below(const many_pairs<NT> &d, float value, const many_mask &valid) {
#pragma unroll
        for (int w = 0; w < WORDS; w++) word[w] = 0;
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int r = 0; r <= j; r++)
#pragma unroll
                for (int c = 0; c < 2; c++) push_sign(word[(j * (j + 1) + 2 * r + c) / 32], d.at(r, j, c) - value);
#pragma unroll
        for (int w = 0; w < WORDS; w++) word[w] &= valid.word[w];
    }
    __device__ __forceinline__ unsigned count() const {
        unsigned sum = 0;
#pragma unroll
        for (int w = 0; w < WORDS; w++) sum += __popc(word[w]);
        return sum;
    }
    static __device__ __forceinline__ constexpr unsigned bit(int k) { // in word k / 32
        return 1u << ((COUNT - k / 32 * 32 < 32 ? COUNT - k / 32 * 32 : 32) - 1 - k % 32);
    }
    __device__ __forceinline__ bool has(int k) const { return word[k / 32] & bit(k); }
};

// The largest number below the pivot, and the smallest above it.
template <int NT>
static __device__ __forceinline__ void many_around(const many_pairs<NT> &d, const many_mask<NT> &valid, float pivot,
                                                   float &lower, float &upper) {
    unsigned below = 0, above = bits_type<float>::infinity;
#pragma unroll
    for (int j = 0; j < NT; j++)
#pragma unroll
        for (int r = 0; r <= j; r++)
#pragma unroll
            for (int c = 0; c < 2; c++) {
                const float v = d.at(r, j, c);
                const bool counts = valid.has(j * (j + 1) + 2 * r + c);
                if (counts && v < pivot && v > 0) below = max(below, to_bits(v));
                if (counts && v >= pivot) above = min(above, to_bits(v));
            }
    lower = from_bits(warp_max(below));
    upper = from_bits(warp_min(above));
}

// The numbers of two ranks among those in `set`, of which there are few.
template <int NT>
static __device__ __forceinline__ void many_rank(const many_pairs<NT> &d, const many_mask<NT> &set, unsigned left,
                                                 unsigned first, unsigned second, many_room<NT> &room, float &lower,
                                                 float &upper) {
    const unsigned lane = threadIdx.x % 32, all = 0xffffffffu, mine = set.count(), before = (1u << lane) - 1;
    unsigned place = 0, less = 0;
#pragma unroll
    for (int bit = 0; bit < 6; bit++) { // how many come before: their numbers, a bit at a time
        if (bit == 2 && __ballot_sync(all, mine > 3) == 0) break;
        place += __popc(__ballot_sync(all, mine >> bit & 1) & before) << bit;
    }
    room.value[lane] = from_bits(bits_type<float>::infinity);
    unsigned to = number_of(&room.value[place]);
    __syncwarp();
#pragma unroll
    for (int j = 0; j < NT; j++)
#pragma unroll
        for (int r = 0; r <= j; r++)
#pragma unroll
            for (int c = 0; c < 2; c++) {
                const int k = j * (j + 1) + 2 * r + c;
                store_if(set.word[k / 32], many_mask<NT>::bit(k), to, d.at(r, j, c));
            }
    __syncwarp();
    const float value = room.value[lane];
#pragma unroll 1
    for (unsigned k = 0; k < left; k += 4) {
        const float4 four = *(const float4 *)&room.value[k];
        less += (four.x < value) + (four.y < value) + (four.z < value) + (four.w < value);
    }
    lower = fmaxf(tile_ranked(value, less, first), 0);
    upper = second == first ? lower : fmaxf(tile_ranked(value, less, second), 0);
}

// The squared distances of the two middle ranks. `unit`: what they are counted in.
template <int NT>
static __device__ __forceinline__ void many_middle(const pair_args &a, unsigned u, tile_guess &guess, float unit,
                                                   const many_pairs<NT> &d, const many_mask<NT> &valid,
                                                   many_room<NT> &room, float &lower, float &upper) {
    enum { REACH = 6, FEW = 32 }; // distances on either side of the median; those that are ranked
    const unsigned n = (unsigned)a.n, pairs = n * (n - 1) / 2;
    const unsigned rank = (unsigned)(a.lower == SIZE_MAX ? a.upper : a.lower);
    const float expected = __fdividef(tile_expected(a, u, guess), unit);
    const float each = __fdividef(expected, guess.density * (float)pairs), reach = REACH * each;
    bracket<float> s = {0, from_bits(bits_type<float>::infinity), 0, pairs, rank, (unsigned)a.upper, pairs, 0, 0, 0};
    s.first = fmaxf(expected - reach, 0.5f * expected);
    s.second = expected + reach;
    many_mask<NT> at_low, at_high;
    at_low.below(d, s.first, valid);
    at_high.below(d, s.second, valid);
    const unsigned counts = warp_sum(at_low.count() | at_high.count() << 16), one = counts & 0xffffu,
                   two = counts >> 16;
    bool between = false, ranked = one <= s.lower && two > s.upper && two - one <= FEW;
    float pivot = 0;
    if (ranked) {
        s.low = s.first, s.below = one;
        s.high = s.second, s.upto = two;
    } else { // one pivot after the other
        const many_mask<NT> masks[2] = {at_low, at_high};
        at_low = many_mask<NT>();
        at_high = valid;
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
        for (; !between; s.passes++) {
            ranked = s.upto - s.below <= FEW && to_bits(s.high) != bits_type<float>::infinity;
            if (ranked || search_ended(s)) break;
            const float low = s.low, high = s.high;
            many_mask<NT> mask;
            pivot = tile_pivot(s, each);
            mask.below(d, pivot, valid);
            between = search_take(s, pivot, warp_sum(mask.count()));
            if (s.low != low) at_low = mask;
            if (s.high != high) at_high = mask;
        }
    }
    const unsigned left = s.upto - s.below;
    if (ranked) {
#pragma unroll
        for (int w = 0; w < many_mask<NT>::WORDS; w++) at_high.word[w] &= ~at_low.word[w];
        many_rank(d, at_high, left, s.lower - s.below, s.upper - s.below, room, lower, upper);
    } else if (between) {
        many_around(d, valid, pivot, lower, upper);
    } else {
        lower = upper = s.low;
    }
    lower *= unit;
    upper *= unit;
    if (left > 4 && s.high < TILE_FAR) {
        const float seen = __fdividef((float)left * upper, unit * (s.high - s.low) * (float)pairs);
        guess.density = 0.9f * guess.density + 0.1f * fminf(fmaxf(seen, 0.1f), 1.0f);
    }
    guess.moved = guess.last > 0 ? 0.8f * (upper - guess.last) : 0;
    guess.last = upper;
}
