// Whole iterations of the usual units (tile.cuh): one member, few rows in the domain, few entries in its score. All
// that a warp has to know of its unit is one record. Records, centred rows, which are stored as tiles read them, and
// particles are copied to shared memory while other work goes on. The numbers are those of tile_unit.cuh.

// Copies that are under way until copies_arrive(): 8 or 16 bytes, aligned.
static __device__ __forceinline__ void copy_16(void *to, const void *from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
#else
    *(uint4 *)to = *(const uint4 *)from;
#endif
}
static __device__ __forceinline__ void copy_8(void *to, const void *from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
#else
    *(double *)to = *(const double *)from;
#endif
}
static __device__ __forceinline__ void copies_arrive() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __syncwarp();
}

// base + a b bytes
static __device__ __forceinline__ const char *bytes_on(const void *base, unsigned a, unsigned b) {
    unsigned long long sum;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(sum) : "r"(a), "r"(b), "l"((unsigned long long)base));
    return (const char *)sum;
}

template <int T> struct quick_room {
    typedef float domain[TILE_STAGED][tile_room<T>::STRIDE];
    tile_room<T> tile; // its slots first have the rows of the score
    domain other;      // tile.rows and these take turns: the rows of a unit, and of the next
    unit_record record[3];
    double x[64], first[64], second[64]; // of the particles that move
    double guess[2][2];                  // tile_guess, of this unit and the next

    static constexpr unsigned SCORE_ROW = T * TILE_BLOCKS + 2;
    __device__ __forceinline__ domain &rows(unsigned turn) { return turn ? other : tile.rows; }
    __device__ __forceinline__ double *score_row(unsigned e) { return (double *)tile.slot + e * SCORE_ROW; }
};

// What a lane has: two particles, `first` and the next, of which `valid` are there.
struct quick_lane {
    unsigned n, lane, first, valid, place;
};

static __device__ __forceinline__ void fetch_record(const whole_args &w, unsigned u, unit_record &to) {
    const unsigned lane = threadIdx.x % 32;
    if (lane < sizeof(unit_record) / 16) copy_16((char *)&to + 16 * lane, bytes_on(w.record, u, sizeof to) + 16 * lane);
}

// Random domains: the rows that were drawn.
static __device__ __forceinline__ void read_drawn(const pair_args &a, unsigned u, unit_record &record) {
    const unsigned lane = threadIdx.x % 32, rows = (unsigned)(a.end[u] - a.begin[u]);
    const unsigned row = lane < rows ? a.domain[a.begin[u] + lane] : ~0u;
    const unsigned self = __ffs(__ballot_sync(0xffffffffu, row == record.variable)) - 1;
    if (lane < rows) record.row[lane] = row;
    if (lane == 0) record.rows = rows, record.self = self;
    __syncwarp();
}

// The rows of a domain: 16 bytes a lane, one or two rows at a time. Addresses first, then all copies.
template <int T>
static __device__ __forceinline__ void fetch_rows(const whole_args &w, const unit_record &record,
                                                  float (&to)[TILE_STAGED][tile_room<T>::STRIDE]) {
    enum {
        BYTES = tile_room<T>::STRIDE * 4,
        LANES = BYTES / 16,
        TOGETHER = 32 / LANES,
        TURNS = TILE_STAGED / TOGETHER
    };
    const unsigned lane = threadIdx.x % 32, within = lane % LANES, which = lane / LANES, rows = record.rows;
    const char *base = (const char *)w.placed + 16 * within, *from[TURNS];
#pragma unroll
    for (unsigned k = 0; k < TURNS; k++) from[k] = bytes_on(base, record.row[k * TOGETHER + which], BYTES);
#pragma unroll
    for (unsigned k = 0; k < TURNS; k++)
        if (k * TOGETHER + which < rows) copy_16(&to[k * TOGETHER + which][4 * within], from[k]);
}

static __device__ __forceinline__ void fetch_guess(const pair_args &a, unsigned u, double (&to)[2]) {
    const unsigned lane = threadIdx.x % 32;
    if (lane < 2) copy_8(&to[lane], a.guess + 3 * (size_t)u + lane);
}

