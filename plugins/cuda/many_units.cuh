// A term of a kernel for up to 64 particles in single precision, whose units have many rows or several members, where
// units are many: a warp for each of them, with distances from tensor cores, all of which it keeps in registers. As in
// tensor_term.cuh a coordinate is the sum of two numbers of half precision, y = h + l, in units of a power of two, and
//
//     |y - y'|^2 / 2 = |y|^2/2 + |y'|^2/2 - (h.h' + h.l' + l.h')
//
// takes three products for 16 rows of the domain, which are read as the products want them; |y|^2 is y.y from the same
// products, so that distances of particles that coincide, and of a particle to itself, are 0. The unit is that of the
// first 16 rows: should others be thousands of times as large, or should particles be far from the mean for the
// bandwidth, distances are sums of squared differences.

// ---- velocities -----------------------------------------------------------------------------------------------------

// Squared distances in `unit` become k, or 0 where there is no pair.
template <int NT, int SHAPE>
static __device__ __forceinline__ void many_kernel(float h, float inverse, float unit, unsigned g, unsigned q,
                                                   many_pairs<NT> &d) {
    const float by = unit * (SHAPE == SVMP_SHAPE_RBF ? -1.4426950408889634f * inverse : inverse);
    if (h > 0 && h < 1e30f)
        d.each([&](int, int, int, float &v) { v = SHAPE == SVMP_SHAPE_RBF || v < TILE_FAR ? kernel_of(v, by, SHAPE) : 0; });
    else // the limit, who coincides; or the particles ran away, beyond what single precision can square
        d.each([&](int, int, int, float &v) { v = h == 0 ? (v == 0 ? 1.0f : 0.0f) : NAN; });
#pragma unroll
    for (int j = 0; j < NT; j++) {
        if (2 * q <= g) d.at(j, j, 0) = 0;
        if (2 * q + 1 <= g) d.at(j, j, 1) = 0;
    }
}

// The sums of k and of k (s - c x), or of r and of k s - r c x, over all pairs, in slots, for the FIRST member; of
// others those that are their own. pull and push are in the room.
template <int NT, int SHAPE, bool FIRST>
static __device__ __forceinline__ void many_sums(unsigned g, unsigned q, const many_pairs<NT> &d, many_room<NT> &room) {
    float row[2][NT], pull[NT], push[NT];
    __syncwarp();
#pragma unroll
    for (int r = 0; r < NT; r++) {
        row[0][r] = row[1][r] = 0;
        pull[r] = room.pull[8 * r + g];
        if (SHAPE != SVMP_SHAPE_RBF) push[r] = room.push[8 * r + g];
    }
#pragma unroll
    for (int j = 0; j < NT; j++) {
        const unsigned at = 8 * j + 2 * q;
        const float2 pulls = *(const float2 *)&room.pull[at];
        const float2 pushes = SHAPE != SVMP_SHAPE_RBF ? *(const float2 *)&room.push[at] : pulls;
        float column[2][2] = {};
#pragma unroll
        for (int r = 0; r <= j; r++)
#pragma unroll
            for (int c = 0; c < 2; c++) {
                const float k = d.at(r, j, c), repulsion = SHAPE == SVMP_SHAPE_RBF ? k : __fmul_rn(__fmul_rn(k, k), k);
                if (FIRST) row[0][r] += repulsion, column[c][0] += repulsion;
                row[1][r] = drawn<SHAPE>(k, repulsion, c ? pulls.y : pulls.x, c ? pushes.y : pushes.x, row[1][r]);
                column[c][1] = drawn<SHAPE>(k, repulsion, pull[r], push[r], column[c][1]);
            }
        if (FIRST)
            room.column[g][4 * j + q] = make_float4(column[0][0], column[0][1], column[1][0], column[1][1]);
        else
            *(float2 *)&room.column_of[g][at] = make_float2(column[0][1], column[1][1]);
    }
#pragma unroll
    for (int r = 0; r < NT; r++)
        if (FIRST)
            room.row[q][8 * r + g] = make_float2(row[0][r], row[1][r]);
        else
            room.row_of[q][8 * r + g] = row[1][r];
    __syncwarp();
}

// A member's scores and places, and what its step begins with: under way until copies_arrive().
static __device__ __noinline__ void many_scores(const whole_args &w, unsigned i, unsigned scores) {
    double *to = &numbered<double>(scores);
    for (unsigned l = threadIdx.x % 32; l < w.score.n; l += 32) to[l] = add_list(&w.score, i, l, w.score.constant[i]);
}

