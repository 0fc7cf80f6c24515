// Units of a term, a warp each (tile_term.cuh): velocities of the members; and whole iterations, from scores to the step and
// the centred rows of the next one.

// What a whole iteration has beside a term.
struct whole_args {
    sum_args score;
    step_args step;
    float *z;
    int scored;
    const unit_record *record; // quick.cuh
    int drawn;
    const float *placed;
    float *placed_next;
    sum_args gather; // of units of many rows: what comes to the score
    float each;      // 1 / n
};

// What a unit reads first: where its domain and its members are, a row of the domain and an entry of the row sum that
// is the score of its first member, one for each lane. All of this but random domains stays as it is from launch to
// launch.
struct tile_index {
    unit_header head;
    unsigned row, column;
    double weight;
};

static __device__ __forceinline__ unit_header header_of(const pair_args &a, const whole_args &w, unsigned u) {
    if (a.header) {
        const uint4 *two = (const uint4 *)(a.header + a.first + u), one = two[0], other = two[1];
        return {one.x, one.y, one.z, one.w, other.x, other.y, {0, 0}};
    }
    const size_t first = a.member_start[a.first + u], members = a.member_start[a.first + u + 1] - first;
    unit_header h = {(uint32_t)a.begin[u], (uint32_t)(a.end[u] - a.begin[u]), 0, (uint32_t)members, 0, 0, {0, 0}};
    if (members) h.variable = a.term_variable[first];
    if (members && w.score.start) {
        h.from = (uint32_t)w.score.start[h.variable];
        h.entries = (uint32_t)w.score.start[h.variable + 1] - h.from;
    }
    return h;
}

template <bool WHOLE>
static __device__ __forceinline__ void read_entries(const whole_args &w, unsigned first, tile_index &index) {
    const unsigned e = first + threadIdx.x % 32;
    index.column = 0;
    index.weight = 0;
    if (!WHOLE || w.scored || e >= index.head.entries) return;
    index.column = w.score.column[index.head.from + e];
    index.weight = -w.score.weight[index.head.from + e];
}

template <bool WHOLE>
static __device__ __forceinline__ tile_index read_index(const pair_args &a, const whole_args &w, unsigned u) {
    const unsigned lane = threadIdx.x % 32;
    tile_index index;
    index.head = header_of(a, w, u);
    index.row = lane < index.head.rows ? a.domain[index.head.begin + lane] : 0;
    read_entries<WHOLE>(w, 0, index);
    return index;
}

// ---- members --------------------------------------------------------------------------------------------------------

// Scores and places of a lane's particles.
struct tile_member {
    float score[2], place[2];
};

// The score of the first member as a row sum, in the order of body_sum; several rows at a time are under way.
template <int T>
static __device__ __forceinline__ void sum_scores(const whole_args &w, tile_index &index, double (&score)[2]) {
    enum { TOGETHER = 8 };
    const unsigned n = (unsigned)w.score.n, lane = threadIdx.x % 32, all = 0xffffffffu, entries = index.head.entries;
    const double *one = w.score.rows + min(lane, n - 1), *two = w.score.rows + min(lane + 32, n - 1);
    score[0] = score[1] = w.score.constant[index.head.variable];
    for (unsigned first = 0; first < entries; first += 32) {
        const unsigned some = entries - first < 32 ? entries - first : 32;
        if (first > 0) read_entries<true>(w, first, index);
        for (unsigned e = 0; e < some; e += TOGETHER) {
            double x[TOGETHER][2];
#pragma unroll
            for (unsigned k = 0; k < TOGETHER; k++) {
                const unsigned long long row = times(__shfl_sync(all, index.column, e + k), n);
                x[k][0] = x[k][1] = 0;
                if (e + k < some) {
                    x[k][0] = one[row];
                    if (tile_room<T>::HALVES == 2) x[k][1] = two[row];
                }
            }
#pragma unroll
            for (unsigned k = 0; k < TOGETHER; k++) {
                if (e + k >= some) break;
                const double by = __shfl_sync(all, index.weight, e + k);
                score[0] = fma(by, x[k][0], score[0]);
                if (tile_room<T>::HALVES == 2) score[1] = fma(by, x[k][1], score[1]);
            }
        }
    }
}