// The particles that the score reads, those that move, and the state of the step.
template <int T>
static __device__ __forceinline__ void fetch_particles(const whole_args &w, const unit_record &record,
                                                       const quick_lane &has, quick_room<T> &room) {
    const unsigned row = has.n * 8, at = 2 * has.lane, entries = w.scored ? 0 : record.entries;
    const uint4 some = *(const uint4 *)record.column, others = *(const uint4 *)(record.column + 4);
    const unsigned column[UNIT_ENTRIES] = {some.x, some.y, some.z, some.w, others.x, others.y, others.z, others.w};
    const char *rows = (const char *)w.score.rows + 8 * has.first, *from[UNIT_ENTRIES];
    const char *x = bytes_on((const char *)w.step.x + 8 * has.first, record.variable, row);
    const char *first = bytes_on((const char *)w.step.first + 8 * has.first, record.variable, row);
    const char *second = bytes_on((const char *)w.step.second + 8 * has.first, record.variable, row);
    const bool one = has.valid > 0, two = has.valid > 1, state = w.step.first != nullptr,
               states = w.step.second != nullptr;
#pragma unroll
    for (unsigned e = 0; e < UNIT_ENTRIES; e++) from[e] = bytes_on(rows, column[e], row);
    if (one) copy_8(&room.x[at], x);
    if (two) copy_8(&room.x[at + 1], x + 8);
    if (state && one) copy_8(&room.first[at], first);
    if (state && two) copy_8(&room.first[at + 1], first + 8);
    if (states && one) copy_8(&room.second[at], second);
    if (states && two) copy_8(&room.second[at + 1], second + 8);
#pragma unroll
    for (unsigned e = 0; e < UNIT_ENTRIES; e++) {
        if (e < entries && one) copy_8(room.score_row(e) + has.first, from[e]);
        if (e < entries && two) copy_8(room.score_row(e) + has.first + 1, from[e] + 8);
    }
}

// The scores of a lane's particles, in the order of body_sum.
template <int T>
static __device__ __forceinline__ float2 quick_scores(const pair_args &a, const whole_args &w,
                                                      const unit_record &record, const quick_lane &has,
                                                      quick_room<T> &room) {
    double one = record.constant, two = one;
    if (w.scored) {
        const double *from = (const double *)bytes_on(a.score, record.variable, has.n * 8) + has.first;
        if (has.valid > 0) one = from[0];
        if (has.valid > 1) two = from[1];
    } else {
        const unsigned entries = record.entries;
        double x[UNIT_ENTRIES][2];
#pragma unroll
        for (unsigned e = 0; e < UNIT_ENTRIES; e++) {
            const double *from = room.score_row(e) + has.first;
            x[e][0] = x[e][1] = 0;
            if (e < entries) x[e][0] = from[0], x[e][1] = from[1];
        }
#pragma unroll
        for (unsigned e = 0; e < UNIT_ENTRIES; e++)
            if (e < entries) one = fma(record.weight[e], x[e][0], one), two = fma(record.weight[e], x[e][1], two);
    }
    return make_float2(has.valid > 0 ? (float)one : 0, has.valid > 1 ? (float)two : 0);
}

// Squared norms of a lane's particles; the largest of all.
template <int T>
static __device__ __forceinline__ float quick_norms(const unit_record &record,
                                                    const float (&rows)[TILE_STAGED][tile_room<T>::STRIDE],
                                                    const quick_lane &has, tile_room<T> &room) {
    float one = 0, two = 0;
    if (has.place < tile_room<T>::STRIDE) {
        const unsigned count = record.rows;
        float2 at[TILE_STAGED];
#pragma unroll
        for (unsigned e = 0; e < TILE_STAGED; e++) {
            at[e] = make_float2(0, 0);
            if (e < count) at[e] = *(const float2 *)&rows[e][has.place];
        }
#pragma unroll
        for (unsigned e = 0; e < TILE_STAGED; e++) one = fused_add(at[e].x, one), two = fused_add(at[e].y, two);
        *(float2 *)&room.norm[has.place] =
            make_float2(has.valid > 0 ? 0.5f * one : TILE_FAR, has.valid > 1 ? 0.5f * two : TILE_FAR);
    }
    const float furthest = from_bits(warp_max(max(to_bits(one), to_bits(two)))); // NaN is the largest
    __syncwarp();
    return furthest;
}

