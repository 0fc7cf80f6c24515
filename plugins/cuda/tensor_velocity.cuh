// Velocities of the members of a unit from tensor cores (tensor_term.cuh), and the kernel.

// Of two numbers a lane keeps one, and the lane that is `apart` the other: their sums.
static __device__ __forceinline__ float exchange(unsigned lane, float one, float two, unsigned apart) {
    const bool second = lane & apart;
    return (second ? two : one) + __shfl_xor_sync(0xffffffffu, second ? one : two, apart);
}

static __device__ __forceinline__ void tensor_copy(float *to, const float *from) {
#pragma unroll
    for (int k = 0; k < 4; k++) to[k] = from[k];
}

// Sums of rows, in registers until a piece of the run ends, and of the columns of a tile. The two sums of a particle
// are those of tile_unit.cuh: of k or k^3, and of k s - k^3 c x, which is k (s - c x) for rbf; `pull` is s or s - c x.
template <int SHAPE, class Room> struct tensor_sums {
    typename Room::rows rows;
    float pull[8], push[8], row[2][8];
    unsigned there; // rows, as bits
    unsigned lane;

    __device__ __forceinline__ void begin(const Room &at, unsigned group, unsigned pair, unsigned own, unsigned n) {
        const unsigned first = TENSOR_GROUP * group + own / 4;
        lane = own;
        rows.load(at, group, pair, lane);
        there = 0;
#pragma unroll
        for (int r = 0; r < 8; r++) {
            pull[r] = at.pull[first + 8 * r];
            if (SHAPE != SVMP_SHAPE_RBF) push[r] = at.place[first + 8 * r];
            if (SHAPE != SVMP_SHAPE_RBF) there |= (unsigned)(first + 8 * r < n) << r;
            row[0][r] = row[1][r] = 0;
        }
    }

    // Numbers of a tile, which `find` finds for 16 rows at a time. COLUMNS: sums of columns, too; otherwise all pairs
    // of the tile are rows alone.
    template <bool COLUMNS, class Find>
    __device__ __forceinline__ void add(const Room &at, unsigned tile, unsigned n, float (&column)[4], Find find) {
        const unsigned m = 8 * tile + 2 * (lane % 4);
        const float2 pulls = *(const float2 *)&at.pull[m];
        float2 pushes = make_float2(0, 0);
        if (SHAPE != SVMP_SHAPE_RBF) pushes = *(const float2 *)&at.place[m];
#pragma unroll
        for (int b = 0; b < 4; b++) {
            float v[4];
            find(b, v);
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int r = 2 * b + e / 2, c = e % 2;
                if (r == 0) column[c] = column[2 + c] = 0;
                if (SHAPE == SVMP_SHAPE_RBF) {
                    const float k = quick_exp2(v[e]);
                    row[0][r] += k;
                    row[1][r] = __fmaf_rn(k, c ? pulls.y : pulls.x, row[1][r]);
                    if (COLUMNS) column[c] = r == 0 ? k : column[c] + k;
                    if (COLUMNS) column[2 + c] = __fmaf_rn(k, pull[r], column[2 + c]);
                } else {
                    const float k = rsqrtf(1.0f - v[e]);
                    const float cubed = there >> r & 1 && m + c < n ? k * k * k : 0;
                    row[0][r] += cubed;
                    row[1][r] = __fmaf_rn(k, c ? pulls.y : pulls.x, row[1][r]);
                    row[1][r] = __fmaf_rn(-cubed, c ? pushes.y : pushes.x, row[1][r]);
                    if (!COLUMNS) continue;
                    column[c] += cubed;
                    column[2 + c] = __fmaf_rn(k, pull[r], column[2 + c]);
                    column[2 + c] = __fmaf_rn(-cubed, push[r], column[2 + c]);
                }
            }
        }
    }

    // A pair of tiles, and the sums of the columns of each. FULL: both have particles.
    template <bool COLUMNS, bool FULL = true>
    __device__ __forceinline__ void add_both(const Room &at, unsigned pair, unsigned n, float (&one)[4],
                                             float (&two)[4]) {
        if constexpr (Room::WIDE) {
            float v[16], w[16];
            rows.multiply(at, pair, v, w);
            add<COLUMNS>(at, 2 * pair, n, one, [&](int b, float *to) { tensor_copy(to, &v[4 * b]); });
            add<COLUMNS>(at, 2 * pair + 1, n, two, [&](int b, float *to) { tensor_copy(to, &w[4 * b]); });
        } else {
            const uint4 columns = rows.columns_of(at, pair);
            add<COLUMNS>(at, 2 * pair, n, one, [&](int b, float *v) { rows.multiply(b, columns.x, columns.z, v); });
            if (FULL)
                add<COLUMNS>(at, 2 * pair + 1, n, two,
                             [&](int b, float *v) { rows.multiply(b, columns.y, columns.w, v); });
            else
                two[0] = two[1] = two[2] = two[3] = 0;
        }
    }

    // The rows join the sums of the warp.
    __device__ __forceinline__ void end(float2 *sums, unsigned group) {
        float sum[4];
#pragma unroll
        for (int r = 0; r < 8; r += 2) { // a lane has row r or the next, and one of its sums
            const float one = exchange(lane, row[0][r], row[0][r + 1], 1),
                        two = exchange(lane, row[1][r], row[1][r + 1], 1);
            sum[r / 2] = exchange(lane, one, two, 2);
        }
        __syncwarp();
#pragma unroll
        for (int r = 0; r < 8; r += 2)
            ((float *)&sums[TENSOR_GROUP * group + 8 * (r + (lane & 1)) + lane / 4])[lane >> 1 & 1] += sum[r / 2];
        __syncwarp();
    }
};

