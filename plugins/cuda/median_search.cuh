// The search for order statistics of distances, for kernels that hold or recompute them (fused_term.cuh). They are exact:
// counting passes narrow a bracket of values, that starts where the last iteration leads to expect them, until few are
// left, which are ranked. A distance has the same bits in every pass, since it is the same chain of operations, so that
// counts never contradict each other; and both ends of the bracket keep what they promise (at most `lower` below the
// one, more than `upper` below the other), so that the search ends whatever the numbers are.

static __device__ __forceinline__ float from_bits(unsigned bits) { return __uint_as_float(bits); }
static __device__ __forceinline__ double from_bits(unsigned long long bits) {
    return __longlong_as_double((long long)bits);
}
static __device__ __forceinline__ unsigned to_bits(float x) { return __float_as_uint(x); }
static __device__ __forceinline__ unsigned long long to_bits(double x) {
    return (unsigned long long)__double_as_longlong(x);
}
static __device__ __forceinline__ float fused_add(float apart, float sum) { return __fmaf_rn(apart, apart, sum); }
static __device__ __forceinline__ double fused_add(double apart, double sum) { return __fma_rn(apart, apart, sum); }

static __device__ __forceinline__ float fused_product(float a, float b, float sum) { return __fmaf_rn(a, b, sum); }
static __device__ __forceinline__ double fused_product(double a, double b, double sum) { return __fma_rn(a, b, sum); }

// The sign of a difference becomes the last bit of a word: below, or not.
static __device__ __forceinline__ void push_sign(unsigned &word, float difference) {
    word = __funnelshift_l(__float_as_uint(difference), word, 1);
}
static __device__ __forceinline__ void push_sign(unsigned &word, double difference) {
    word = __funnelshift_l((unsigned)__double2hiint(difference), word, 1);
}

static __device__ __forceinline__ float quick_exp2(float x) {
    float value;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
    return value;
}

static __device__ __forceinline__ float quick_root(float x) {
    float value;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
    return value;
}

static __device__ __forceinline__ float kernel_of(float distance, float by, int shape) {
    return shape == SVMP_SHAPE_RBF ? quick_exp2(by * distance) : rsqrtf(__fmaf_rn(by, distance, 1.0f));
}
static __device__ __forceinline__ double kernel_of(double distance, double by, int shape) {
    return shape == SVMP_SHAPE_RBF ? exp(by * distance) : rsqrt(fma(by, distance, 1.0));
}

// Of whole numbers, over a warp.
#if __CUDA_ARCH__ >= 800
static __device__ __forceinline__ unsigned warp_sum(unsigned x) { return __reduce_add_sync(0xffffffffu, x); }
static __device__ __forceinline__ unsigned warp_max(unsigned x) { return __reduce_max_sync(0xffffffffu, x); }
static __device__ __forceinline__ unsigned warp_min(unsigned x) { return __reduce_min_sync(0xffffffffu, x); }
#else
static __device__ __forceinline__ unsigned warp_sum(unsigned x) {
    for (int apart = 16; apart > 0; apart /= 2) x += __shfl_xor_sync(0xffffffffu, x, apart);
    return x;
}
static __device__ __forceinline__ unsigned warp_max(unsigned x) {
    for (int apart = 16; apart > 0; apart /= 2) x = max(x, __shfl_xor_sync(0xffffffffu, x, apart));
    return x;
}
static __device__ __forceinline__ unsigned warp_min(unsigned x) {
    for (int apart = 16; apart > 0; apart /= 2) x = min(x, __shfl_xor_sync(0xffffffffu, x, apart));
    return x;
}
#endif

template <class Real> struct bits_type;
template <> struct bits_type<float> {
    typedef unsigned type;
    static constexpr type infinity = 0x7f800000u;
};
template <> struct bits_type<double> {
    typedef unsigned long long type;
    static constexpr type infinity = 0x7ff0000000000000ull;
};

// Where particles stand that are not there: far from all others, and from each other.
template <class Real> static __device__ __forceinline__ Real nowhere(size_t k) {
    return (Real)(sizeof(Real) == 4 ? 1e17 : 1e150) * (Real)(k + 1);
}

// ---- the search -----------------------------------------------------------------------------------------------------

// The bracket: numbers below `low` are `below` <= lower, those below `high` are `upto` > upper. All threads that search
// together have the same.
template <class Real> struct bracket {
    Real low, high;
    unsigned below, upto, lower, upper, pairs;
    int passes;
    Real first, second; // the next pivots
};

