// Units of a term, a block of threads each (wide_term.cuh): bandwidth, velocities of all members, and in whole iterations
// the step and the centred rows of the next one.

// What the scores of the members of a unit are sums of, in whole iterations: rows of the particles, by weights, and
// rows of derivatives. It stays as it is from launch to launch.
enum { WIDE_ENTRIES = 256 };

struct wide_entries {
    double weight[WIDE_ENTRIES];
    unsigned row[WIDE_ENTRIES]; // the highest bit: of derivatives
    unsigned start[TILE_MEMBERS + 1], own[TILE_MEMBERS];
    bool fit;

    // All threads of the block.
    __device__ __forceinline__ void find(const whole_args &w, const uint32_t *variable, unsigned members) {
        const unsigned t = threadIdx.x;
        if (t < members) {
            const unsigned i = variable[t];
            own[t] = (unsigned)(w.score.start[i + 1] - w.score.start[i]);
            start[t + 1] = own[t] + (w.gather.start ? (unsigned)(w.gather.start[i + 1] - w.gather.start[i]) : 0);
        }
        __syncthreads();
        if (t == 0) {
            start[0] = 0;
            for (unsigned e = 0; e < members; e++) start[e + 1] += start[e];
            fit = start[members] <= WIDE_ENTRIES;
        }
        __syncthreads();
        for (unsigned e = 0; e < members && fit; e++) {
            const unsigned i = variable[e], first = start[e], lists = own[e];
            for (unsigned k = t; k < start[e + 1] - first; k += blockDim.x) {
                const bool gathered = k >= lists;
                const size_t from = gathered ? w.gather.start[i] + k - lists : w.score.start[i] + k;
                weight[first + k] = !gathered ? -w.score.weight[from] : w.gather.weight ? w.gather.weight[from] : 1;
                row[first + k] = gathered ? w.gather.column[from] | 1u << 31 : w.score.column[from];
            }
        }
        __syncthreads();
    }

    // In the order of body_score: the same bits.
    __device__ __forceinline__ double sum(const whole_args &w, unsigned e, unsigned i, unsigned l) const {
        enum { AT_ONCE = 16, GROUP = 8 };
        const unsigned n = (unsigned)w.score.n, last = start[e + 1];
        double score = w.score.constant[i];
        if (!fit) {
            score = add_list(&w.score, i, l, score);
            return w.gather.start ? add_list(&w.gather, i, l, score) : score;
        }
#pragma unroll 1
        for (unsigned first = start[e]; first < last; first += AT_ONCE) {
            double value[AT_ONCE];
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; k++) {
                if (k % GROUP == 0 && first + k >= last) break;
                const unsigned of = first + k < last ? row[first + k] : 0;
                const double *rows = of >> 31 ? w.gather.rows : w.score.rows;
                value[k] = first + k < last ? rows[times(of & ~(1u << 31), n) + l] : 0;
            }
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; k++) {
                if (k % GROUP == 0 && first + k >= last) break;
                if (first + k < last) score = fma(weight[first + k], value[k], score);
            }
        }
        return score;
    }
};

// The members of a unit: their scores and places.
struct wide_members {
    const uint32_t *variable;
    unsigned count;

    template <bool WHOLE>
    __device__ __forceinline__ void store(const pair_args &a, const whole_args &w, const wide_entries *entries,
                                          unsigned places, float2 *drawn) const {
        const unsigned n = (unsigned)a.n;
        const unsigned lane = threadIdx.x % 32;
#pragma unroll 1
        for (unsigned k = threadIdx.x / 32; k < 2 * count; k += blockDim.x / 32) { // 32 particles of a member each
            const unsigned e = k / 2, l = k % 2 * 32 + lane;
            float2 both = make_float2(0, 0);
            if (l < n) {
                const unsigned i = variable[e];
                const size_t at = times(i, n) + l;
                both.y = ((const float *)a.z)[at];
                both.x = (float)(WHOLE && !w.scored ? entries->sum(w, e, i, l) : a.score[at]);
            }
            if (l < places) drawn[e * places + l] = both;
        }
    }
    // c of k s + c r (x - x').
    template <int SHAPE> __device__ __forceinline__ float slope(const pair_args &a, float inverse, unsigned e) const {
        const double by = a.in_sd ? a.inverse[variable[e]] : 1;
        return (float)((SHAPE == SVMP_SHAPE_RBF ? 2 : 1) * (double)inverse * by);
    }
};