// Sums of all pairs; a particle is paired with itself, too.
template <int TH, int SHAPE, class Room>
static __device__ __forceinline__ void tensor_add(const tensor_shape &shape, const Room &at, unsigned n) {
    float2 *sums = at.sums + threadIdx.x / 32 * shape.places;
    const unsigned lane = kept_lane();
    tensor_walk<TH>(shape, [&](unsigned group, unsigned tile, unsigned diagonal, unsigned end) {
        tensor_sums<SHAPE, Room> sum;
        float one[4], two[4];
        sum.begin(at, group, tile, lane, n);
#pragma unroll 1
        for (; tile < diagonal; tile++) sum.template add_both<false>(at, tile, n, one, two); // rows alone
        float *to = (float *)&sums[8 * (2 * max(tile, diagonal) + lane / 16) + 2 * (lane % 4) + (lane >> 3 & 1)] +
                    (lane >> 2 & 1);
        const auto join = [&] { // columns
#pragma unroll
            for (int k = 0; k < 4; k++) one[k] = exchange(lane, one[k], two[k], 16);
            *to += exchange(lane, exchange(lane, one[0], one[1], 8), exchange(lane, one[2], one[3], 8), 4);
            to += 2 * 16;
        };
        const unsigned full = Room::WIDE ? end : min(end, shape.full);
#pragma unroll 1
        for (; tile < full; tile++) {
            sum.template add_both<true>(at, tile, n, one, two);
            join();
        }
        if (tile < end) {
            sum.template add_both<true, false>(at, tile, n, one, two);
            join();
        }
        sum.end(sums, group);
    });
}