template <int NT, bool WHOLE>
static __device__ __forceinline__ void many_fetch(const pair_args &a, const whole_args &w,
                                                  const many_source<NT, WHOLE> &from, unsigned i, unsigned lane,
                                                  many_room<NT> &room) {
    const unsigned n = (unsigned)a.n;
    const size_t row = times(i, n);
    if (WHOLE && !w.scored) many_scores(w, i, number_of(room.score));
#pragma unroll
    for (unsigned half = 0; half < tile_room<NT>::HALVES; half++) {
        const unsigned l = lane + 32 * half;
        if (l >= n) continue;
        if (!WHOLE || w.scored) copy_8(&room.score[l], a.score + row + l);
        copy_4(&room.place[l], from.row(i, l));
        if (WHOLE) copy_8(&room.x[l], w.step.x + row + l);
        if (WHOLE && w.step.first) copy_8(&room.first[l], w.step.first + row + l);
        if (WHOLE && w.step.second) copy_8(&room.second[l], w.step.second + row + l);
    }
    if (WHOLE && lane == 0) copy_8(&room.lower, w.step.lower + i);
    if (WHOLE && lane == 1) copy_8(&room.upper, w.step.upper + i);
    copies_part();
}

// A member moves, as in tile_move.
template <int NT>
static __device__ __forceinline__ void many_move(const whole_args &w, unsigned i, unsigned n, unsigned lane,
                                                 const double (&velocity)[2], many_room<NT> &room, double &largest,
                                                 int &wrong) {
    double to[2] = {0, 0};
    const size_t row = times(i, n);
#pragma unroll
    for (unsigned half = 0; half < tile_room<NT>::HALVES; half++) {
        const unsigned l = lane + 32 * half;
        if (l >= n) continue;
        double first = room.first[l], second = room.second[l];
        to[half] = boxed(room.x[l] + moves_by(&w.step, i, &first, &second, velocity[half], &largest), room.lower,
                         room.upper, &wrong);
        w.step.phi[row + l] = to[half];
        if (w.step.first) w.step.first[row + l] = first;
        if (w.step.second) w.step.second[row + l] = second;
    }
    const double begin = __shfl_sync(0xffffffffu, to[0], 0);
    const unsigned at = 2 * lane;
    float *moved = &room.column_of[0][0];
#pragma unroll
    for (unsigned half = 0; half < tile_room<NT>::HALVES; half++) {
        to[half] = lane + 32 * half < n ? to[half] - begin : 0;
        moved[lane + 32 * half] = (float)to[half];
    }
    __syncwarp();
    const double offset = single_offset(__fadd_rn(at < n ? moved[at] : 0, at + 1 < n ? moved[at + 1] : 0), n);
    float *centred = (float *)bytes_on(w.placed_next + lane, i, 4 * quick_stride<NT>);
    if (lane < n) centred[0] = (float)(to[0] - offset);
    if (lane + 32 < n) centred[32] = (float)(to[1] - offset);
}

// The velocity of a lane's particles. `repulsion`: the sums of k, or of its third power, which the first member finds.
template <int NT, int SHAPE, bool FIRST>
static __device__ __forceinline__ void many_velocity(float c, unsigned lane, const many_pairs<NT> &d,
                                                     many_room<NT> &room, float (&repulsion)[2], float (&velocity)[2]) {
    const unsigned g = lane / 4, q = lane % 4;
    float score[2] = {0, 0}, place[2] = {0, 0};
    copies_arrive<0>();
#pragma unroll
    for (int half = 0; half < tile_room<NT>::HALVES; half++) {
        const unsigned l = lane + 32 * half;
        if (l >= 8 * NT) continue;
        score[half] = (float)room.score[l], place[half] = room.place[l];
        room.pull[l] = SHAPE == SVMP_SHAPE_RBF ? fmaf(-c, place[half], score[half]) : score[half];
        if (SHAPE != SVMP_SHAPE_RBF) room.push[l] = c * place[half];
    }
    many_sums<NT, SHAPE, FIRST>(g, q, d, room);
#pragma unroll
    for (int half = 0; half < tile_room<NT>::HALVES; half++) {
        const unsigned l = lane + 32 * half < 8 * NT ? lane + 32 * half : 0;
        float sum[2] = {0, 0};
#pragma unroll
        for (int p = 0; p < 12; p++) {
            if (FIRST) {
                const float2 both = p < 8 ? ((const float2 *)room.column[p])[l] : room.row[p - 8][l];
                sum[0] += both.x, sum[1] += both.y;
            } else {
                sum[1] += p < 8 ? room.column_of[p][l] : room.row_of[p - 8][l];
            }
        }
        if (FIRST) repulsion[half] = sum[0];
        velocity[half] = tile_end(c, score[half], place[half], repulsion[half], sum[1]);
    }
    __syncwarp(); // all have read the sums
}