template <int T, bool WHOLE>
static __device__ __forceinline__ tile_member read_member(const pair_args &a, const whole_args &w, tile_index &index) {
    const unsigned n = (unsigned)a.n, lane = threadIdx.x % 32, i = index.head.variable;
    const size_t row = (size_t)i * n + lane;
    const float *z = (const float *)a.z + row;
    const bool one = lane < n, two = tile_room<T>::HALVES == 2 && lane + 32 < n;
    tile_member m;
    double score[2];
    m.place[0] = one ? z[0] : 0;
    m.place[1] = two ? z[32] : 0;
    if (WHOLE && !w.scored) {
        sum_scores<T>(w, index, score);
    } else {
        score[0] = one ? a.score[row] : 0;
        score[1] = two ? a.score[row + 32] : 0;
    }
    m.score[0] = one ? (float)score[0] : 0;
    m.score[1] = two ? (float)score[1] : 0;
    return m;
}

// ---- velocities -----------------------------------------------------------------------------------------------------

// sum += k s - r c x of another particle; r is the repulsion, k itself or its third power.
template <int SHAPE>
static __device__ __forceinline__ float drawn(float k, float repulsion, float pull, float push, float sum) {
    sum = fmaf(k, pull, sum);
    return SHAPE == SVMP_SHAPE_RBF ? sum : fmaf(-repulsion, push, sum);
}

// The pairs of a tile on and above the diagonal (UPPER), or below it: sums of rows and of columns go on.
template <int T, int SHAPE, bool UPPER>
static __device__ __forceinline__ void add_pairs(const tile_room<T> &room, const float (&d)[T][T], unsigned row_block,
                                                 unsigned column_block, float (&row)[2][T], float (&column)[2][T]) {
    float pull[T], push[T], row_pull[T], row_push[T];
    load_block(room.pull, column_block, pull);
    load_block(room.pull, row_block, row_pull);
    if (SHAPE != SVMP_SHAPE_RBF) load_block(room.push, column_block, push), load_block(room.push, row_block, row_push);
#pragma unroll
    for (int r = 0; r < T; r++)
#pragma unroll
        for (int q = UPPER ? r : 0; q < (UPPER ? T : r); q++) {
            const float k = d[r][q], repulsion = SHAPE == SVMP_SHAPE_RBF ? k : __fmul_rn(__fmul_rn(k, k), k);
            row[0][r] += repulsion;
            row[1][r] = drawn<SHAPE>(k, repulsion, pull[q], push[q], row[1][r]);
            column[0][q] += repulsion;
            column[1][q] = drawn<SHAPE>(k, repulsion, row_pull[r], row_push[r], column[1][q]);
        }
}

template <int T>
static __device__ __forceinline__ void store_sums(tile_room<T> &room, unsigned slot, unsigned block,
                                                  const float (&sum)[2][T]) {
#pragma unroll
    for (int r = 0; r < T; r += 2) {
        const bool two = r + 1 < T;
        const float4 both =
            make_float4(sum[0][r], sum[1][r], two ? sum[0][two ? r + 1 : r] : 0, two ? sum[1][two ? r + 1 : r] : 0);
        ((float4 *)room.slot[slot])[r / 2 * TILE_BLOCKS + block] = both;
    }
}