// Velocities of member i, whose places and scores are in the room. `inverse`: 1/h.
template <int TH, int SHAPE, class Room, class Member>
static __device__ __forceinline__ void tensor_velocity(const pair_args &a, float inverse, const tensor_shape &shape,
                                                       const Room &at, size_t i, Member &to) {
    enum { RBF = SHAPE == SVMP_SHAPE_RBF };
    const unsigned n = (unsigned)a.n;
    const float ratio = (RBF ? 2 : 1) * inverse * (a.in_sd ? (float)a.inverse[i] : 1);
#pragma unroll 1
    for (unsigned m = threadIdx.x; m < shape.places; m += TH) {
        at.place[m] *= ratio;
        if (RBF) at.pull[m] -= at.place[m];
    }
#pragma unroll 1
    for (unsigned m = threadIdx.x; m < shape.places * (TH / 32); m += TH) at.sums[m] = make_float2(0, 0);
    __syncthreads();
    tensor_add<TH, SHAPE>(shape, at, n);
    typename Member::state next = {}; // what the step reads is on its way while that of the particle before is done
    if (threadIdx.x < n) next = to.ahead(a, i, threadIdx.x);
    __syncthreads();
    double *moved = (double *)at.sums; // in place of sums that only this block reads
#pragma unroll 1
    for (unsigned m = threadIdx.x; m < n; m += TH) {
        const typename Member::state now = next;
        if (m + TH < n) next = to.ahead(a, i, m + TH);
        float2 sum = make_float2(0, 0);
#pragma unroll
        for (unsigned w = 0; w < TH / 32; w++) {
            const float2 some = at.sums[w * shape.places + m];
            sum.x += some.x, sum.y += some.y;
        }
        moved[m] = to.put(a, i, m, fma((double)at.place[m], (double)sum.x, (double)sum.y), now);
    }
    to.finish(a, i, moved);
}

// ---- units ----------------------------------------------------------------------------------------------------------

// A number in global memory, which the compiler may read before it stores to shared memory.
static __device__ __forceinline__ double from_global(const double *at) {
    double value;
    asm volatile("ld.global.f64 %0, [%1];" : "=d"(value) : "l"(__cvta_generic_to_global(at)));
    return value;
}

// Scores as body_sum has them: the same numbers in the same order, of short lists all at once.
struct whole_scores {
    enum { SHORT = 8 };
    const double *row[SHORT];
    double weight[SHORT], constant;
    unsigned count;
    const sum_args *all;
    size_t i;

    __device__ __forceinline__ double at(unsigned l) const {
        double sum = constant, value[SHORT];
        if (count > SHORT) return add_list(all, i, l, constant);
#pragma unroll
        for (unsigned k = 0; k < SHORT; k++) value[k] = k < count ? from_global(row[k] + l) : 0;
#pragma unroll
        for (unsigned k = 0; k < SHORT; k++)
            if (k < count) sum = fma(weight[k], value[k], sum);
        return sum;
    }
};

// Members of whole iterations move.
struct whole_member {
    const whole_args *w;
    double largest;
    int wrong;

    typedef whole_scores scores;
    __device__ __forceinline__ scores scores_of(const pair_args &a, size_t i, unsigned first, unsigned count) const {
        const sum_args &from = w->score;
        scores s = {{a.score + i * a.n}, {1}, 0, 1, &from, i};
        if (w->scored) return s;
        s.constant = from.constant[i];
        s.count = count;
#pragma unroll
        for (unsigned k = 0; k < scores::SHORT; k++) {
            if (k >= count) continue;
            s.row[k] = from.rows + times(from.column[first + k], (unsigned)a.n);
            s.weight[k] = -from.weight[first + k];
        }
        return s;
    }
    __device__ __forceinline__ scores scores_of(const pair_args &a, size_t i) const {
        const size_t *start = w->score.start;
        return scores_of(a, i, w->scored ? 0 : (unsigned)start[i], w->scored ? 0 : (unsigned)(start[i + 1] - start[i]));
    }
    __device__ __forceinline__ scores scores_of(const pair_args &a, const unit_header &h) const {
        return scores_of(a, h.variable, h.from, h.entries);
    }
    typedef step_state state;
    __device__ __forceinline__ state ahead(const pair_args &a, size_t i, unsigned l) const {
        return state_of(&w->step, i, i * a.n + l);
    }
    __device__ __forceinline__ double put(const pair_args &a, size_t i, unsigned l, double velocity, const state &s) {
        return step_from(&w->step, i, i * a.n + l, __dmul_rn(a.share, velocity), s, &largest, &wrong);
    }
    __device__ __forceinline__ double put(const pair_args &a, size_t i, unsigned l, double velocity) {
        return step_by(&w->step, i, i * a.n + l, __dmul_rn(a.share, velocity), &largest, &wrong);
    }
    // The centred row of the next iteration; x: the particles that `put` returned, if they are kept.
    __device__ __forceinline__ void finish(const pair_args &a, size_t i, const double *x = nullptr) {
        __syncthreads();
        if (x == nullptr) x = w->step.phi + i * a.n;
        const double begin = x[0], offset = row_single(a.n, x);
#pragma unroll 1
        for (size_t l = threadIdx.x; l < a.n; l += blockDim.x) w->z[i * a.n + l] = (float)((x[l] - begin) - offset);
    }
};