// ---- velocities -----------------------------------------------------------------------------------------------------

template <int COUNT, int SHAPE>
static __device__ __forceinline__ void wide_kernel(float h, float inverse, float unit, float (&v)[COUNT]) {
    const float by = unit * (SHAPE == SVMP_SHAPE_RBF ? -1.4426950408889634f * inverse : inverse);
    if (h > 0 && h < 1e30f) {
#pragma unroll
        for (int e = 0; e < COUNT; e++) v[e] = SHAPE == SVMP_SHAPE_RBF || v[e] < TILE_FAR ? kernel_of(v[e], by, SHAPE) : 0;
    } else { // the limit, who coincides; or the particles ran away, beyond what single precision can square
#pragma unroll
        for (int e = 0; e < COUNT; e++) v[e] = h == 0 ? (v[e] == 0 ? 1.0f : 0.0f) : NAN;
    }
}

// The sums of pairs of tiles, ((0 + 1) + (2 + 3)).
template <int PAIRS> static __device__ __forceinline__ float wide_add(const float (&part)[PAIRS]) {
    if (PAIRS == 1) return part[0];
    const float low = __fadd_rn(part[0], part[PAIRS > 1 ? 1 : 0]);
    return PAIRS == 2 ? low : __fadd_rn(low, __fadd_rn(part[PAIRS > 2 ? 2 : 0], part[PAIRS > 2 ? 3 : 0]));
}

template <int SHAPE> static __device__ __forceinline__ float wide_repulsion(float k) {
    return SHAPE == SVMP_SHAPE_RBF ? k : __fmul_rn(__fmul_rn(k, k), k);
}

// The sums of a lane's rows over its columns: of the repulsion, or of a `member`.
template <int TILES, int SHAPE>
static __device__ __forceinline__ void wide_sum(const wide_lane<TILES> &has, const float (&v)[4 * TILES],
                                                const float2 *drawn, float c, bool member, float *to) {
    float sum[2][TILES / 2];
#pragma unroll
    for (int t = 0; t < TILES; t += 2) {
        sum[0][t / 2] = sum[1][t / 2] = 0;
        if (!has.has(t)) continue;
#pragma unroll
        for (int k = t; k < t + 2; k++) {
            float4 of = make_float4(0, 0, 0, 0); // score and place of two columns
            if (member) of = *(const float4 *)&drawn[has.column + 8 * k];
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const float value = v[4 * k + e], s = e % 2 ? of.z : of.x, x = e % 2 ? of.w : of.y;
                float &total = sum[e / 2][t / 2];
                if (!member)
                    total = __fadd_rn(total, wide_repulsion<SHAPE>(value));
                else if (SHAPE == SVMP_SHAPE_RBF)
                    total = __fmaf_rn(value, __fmaf_rn(-c, x, s), total);
                else
                    total = __fmaf_rn(-wide_repulsion<SHAPE>(value), __fmul_rn(c, x), __fmaf_rn(value, s, total));
            }
        }
    }
    const unsigned q = threadIdx.x % 4;
    to[4 * has.row + q] = wide_add(sum[0]);
    to[4 * (has.row + 8) + q] = wide_add(sum[1]);
}

// The sum of a particle, from those of the warps that share its row.
template <int TILES>
static __device__ __forceinline__ float wide_gather(const wide_lane<TILES> &has, const float *sums, unsigned stride,
                                                    unsigned l) {
    float4 part[8 / TILES];
#pragma unroll
    for (int s = 0; s < 8 / TILES; s++)
        part[s] = (unsigned)s < has.splits ? *(const float4 *)&sums[s * stride + 4 * l] : make_float4(0, 0, 0, 0);
    float q[4][8 / TILES];
#pragma unroll
    for (int s = 0; s < 8 / TILES; s++)
        q[0][s] = part[s].x, q[1][s] = part[s].y, q[2][s] = part[s].z, q[3][s] = part[s].w;
    return __fadd_rn(__fadd_rn(wide_add(q[0]), wide_add(q[1])), __fadd_rn(wide_add(q[2]), wide_add(q[3])));
}