// ---- units ----------------------------------------------------------------------------------------------------------

// What a unit reads first: its domain, its first member, and a row of the domain for each lane.
struct many_index {
    unsigned begin, rows, members, row;

    // `head` and where its members begin are known; these are under way until copies_arrive().
    template <int NT>
    __device__ __forceinline__ void read(const pair_args &a, const unit_header &head, size_t first, unsigned lane,
                                         many_room<NT> &room) {
        begin = head.begin, rows = head.rows, members = head.members;
        row = lane < rows ? a.domain[begin + lane] : 0;
        if (lane < members) copy_4(&room.variable[lane], a.term_variable + first + lane);
        copies_part();
    }
};

// The header of a unit, ahead of time.
template <int NT>
static __device__ __forceinline__ void many_prepare(const pair_args &a, unsigned u, unsigned lane,
                                                    many_room<NT> &room) {
    if (lane < 2) copy_16((uint4 *)&room.head + lane, (const uint4 *)(a.header + a.first + u) + lane);
    if (lane == 2) copy_8(&room.members, a.member_start + a.first + u);
}

// The distances of a unit, and its bandwidth.
template <int NT, bool PLACED>
static __device__ __forceinline__ float many_bandwidth(const pair_args &a, const many_source<NT, PLACED> &from,
                                                       unsigned u, unsigned lane, const many_index &index,
                                                       const many_mask<NT> &valid, many_room<NT> &room,
                                                       many_pairs<NT> &d, float &unit) {
    const unsigned g = lane / 4, q = lane % 4, n = (unsigned)a.n, count = index.rows;
    const uint32_t *domain = a.domain + index.begin;
    const bool ranked = a.rule != RULE_FIXED;
    const unsigned nothing = (unsigned)(a.n >> 32);
    unsigned here = index.row, exponent = 0; // of the unit, with the bias of 127
    float scale = 1;
    d.clear();
#pragma unroll 1
    for (unsigned e = 0; e < count; e += MANY_DEPTH) {
        many_rows<NT> rows;
        if (e > 0 && e % 32 == 0) here = e + lane < count ? domain[e + lane] : 0;
        rows.read(from, here, e, count, g, q);
        if (e == 0) {
            exponent = min(max(rows.peak() >> 23, 100u), 200u) - MANY_UNIT; // not that of squares that overflow
            scale = from_bits((254 - exponent) << 23);
        }
        d.multiply(rows, scale, nothing);
    }
    const float down = from_bits(exponent << 23), large = d.finish(g, q, n, room), furthest = 2 * down * down * large;
    tile_guess guess;
    copies_arrive<0>();
    guess.read(room.guess);
    unit = 2 * down * down;
    for (bool products = large > 4 && tries_products(furthest);; products = false) {
        float lower = 0, upper = 0;
        if (!products) d.subtract(from, domain, count, g, q), unit = 1;
        if (ranked) many_middle<NT>(a, u, guess, unit, d, valid, room, lower, upper);
        if (products && !(furthest <= PRODUCT_REACH * (ranked ? upper : (float)a.fixed))) continue; // a small bandwidth
        if (ranked && lane == 0) guess.write(a.guess + 3 * (size_t)(a.first + u));
        if (!ranked) return (float)a.fixed;
        return a.rule == RULE_MEDIAN ? tile_scale(a, u, lower, upper) : quick_scale(a, u, lower, upper);
    }
}