// The distances of a unit, and its bandwidth: tile_bandwidth.
template <int T>
static __device__ __forceinline__ float quick_bandwidth(const pair_args &a, unsigned u, const double (&before)[2],
                                                        const unit_record &record, const quick_lane &lane,
                                                        const tile_lane &has,
                                                        float (&rows)[TILE_STAGED][tile_room<T>::STRIDE],
                                                        tile_room<T> &room, float (&d)[T][T], float &unit) {
    const bool ranked = a.rule != RULE_FIXED;
    double *kept = a.guess + 3 * (size_t)u;
    tile_guess guess;
    guess.read(before);
    const float furthest = quick_norms<T>(record, rows, lane, room);
    for (bool products = tries_products(furthest);; products = false) {
        float lower = 0, upper = 0;
        if (products) {
            tile_products<T>(rows, room.norm, record.rows, has, d);
        } else { // particles that are not there stand far from all others
            for (unsigned e = 0; e < record.rows; e++)
                for (unsigned k = lane.valid; k < 2; k++)
                    if (lane.place < tile_room<T>::STRIDE) rows[e][lane.place + k] = nowhere<float>(2 * lane.lane + k);
            __syncwarp();
            tile_differences<T, true>(rows, record.rows, has, d);
        }
#pragma unroll
        for (int r = 0; r < T; r++)
            if (has.inside) d[r][r] = TILE_FAR; // a particle and itself
        if (ranked) tile_middle<T>(a, u, guess, nullptr, record.rows, rows, room, d, products, lower, upper);
        if (products && !(furthest <= PRODUCT_REACH * (ranked ? upper : (float)a.fixed))) continue; // a small bandwidth
        unit = products ? 2 : 1;
        if (!ranked) return (float)a.fixed;
        if (lane.lane == 0) guess.write(kept);
        return tile_scale(a, u, lower, upper);
    }
}

// A number moves; returns where to.
static __device__ __forceinline__ double quick_step(const step_args &a, const unit_record &record, size_t at,
                                                    double velocity, double x, double first, double second,
                                                    double &largest, int &wrong) {
    if (fabs(velocity) > largest) largest = fabs(velocity);
    const double by = displacement(&a, &first, &second, velocity);
    if (a.first) a.first[at] = first;
    if (a.second) a.second[at] = second;
    return a.phi[at] = boxed(x + by, record.lower, record.upper, &wrong);
}

template <int T>
static __device__ __forceinline__ void quick_move(const pair_args &a, const whole_args &w, const unit_record &record,
                                                  const quick_lane &has, quick_room<T> &room, float one, float two,
                                                  double &largest, int &wrong) {
    const size_t at = (size_t)record.variable * has.n + has.first;
    const double2 x = *(const double2 *)&room.x[2 * has.lane], first = *(const double2 *)&room.first[2 * has.lane],
                  second = *(const double2 *)&room.second[2 * has.lane];
    double here = 0, there = 0;
    if (has.valid > 0)
        here = quick_step(w.step, record, at, (double)one * a.share, x.x, first.x, second.x, largest, wrong);
    if (has.valid > 1)
        there = quick_step(w.step, record, at + 1, (double)two * a.share, x.y, first.y, second.y, largest, wrong);
    const double begin = __shfl_sync(0xffffffffu, here, 0); // that of particle 0
    here = has.valid > 0 ? here - begin : 0, there = has.valid > 1 ? there - begin : 0;
    const double offset = single_offset(__fadd_rn((float)here, (float)there), has.n);
    float *to = (float *)bytes_on(w.placed_next, record.variable, 4 * tile_room<T>::STRIDE) + has.place;
    if (has.place < tile_room<T>::STRIDE)
        *(float2 *)to =
            make_float2(has.valid > 0 ? (float)(here - offset) : 0, has.valid > 1 ? (float)(there - offset) : 0);
}