// The centred row of a member that has moved: a warp. The centre is that of body_centre, which adds up neighbours
// first.
static __device__ __forceinline__ void wide_centre(unsigned n, const double *moved, float *to) {
    const unsigned lane = threadIdx.x % 32, at = 2 * lane;
    const float one = at < n ? (float)(moved[at] - moved[0]) : 0,
                two = at + 1 < n ? (float)(moved[at + 1] - moved[0]) : 0;
    const double offset = single_offset(__fadd_rn(one, two), n);
    if (lane < n) to[lane] = (float)((moved[lane] - moved[0]) - offset);
    if (lane + 32 < n) to[lane + 32] = (float)((moved[lane + 32] - moved[0]) - offset);
}

// ---- units ----------------------------------------------------------------------------------------------------------

static __device__ __forceinline__ float wide_scale(const pair_args &a, float lower, float upper) {
    if (a.rule == RULE_MEDIAN) return tile_scale(a, 0, lower, upper);
    return (float)scale_of(&a, a.lower == SIZE_MAX ? 0 : lower, upper);
}

// The distances of a unit, and its bandwidth. `peak`: the largest number of its rows, as bits.
template <int TILES>
static __device__ __forceinline__ float wide_bandwidth(const pair_args &a, unsigned u, const unit_header &head,
                                                       const wide_rows<TILES> &rows, unsigned peak,
                                                       const wide_lane<TILES> &has, const wide_room &room,
                                                       wide_shared &shared, float (&v)[4 * TILES], float &unit) {
    const uint32_t *domain = a.domain + head.begin;
    const bool ranked = a.rule != RULE_FIXED;
    const float most = from_bits(peak);
    double *kept = a.guess + 3 * (size_t)(a.first + u);
    tile_guess guess;
    guess.read(kept);
    for (bool products = head.rows >= WIDE_LEAST && most > 1e-10f && most < 1e10f;; products = false) {
        float furthest = 0, lower = 0, upper = 0;
        if (threadIdx.x < 32) shared.value[threadIdx.x] = from_bits(bits_type<float>::infinity);
        if (threadIdx.x == 0) shared.listed = shared.below = 0, shared.above = bits_type<float>::infinity;
        if (products) {
            const unsigned exponent = (peak >> 23) - WIDE_UNIT; // with the bias of 127
            rows.store(a, domain, head.rows, has.parts, has.places, from_bits((254 - exponent) << 23), room.words);
            __syncthreads();
            furthest = wide_products<TILES>(room.words, wide_room::steps(head.rows), has, shared, v);
            const float down = from_bits(exponent << 23);
            unit = 2 * down * down;
            furthest *= unit;
        } else {
            rows.store_plain(a, domain, head.rows, has.parts, has.places, (float *)room.words);
            __syncthreads();
            wide_differences<TILES>((const float *)room.words, head.rows, has, v);
            unit = 1;
        }
        if (ranked) wide_middle<TILES>(a, u, guess, unit, has, v, shared, lower, upper);
        if (products && !(furthest <= PRODUCT_REACH * (ranked ? upper : (float)a.fixed))) { // a small bandwidth
            __syncthreads();
            continue;
        }
        if (ranked && threadIdx.x == 0) guess.write(kept);
        if (!ranked) return (float)a.fixed;
        return wide_scale(a, lower, upper);
    }
}