// The sums of all pairs, in the slots; pull and push are in the room.
template <int T, int SHAPE>
static __device__ __forceinline__ void tile_sums(tile_room<T> &room, const float (&d)[T][T], const tile_lane &has) {
    float row[2][T] = {}, column[2][T] = {};
    __syncwarp();
    add_pairs<T, SHAPE, true>(room, d, has.row_a, has.column_a, row, column);
    if (has.inside) { // one block is done, and the other begins
        store_sums(room, has.row_slot, has.row_a, row);
        store_sums(room, has.column_slot, has.column_a, column);
#pragma unroll
        for (int r = 0; r < T; r++) row[0][r] = row[1][r] = column[0][r] = column[1][r] = 0;
    }
    __syncwarp();
    add_pairs<T, SHAPE, false>(room, d, has.row_b, has.column_b, row, column);
    store_sums(room, has.row_slot, has.row_b, row);
    store_sums(room, has.column_slot, has.column_b, column);
    __syncwarp();
}

// A velocity from the two sums of a particle. Rounded by name: the same bits everywhere.
static __device__ __forceinline__ float tile_end(float c, float score, float place, float repulsion, float pull) {
    return __fadd_rn(score, __fmaf_rn(__fmul_rn(c, place), repulsion, pull));
}

// Of a member: the sum over l of k s_l + c r (x - x_l), where pull is s - c x for rbf, and s for imq, whose push is
// c x. Partial sums go to slots of their own, that are added up in a fixed order. A particle itself, whose k is 1, is
// not among the pairs.
template <int T, int SHAPE>
static __device__ __forceinline__ void tile_velocity(float c, const tile_member &m, tile_room<T> &room,
                                                     const float (&d)[T][T], const tile_lane &has,
                                                     float (&velocity)[2]) {
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < tile_room<T>::HALVES; half++) {
        const unsigned l = lane + 32 * half;
        if (l >= tile_room<T>::PARTICLES) continue;
        room.pull[room.place(l)] = SHAPE == SVMP_SHAPE_RBF ? fmaf(-c, m.place[half], m.score[half]) : m.score[half];
        if (SHAPE != SVMP_SHAPE_RBF) room.push[room.place(l)] = c * m.place[half];
    }
    tile_sums<T, SHAPE>(room, d, has);
#pragma unroll
    for (int half = 0; half < tile_room<T>::HALVES; half++) {
        const unsigned l = lane + 32 * half, place = room.slot_place(l < tile_room<T>::PARTICLES ? l : 0);
        float sum[2] = {0, 0};
#pragma unroll
        for (int p = 0; p < TILE_SLOTS; p++) {
            const float2 both = room.slot[p][place];
            sum[0] += both.x, sum[1] += both.y;
        }
        velocity[half] = tile_end(c, m.score[half], m.place[half], sum[0], sum[1]);
    }
}

// A member moves.
template <int T>
static __device__ __forceinline__ void tile_move(const whole_args &w, unsigned i, unsigned n,
                                                 const double (&velocity)[2], tile_room<T> &room, double &largest,
                                                 int &wrong) {
    const unsigned lane = threadIdx.x % 32, l = lane + 32;
    const size_t row = (size_t)i * n + lane;
    const bool one = lane < n, two = tile_room<T>::HALVES == 2 && l < n;
    const double first = one ? step_by(&w.step, i, row, velocity[0], &largest, &wrong) : 0;
    const double second = two ? step_by(&w.step, i, row + 32, velocity[1], &largest, &wrong) : 0;
    const double begin = __shfl_sync(0xffffffffu, first, 0);
    const double here = one ? first - begin : 0, there = two ? second - begin : 0;
    __syncwarp();
    room.pull[lane] = (float)here; // the centre is that of body_centre, which adds up neighbours first
    if (two) room.pull[l] = (float)there;
    __syncwarp();
    const unsigned at = 2 * lane;
    const double offset = single_offset(__fadd_rn(at < n ? room.pull[at] : 0, at + 1 < n ? room.pull[at + 1] : 0), n);
    if (one) w.z[row] = (float)(here - offset);
    if (two) w.z[row + 32] = (float)(there - offset);
    __syncwarp();
}

// ---- units ----------------------------------------------------------------------------------------------------------