template <int T, int SHAPE>
static __device__ __forceinline__ void quick_unit(const pair_args &a, const whole_args &w, unsigned u,
                                                  const tile_lane &has, const quick_lane &lane, quick_room<T> &room,
                                                  unsigned turn, const unit_record &record, double &largest,
                                                  int &wrong) {
    tile_room<T> &tile = room.tile;
    float(&rows)[TILE_STAGED][tile_room<T>::STRIDE] = room.rows(turn);
    float d[T][T], unit;
    const float h = quick_bandwidth<T>(a, u, room.guess[turn], record, lane, has, rows, tile, d, unit);
    const float inverse = tile_inverse(h), c = (SHAPE == SHAPE_RBF ? 2 : 1) * inverse;
    copies_arrive();
    const float2 score = quick_scores<T>(a, w, record, lane, room), place = *(float2 *)&rows[record.self][lane.place];
    if (lane.place < tile_room<T>::STRIDE) {
        *(float2 *)&tile.pull[lane.place] =
            SHAPE == SHAPE_RBF ? make_float2(fmaf(-c, place.x, score.x), fmaf(-c, place.y, score.y)) : score;
        if (SHAPE != SHAPE_RBF) *(float2 *)&tile.push[lane.place] = make_float2(c * place.x, c * place.y);
    }
    tile_kernel<T, SHAPE>(h, inverse, unit, d);
    tile_sums<T, SHAPE>(tile, d, has);
    float4 sum = make_float4(0, 0, 0, 0);
    const unsigned slot = tile.slot_of_lane(lane.place < tile_room<T>::STRIDE ? lane.lane : 0);
#pragma unroll
    for (int p = 0; p < TILE_SLOTS; p++) {
        const float4 both = ((const float4 *)tile.slot[p])[slot];
        sum.x += both.x, sum.y += both.y, sum.z += both.z, sum.w += both.w;
    }
    quick_move<T>(a, w, record, lane, room, tile_end(c, score.x, place.x, sum.x, sum.y),
                  tile_end(c, score.y, place.y, sum.z, sum.w), largest, wrong);
}

// Blocks of threads on a multiprocessor, by the registers and the shared memory that they need.
template <int T, int SHAPE> static constexpr int quick_blocks() { return T <= 4 ? 6 : 4; }

// The last block tells the host about the step before.
template <int T, int SHAPE>
static __global__ void __launch_bounds__(32 * TILE_WARPS, quick_blocks<T, SHAPE>())
    quick_tile(const pair_args a, const whole_args w, const step_gate gate) {
    extern __shared__ double dynamic[];
    const unsigned warps = blockDim.x / 32, blocks = gridDim.x - 1, units = (unsigned)a.units;
    const unsigned stride = blocks * warps, begin = blockIdx.x * warps + threadIdx.x / 32;
    quick_room<T> &room = ((quick_room<T> *)dynamic)[threadIdx.x / 32];
    const tile_lane has;
    quick_lane lane = {(unsigned)a.n, threadIdx.x % 32, 0, 0, 2 * (threadIdx.x % 32)};
    lane.first = placed_first(T, a.n, lane.lane, &lane.valid);
    double largest = 0;
    int wrong = 0;
    if (blockIdx.x < blocks) {
        if (begin < units) fetch_record(w, begin, room.record[0]);
        if (begin + stride < units) fetch_record(w, begin + stride, room.record[1]);
    }
    wait_for_kernels();
    if (blockIdx.x == blocks) {
        if (threadIdx.x == 0) gate.tell(gate.step - 1);
        return;
    }
    copies_arrive();
    if (begin < units) {
        if (w.drawn) read_drawn(a, begin, room.record[0]);
        fetch_rows<T>(w, room.record[0], room.rows(0));
        fetch_guess(a, begin, room.guess[0]);
    }
    if (gate.closed()) return;
    for (unsigned u = begin, now = 0, turn = 0; u < units; u += stride, turn ^= 1) {
        const unsigned next = now < 2 ? now + 1 : 0, later = next < 2 ? next + 1 : 0;
        copies_arrive();
        fetch_particles<T>(w, room.record[now], lane, room);
        if (u + stride < units) {
            if (w.drawn) read_drawn(a, u + stride, room.record[next]);
            fetch_rows<T>(w, room.record[next], room.rows(turn ^ 1));
            fetch_guess(a, u + stride, room.guess[turn ^ 1]);
        }
        if (u + 2 * stride < units) fetch_record(w, u + 2 * stride, room.record[later]);
        quick_unit<T, SHAPE>(a, w, u, has, lane, room, turn, room.record[now], largest, wrong);
        __syncwarp();
        now = next;
    }
    gate.note(largest, wrong, blocks);
}