template <int TILES, int SHAPE, bool WHOLE>
static __device__ __forceinline__ void wide_unit(const pair_args &a, const whole_args &w, unsigned u,
                                                 const unit_header &head, const wide_members &members,
                                                 const wide_entries *entries, wide_rows<TILES> &rows,
                                                 const wide_lane<TILES> &has, const wide_room &room,
                                                 wide_shared &shared, double &largest, int &wrong) {
    const unsigned n = (unsigned)a.n, lane = threadIdx.x % 32, warp = threadIdx.x / 32, places = has.places;
    rows.load(a, head.rows, has.parts);
    members.store<WHOLE>(a, w, entries, places, room.drawn);
    const unsigned peak = rows.peak(a, a.domain + head.begin, head.rows, has.parts, shared);
    float v[4 * TILES], unit;
    const float h = wide_bandwidth<TILES>(a, u, head, rows, peak, has, room, shared, v, unit),
                inverse = tile_inverse(h);
    wide_kernel<4 * TILES, SHAPE>(h, inverse, unit, v);
    const unsigned each = 4 * places, stride = (1 + members.count) * each; // of sums, and of all of a split
    float *to = room.sums + has.tile / TILES * stride;
    wide_sum<TILES, SHAPE>(has, v, nullptr, 0, false, to);
#pragma unroll 2
    for (unsigned e = 0; e < members.count; e++)
        wide_sum<TILES, SHAPE>(has, v, room.drawn + e * places, members.slope<SHAPE>(a, inverse, e), true,
                               to + (1 + e) * each);
    __syncthreads();
    double *moved = (double *)room.words; // no longer read; there is room for TILE_MEMBERS
#pragma unroll 1
    for (unsigned k = warp; k < 2 * members.count; k += blockDim.x / 32) { // 32 particles of a member each
        const unsigned e = k / 2, l = k % 2 * 32 + lane, i = members.variable[e];
        if (l >= n) continue;
        const float c = members.slope<SHAPE>(a, inverse, e);
        const double velocity =
            __fmaf_rn(__fmul_rn(c, room.drawn[e * places + l].y), wide_gather<TILES>(has, room.sums, stride, l),
                      wide_gather<TILES>(has, room.sums + (1 + e) * each, stride, l));
        const size_t at = times(i, n) + l;
        if (WHOLE)
            moved[e * places + l] = step_by(&w.step, i, at, velocity * a.share, &largest, &wrong);
        else
            put_velocity(a, at, velocity);
    }
    if (!WHOLE) return;
    __syncthreads();
#pragma unroll 1
    for (unsigned e = warp; e < members.count; e += blockDim.x / 32)
        wide_centre(n, moved + e * places, w.z + times(members.variable[e], n));
}

// Blocks of threads on a multiprocessor, by their registers.
template <int TILES> static constexpr int wide_at_once() { return TILES == 4 ? 2 : 4; }

// The last block reports the step before to the host.
template <int TILES, int SHAPE, bool WHOLE>
static __global__ void __launch_bounds__(32 * 32 / TILES, wide_at_once<TILES>())
    fused_wide(const pair_args a, const whole_args w, const step_gate gate) {
    extern __shared__ uint4 wide_memory[];
    __shared__ wide_shared shared;
    __shared__ wide_entries entries[1];
    const unsigned blocks = gridDim.x - (WHOLE ? 1 : 0), units = (unsigned)a.units;
    const wide_lane<TILES> has((unsigned)a.n);
    const wide_room room(a, has.places, wide_memory);
    wide_rows<TILES> rows(has);
    double largest = 0;
    int wrong = 0;
    bool ready = false;
    unit_header head = {};
    wide_members members = {};
    unsigned u = blockIdx.x;
    const auto find = [&] {
        head = header_of(a, w, u);
        members.variable = a.term_variable + a.member_start[a.first + u];
        members.count = head.members;
        rows.find(a.domain + head.begin, head.rows, has.parts);
        if (WHOLE && !w.scored) entries->find(w, members.variable, members.count);
    };
    if (a.header && u < blocks) find(), ready = true; // all of this stays as it is
    wait_for_kernels();
    if (WHOLE && blockIdx.x == blocks) {
        if (threadIdx.x == 0) gate.send(gate.step - 1);
        return;
    }
    const bool closed = gate.closed();
    for (; u < units && !closed; u += blocks, ready = false) {
        if (!ready) find();
        wide_unit<TILES, SHAPE, WHOLE>(a, w, u, head, members, entries, rows, has, room, shared, largest, wrong);
        __syncthreads(); // all have read the sums
    }
    if (WHOLE && !closed) gate.note(largest, wrong, blocks);
}