// Squared distances in `unit` become k.
template <int T, int SHAPE>
static __device__ __forceinline__ void tile_kernel(float h, float inverse, float unit, float (&d)[T][T]) {
    const float by = unit * (SHAPE == SVMP_SHAPE_RBF ? -1.4426950408889634f * inverse : inverse);
    if (h > 0 && h < 1e30f) {
#pragma unroll
        for (int r = 0; r < T; r++)
#pragma unroll
            for (int q = 0; q < T; q++)
                d[r][q] = SHAPE == SVMP_SHAPE_RBF || d[r][q] < TILE_FAR ? kernel_of(d[r][q], by, SHAPE) : 0;
    } else { // the limit, who coincides; or the particles ran away, beyond what single precision can square
#pragma unroll
        for (int r = 0; r < T; r++)
#pragma unroll
            for (int q = 0; q < T; q++) d[r][q] = h == 0 ? (d[r][q] == 0 ? 1.0f : 0.0f) : NAN;
    }
}

// The bandwidth of two middle distances.
static __device__ __forceinline__ float tile_scale(const pair_args &a, unsigned u, float lower, float upper) {
    if (a.rule == RULE_MEDIAN) { // the usual one, in the precision of the distances
        const float median = 0.5f * (quick_root(lower) + quick_root(upper)), square = median * median;
        return square < 1e-37f ? 0 : square;
    }
    float h = 0;
    if (threadIdx.x % 32 == 0) h = (float)found_scale(a, u, lower, upper);
    return __shfl_sync(0xffffffffu, h, 0);
}

static __device__ __forceinline__ float tile_inverse(float h) { return h > 0 ? __fdividef(1.0f, h) : 0; }

// The distances of a unit, and its bandwidth. `rows`: those of its domain, if they are few.
template <int T>
static __device__ __forceinline__ float tile_bandwidth(const pair_args &a, unsigned u, const tile_index &index,
                                                       tile_rows<T, TILE_STAGED> &rows, const tile_lane &has,
                                                       tile_room<T> &room, float (&d)[T][T], float &unit) {
    const unsigned lane = threadIdx.x % 32, n = (unsigned)a.n, count = index.head.rows;
    const uint32_t *domain = a.domain + index.head.begin;
    const bool staged = count <= TILE_STAGED, ranked = a.rule != RULE_FIXED;
    double *kept = a.guess + 3 * (size_t)(a.first + u);
    tile_guess guess;
    guess.read(kept);
    for (bool first = true;; first = false) {
        float furthest = 0, lower = 0, upper = 0;
        bool products = false;
        if (staged) {
            if (!first) rows.load(a, index.row, count);
            products = rows.stage(n, count, first, room, furthest);
            if (products)
                tile_products<T>(room.rows, room.norm, count, has, d);
            else
                tile_differences<T, true>(room.rows, count, has, d);
        } else { // a row at a time
            for (unsigned e = 0; e < count; e++) {
                tile_rows<T, 1> row;
                row.load(a, domain[e], 1);
                row.stage(n, 1, false, room, furthest);
                if (e == 0)
                    tile_differences<T, true>(room.rows, 1, has, d);
                else
                    tile_differences<T, false>(room.rows, 1, has, d);
            }
        }
#pragma unroll
        for (int r = 0; r < T; r++)
            if (has.inside) d[r][r] = TILE_FAR; // a particle and itself
        if (ranked) tile_middle<T>(a, u, guess, domain, count, room.rows, room, d, products, lower, upper);
        if (products && !(furthest <= PRODUCT_REACH * (ranked ? upper : (float)a.fixed))) continue; // a small bandwidth
        unit = products ? 2 : 1;
        if (ranked && lane == 0) guess.write(kept);
        if (!ranked) return (float)a.fixed;
        return tile_scale(a, u, lower, upper);
    }
}