// The mean squared distance of a domain.
static __device__ double mean_distance(const pair_args &a, size_t u) {
    double sum = 0;
    if (a.in_sd) return 2.0 * (double)(a.end[u] - a.begin[u]);
    for (size_t e = a.begin[u]; e < a.end[u]; e++) sum += a.variance[a.domain[e]];
    return 2 * sum;
}

// Where to begin: at the last value and where it was going, `times` as far to both sides as that was wrong, or at the
// mean distance.
template <class Real>
static __device__ void search_begin(bracket<Real> &s, const pair_args &a, size_t u, const double *guess, unsigned pairs,
                                    Real times = (Real)2.5) {
    const Real last = (Real)guess[0], moved = (Real)guess[1], wrong = (Real)guess[2], least = (Real)8 / (Real)pairs;
    const Real centre = last > 0 ? last + moved : (Real)(0.9 * mean_distance(a, u));
    Real reach = last > 0 ? times * wrong / last + least : (Real)0.25;
    reach = reach < (Real)0.5 ? reach : (Real)0.5;
    s.low = 0;
    s.high = from_bits(bits_type<Real>::infinity);
    s.below = 0;
    s.upto = s.pairs = pairs;
    s.lower = (unsigned)(a.lower == SIZE_MAX ? a.upper : a.lower);
    s.upper = (unsigned)a.upper;
    s.passes = 0;
    s.first = centre - centre * reach;
    s.second = centre + centre * reach;
    if (!(s.first > 0 && s.second < s.high)) s.first = s.second = (Real)1;
}

// Takes the counts below a pivot. Returns whether the pivot stands between the two ranks.
template <class Real> static __device__ __forceinline__ bool search_take(bracket<Real> &s, Real pivot, unsigned count) {
    if (count <= s.lower) {
        if (pivot > s.low) s.low = pivot, s.below = count;
        return false;
    }
    if (count > s.upper) {
        if (pivot < s.high) s.high = pivot, s.upto = count;
        return false;
    }
    return true;
}

// The next pivots: around where the rank would be if numbers were spread evenly, or the middle of the bits.
template <class Real> static __device__ void search_on(bracket<Real> &s) {
    typedef typename bits_type<Real>::type bits;
    const bits low = to_bits(s.low), high = to_bits(s.high);
    s.passes++;
    s.first = s.second = from_bits((bits)(low + (high - low) / 2));
    if (s.passes > 5 && s.passes % 2 == 0) return;
    if (high == bits_type<Real>::infinity ||
        s.below == 0) { // one end is open: about half of all lie within half the median
        const bool up = high == bits_type<Real>::infinity;
        const Real left = (Real)((up ? s.lower - s.below : s.upto - s.lower) + 8) / (Real)s.pairs, by = up ? 2 : -2;
        const Real end = up ? s.low : s.high, near = end * (1 + by * (Real)0.7 * left),
                   far = end * (1 + by * (Real)1.6 * left);
        s.first = up ? near : far;
        s.second = up ? far : near;
    } else {
        const Real each = (s.high - s.low) / (Real)(s.upto - s.below), reach = each * (Real)8;
        const Real centre = s.low + each * ((Real)(s.lower - s.below) + (Real)0.5);
        s.first = centre - reach > s.low ? centre - reach : s.low;
        s.second = centre + reach < s.high ? centre + reach : s.high;
    }
    if (!(s.first >= s.low && s.second <= s.high && s.first <= s.second))
        s.first = s.second = from_bits((bits)(low + (high - low) / 2));
}

// All numbers that are left are one number.
template <class Real> static __device__ __forceinline__ bool search_ended(const bracket<Real> &s) {
    return to_bits(s.low) + 1 >= to_bits(s.high);
}

// What the next iteration shall expect: the last value, how far it moved, and by how much that was expected wrongly.
// One thread.
static __device__ __forceinline__ void search_note(double *guess, double found) {
    const double wrong = fabs(found - (guess[0] + guess[1])), faded = 0.7 * guess[2];
    guess[2] = guess[0] > 0 ? (wrong > faded ? wrong : faded) : 0.05 * found;
    guess[1] = guess[0] > 0 ? found - guess[0] : 0;
    guess[0] = found;
}

// h of the unit from its two middle distances. One thread.
static __device__ double found_scale(const pair_args &a, size_t u, double lower, double upper) {
    a.middle[2 * u] = a.lower == SIZE_MAX ? 0 : lower;
    a.middle[2 * u + 1] = upper;
    return unit_scale(&a, u);
}

// A velocity, before it is shared out among particles.
static __device__ __forceinline__ void put_velocity(const pair_args &a, size_t at, double velocity) {
    a.phi[at] = __dadd_rn(a.adds ? a.phi[at] : 0, __dmul_rn(a.share, velocity));
}