// Scores and places of a member.
template <int TH, class Room, class Member>
static __device__ __forceinline__ void tensor_member(const pair_args &a, size_t i, const Room &at,
                                                     const Member &member) {
    const typename Member::scores scores = member.scores_of(a, i);
#pragma unroll 1
    for (unsigned m = threadIdx.x; m < (unsigned)a.n; m += TH) {
        at.pull[m] = (float)scores.at(m);
        at.place[m] = ((const float *)a.z)[i * a.n + m];
    }
}

// What comes of a unit: it is done, its median needs another search, or it does not suit and a ring does all of it.
enum tensor_outcome { TENSOR_DONE, TENSOR_SEARCH, TENSOR_NOT };

// Unit u. `found`: its median is known; `next`: what thread 0 says of the unit that comes next.
template <int TH, int SHAPE, class Room, class Member>
static __device__ __forceinline__ tensor_outcome tensor_do(const pair_args &a, const tensor_shape &shape, unsigned u,
                                                           bool found, unsigned next, const Room &at,
                                                           ring_room<float> &room, Member &member) {
    const unsigned n = (unsigned)a.n;
    const unit_header head = header_of(a, *member.w, u);
    const uint32_t *domain = a.domain + head.begin;
    const float *z = (const float *)a.z, *self = z + times(head.variable, n);
    const typename Member::scores scores = member.scores_of(a, head);
    const typename Room::source source(z, domain, head.rows, n);
    float largest = 0, mean = 0;
    __syncthreads();
    if (threadIdx.x == 0) room.furthest = 0;
#pragma unroll 1
    for (unsigned m = threadIdx.x; m < shape.places; m += TH) {
        const typename Room::values values = at.fetch(source, m, m < n);
        const float place = m < n ? self[m] : 0, score = m < n ? (float)scores.at(m) : 0;
        at.place[m] = place;
        at.pull[m] = score;
        const float square = at.keep(values, m);
        largest = square <= largest ? largest : square; // NaN stays
        mean += square;
    }
    const unsigned furthest_bits = warp_max(to_bits(largest)); // NaN is the largest
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) mean += __shfl_xor_sync(0xffffffffu, mean, apart);
    __syncthreads();
    if (threadIdx.x % 32 == 0) room.norm[threadIdx.x / 32] = mean, atomicMax(&room.furthest, furthest_bits);
    if (threadIdx.x == 0) room.next = next;
    __syncthreads();
    mean = 0;
#pragma unroll
    for (int w = 0; w < TH / 32; w++) mean += room.norm[w];
    const float furthest = from_bits(room.furthest);
    if (!uses_products(furthest, mean / (float)n)) return TENSOR_NOT;
    const int exponent = (ilogbf(furthest) - 4) >> 1; // the furthest |y|^2 is from 16 to 64
    const float length = scalbnf(1.0f, -exponent), scale = length * length;
    double h = a.fixed;
    if (a.rule == RULE_FIXED && !(furthest <= PRODUCT_REACH * (float)h && (float)h * scale < 1000)) return TENSOR_NOT;
    const float rounding = Room::rounding(shape) * furthest;
    bracket<float> s = {};
    if (a.rule != RULE_FIXED && !found) {
        search_begin(s, a, u, a.guess + 3 * (a.first + u), (unsigned)(a.n * (a.n - 1) / 2), tensor_width(a.n));
        tensor_widen(s, rounding);
    }
    at.template scale<TH, true>(shape, n, length, 0.5f * scale * s.second);
    if (a.rule != RULE_FIXED) {
        if (!found && !tensor_middle<TH>(a, u, s, domain, head.rows, scale, rounding, shape, at, room))
            return TENSOR_SEARCH;
        if (furthest > PRODUCT_REACH * room.found[1]) return TENSOR_NOT;
        h = room.h;
    }
    const float inverse = __frcp_rn((float)h);
    // Units in which -|y - y'|^2 / 2 is the logarithm of k, or -|x - x'|^2 / h.
    at.template scale<TH, false>(shape, n, sqrtf((SHAPE == SVMP_SHAPE_RBF ? 2 * 1.4426950408889634f : 2) * inverse / scale),
                                 0);
    for (unsigned e = 0; e < head.members; e++) {
        const size_t i = e == 0 ? head.variable : a.term_variable[a.member_start[a.first + u] + e];
        if (e > 0) tensor_member<TH>(a, i, at, member);
        tensor_velocity<TH, SHAPE>(a, inverse, shape, at, i, member);
        __syncthreads();
    }
    return TENSOR_DONE;
}