// All of one unit, by one warp. `index` becomes that of the next one. MANY: it may have several members; where it has
// one, registers of distances are free while its velocities are added up.
template <int T, int SHAPE, bool WHOLE, bool MANY>
static __device__ __forceinline__ void tile_unit(const pair_args &a, const whole_args &w, unsigned u, unsigned next,
                                                 const tile_lane &has, bool closed, tile_index &index,
                                                 tile_room<T> &room, double &largest, int &wrong) {
    const unsigned lane = threadIdx.x % 32, n = (unsigned)a.n, members = index.head.members;
    tile_rows<T, TILE_STAGED> rows;
    float d[T][T];
    if (index.head.rows <= TILE_STAGED) rows.load(a, index.row, index.head.rows);
    tile_member m = read_member<T, WHOLE>(a, w, index);
    if (closed) return;
    float unit;
    const float h = tile_bandwidth<T>(a, u, index, rows, has, room, d, unit), inverse = tile_inverse(h);
    tile_kernel<T, SHAPE>(h, inverse, unit, d);
    for (unsigned e = 0; e < (MANY ? members : members > 0); e++) {
        if (MANY && e > 0) {
            const unsigned i = index.head.variable = a.term_variable[a.member_start[a.first + u] + e];
            if (WHOLE && w.score.start) {
                index.head.from = (unsigned)w.score.start[i];
                index.head.entries = (unsigned)w.score.start[i + 1] - index.head.from;
                read_entries<WHOLE>(w, 0, index);
            }
            m = read_member<T, WHOLE>(a, w, index);
            __syncwarp(); // all have read the slots
        }
        const unsigned i = index.head.variable;
        const double slope = a.in_sd ? a.inverse[i] : 1;
        float drawn[2] = {0, 0};
        tile_velocity<T, SHAPE>((float)((SHAPE == SVMP_SHAPE_RBF ? 2 : 1) * (double)inverse * slope), m, room, d, has,
                                drawn);
        double velocity[2] = {drawn[0], drawn[1]};
        if ((!MANY || e + 1 == members) && next < a.units) index = read_index<WHOLE>(a, w, next);
        if (WHOLE) {
            velocity[0] *= a.share;
            velocity[1] *= a.share;
            tile_move<T>(w, i, n, velocity, room, largest, wrong);
        } else {
            if (lane < n) put_velocity(a, (size_t)i * n + lane, velocity[0]);
            if (lane + 32 < n) put_velocity(a, (size_t)i * n + lane + 32, velocity[1]);
        }
    }
    if (members == 0 && next < a.units) index = read_index<WHOLE>(a, w, next);
    __syncwarp();
}

// Blocks of threads on a multiprocessor, by the registers that they need.
template <int T, int SHAPE> static constexpr int tile_blocks() {
    return T <= 4 ? TILE_AT_ONCE + 2 : SHAPE == SVMP_SHAPE_RBF && T < 8 ? TILE_AT_ONCE : TILE_AT_ONCE - 1;
}

// The last block reports the step before to the host.
template <int T, int SHAPE, bool WHOLE, bool MANY>
static __global__ void __launch_bounds__(32 * TILE_WARPS, tile_blocks<T, SHAPE>())
    fused_tile(const pair_args a, const whole_args w, const step_gate gate) {
    __shared__ tile_room<T> rooms[TILE_WARPS];
    const unsigned warps = blockDim.x / 32, blocks = gridDim.x - (WHOLE ? 1 : 0), units = (unsigned)a.units;
    const unsigned stride = blocks * warps, first = blockIdx.x * warps + threadIdx.x / 32;
    const tile_lane has;
    tile_index index;
    double largest = 0;
    int wrong = 0;
    if (first < units && a.header) index = read_index<WHOLE>(a, w, first);
    wait_for_kernels();
    if (blockIdx.x == blocks) {
        if (threadIdx.x == 0) gate.send(gate.step - 1);
        return;
    }
    if (first < units && !a.header) index = read_index<WHOLE>(a, w, first);
    const bool closed = gate.closed();
    for (unsigned u = first; u < units; u += stride)
        tile_unit<T, SHAPE, WHOLE, MANY>(a, w, u, u + stride, has, closed, index, rooms[threadIdx.x / 32], largest,
                                         wrong);
    if (WHOLE && !closed) gate.note(largest, wrong, blocks);
}