// All of one unit, by one warp. `index` becomes that of the next one.
template <int NT, int SHAPE, bool WHOLE>
static __device__ __forceinline__ void many_unit(const pair_args &a, const whole_args &w, unsigned u, unsigned next,
                                                 unsigned lane, const many_mask<NT> &valid, many_index &index,
                                                 many_room<NT> &room, double &largest, int &wrong) {
    const many_source<NT, WHOLE> from(a, w);
    const unsigned n = (unsigned)a.n, members = index.members;
    many_pairs<NT> d;
    float unit, repulsion[2] = {0, 0};
    copies_arrive<0>();
    if (lane < 3) copy_8(&room.guess[lane], a.guess + 3 * (size_t)(a.first + u) + lane);
    if (next < a.units && a.header) many_prepare(a, next, lane, room);
    copies_part();
    if (members) many_fetch<NT, WHOLE>(a, w, from, room.variable[0], lane, room);
    const float h = many_bandwidth<NT>(a, from, u, lane, index, valid, room, d, unit), inverse = tile_inverse(h);
    many_kernel<NT, SHAPE>(h, inverse, unit, lane / 4, lane % 4, d);
#pragma unroll 1
    for (unsigned e = 0; e < members; e++) {
        const unsigned i = room.variable[e];
        float c = (SHAPE == SVMP_SHAPE_RBF ? 2 : 1) * inverse, drawn[2] = {0, 0};
        if (a.in_sd) c = (float)((SHAPE == SVMP_SHAPE_RBF ? 2 : 1) * (double)inverse * a.inverse[i]);
        if (e == 0)
            many_velocity<NT, SHAPE, true>(c, lane, d, room, repulsion, drawn);
        else
            many_velocity<NT, SHAPE, false>(c, lane, d, room, repulsion, drawn);
        if (WHOLE) {
            const double velocity[2] = {a.share * drawn[0], a.share * drawn[1]};
            many_move<NT>(w, i, n, lane, velocity, room, largest, wrong);
        } else {
            if (lane < n) put_velocity(a, times(i, n) + lane, drawn[0]);
            if (lane + 32 < n) put_velocity(a, times(i, n) + lane + 32, drawn[1]);
        }
        __syncwarp(); // all have read what is fetched
        if (e + 1 < members) many_fetch<NT, WHOLE>(a, w, from, room.variable[e + 1], lane, room);
    }
    if (next >= a.units) return;
    if (a.header)
        index.read(a, room.head, room.members, lane, room);
    else
        index.read(a, header_of(a, w, next), a.member_start[a.first + next], lane, room);
}

// Blocks of threads on a multiprocessor, by the registers that they need.
template <int NT, int SHAPE> static constexpr int many_blocks() {
    return NT <= 4 ? TILE_AT_ONCE + 2 : SHAPE == SVMP_SHAPE_RBF && NT < 8 ? TILE_AT_ONCE : TILE_AT_ONCE - 1;
}

// The last block reports the step before to the host.
template <int NT, int SHAPE, bool WHOLE>
static __global__ void __launch_bounds__(32 * TILE_WARPS, many_blocks<NT, SHAPE>())
    fused_many(const __grid_constant__ pair_args a, const __grid_constant__ whole_args w, const step_gate gate) {
    __shared__ many_room<NT> rooms[TILE_WARPS];
    const unsigned warps = blockDim.x / 32, blocks = gridDim.x - (WHOLE ? 1 : 0), units = (unsigned)a.units;
    const unsigned stride = blocks * warps, first = blockIdx.x * warps + threadIdx.x / 32, lane = lane_number();
    many_room<NT> &room = rooms[threadIdx.x / 32];
    many_index index;
    many_mask<NT> valid;
    double largest = 0;
    int wrong = 0;
    valid.pairs(lane / 4, lane % 4, (unsigned)a.n);
    for (unsigned l = lane; l < 8 * NT; l += 32) // of those that are not there, and of steps without a state
        room.score[l] = room.place[l] = room.first[l] = room.second[l] = 0;
    __syncwarp();
    const auto find = [&] { index.read(a, header_of(a, w, first), a.member_start[a.first + first], lane, room); };
    if (first < units && a.header) find();
    wait_for_kernels();
    if (blockIdx.x == blocks) {
        if (threadIdx.x == 0) gate.send(gate.step - 1);
        return;
    }
    if (first < units && !a.header) find();
    if (gate.closed()) return;
#pragma unroll 1
    for (unsigned u = first; u < units; u += stride)
        many_unit<NT, SHAPE, WHOLE>(a, w, u, u + stride, lane, valid, index, room, largest, wrong);
    if (WHOLE) gate.note(largest, wrong, blocks);
}