// The same two distances from a search that ends whatever the numbers are: they do not depend on how they were found.
template <int TH>
static __device__ __noinline__ void tensor_search(const pair_args &a, const ring<float, 8> &r, size_t u,
                                                  double *dynamic, ring_room<float> &room) {
    const size_t begin = a.begin[u];
    float *rows = (float *)dynamic;
    const ring_unit<float> of = {rows, nullptr, (unsigned)(a.end[u] - begin), false};
    bracket<float> s;
    __syncthreads();
    for (unsigned m = threadIdx.x; m < r.stride; m += TH)
        for (unsigned e = 0; e < of.count; e++)
            rows[e * r.stride + r.place(m)] =
                m < a.n ? ((const float *)a.z)[a.domain[begin + e] * a.n + m] : nowhere<float>(m);
    search_begin(s, a, u, a.guess + 3 * (a.first + u), (unsigned)(a.n * (a.n - 1) / 2));
    __syncthreads();
    ring_middle<float, 8, TH>(r, of, s, room);
    if (threadIdx.x == 0) tensor_note(a, u, room);
}

template <int TH, int SHAPE, class Member>
static __device__ __noinline__ void tensor_not(const pair_args &a, const ring<float, 8> &r, size_t u, double *dynamic,
                                               ring_room<float> &room, Member &member) {
    __syncthreads();
    ring_do<float, 8, TH, SHAPE>(a, r, u, dynamic, room, member);
}

// WHOLE iterations, whose last block reports the step before to the host; or terms alone. Blocks of whole iterations
// take units until none are left, one ahead: as many requests as units, after which the counter is 0 again.
template <int TH, int SHAPE, bool WHOLE, class Room>
static __global__ void __launch_bounds__(TH, 512 / TH)
    fused_tensor(const __grid_constant__ pair_args a, const __grid_constant__ whole_args w, const tensor_shape shape,
                 const __grid_constant__ ring<float, 8> r, const step_gate gate) {
    extern __shared__ double dynamic[];
    __shared__ ring_room<float> room;
    const Room at(shape, dynamic);
    const unsigned blocks = gridDim.x - (WHOLE ? 1 : 0);
    if (WHOLE) wait_for_kernels();
    if (blockIdx.x == blocks) {
        if (threadIdx.x == 0) gate.send(gate.step - 1);
        return;
    }
    if (gate.closed()) return;
    typename std::conditional<WHOLE, whole_member, term_member>::type member = {};
    member.w = &w;
    unsigned next = 0;
#pragma unroll 1
    for (unsigned u = blockIdx.x; u < a.units; u = room.next) {
        tensor_outcome came = TENSOR_DONE;
        next = u + blocks;
        if (WHOLE && threadIdx.x == 0) next = blocks + atomicInc(&gate.report->state.taken, a.units - 1);
        for (bool found = false;; found = true) {
            came = tensor_do<TH, SHAPE>(a, shape, u, found, next, at, room, member);
            if (came != TENSOR_SEARCH) break;
            tensor_search<TH>(a, r, u, dynamic, room);
        }
        if (came == TENSOR_DONE) continue;
        auto copy = member; // which may be in memory
        tensor_not<TH, SHAPE>(a, r, u, dynamic, room, copy);
        member.largest = copy.largest;
        member.wrong = copy.wrong;
    }
    if (WHOLE) gate.note(member.largest, member.wrong, blocks);
}
