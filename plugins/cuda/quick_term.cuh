// Whole iterations of the usual units: up to 64 particles, one member, few rows in the domain, few entries in its
// score. All that a warp has to know of its unit is one record. Records, centred rows and particles are copied to
// shared memory while other work goes on.

// Copies that are under way until copies_arrive(): 4, 8 or 16 bytes, aligned; or zeros.
#if __CUDA_ARCH__ >= 800
static __device__ __forceinline__ void copy_16(void *to, const void *from, bool there = true) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(number_of(to)), "l"(from), "r"(there ? 16 : 0));
}
static __device__ __forceinline__ void copy_8(void *to, const void *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(number_of(to)), "l"(from));
}
static __device__ __forceinline__ void copy_4(void *to, const void *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(number_of(to)), "l"(from));
}
static __device__ __forceinline__ void copies_part() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int BUT> static __device__ __forceinline__ void copies_arrive() {
    asm volatile("cp.async.wait_group %0;" ::"n"(BUT) : "memory");
    __syncwarp();
}
#else // never launched
static __device__ __forceinline__ void copy_16(void *, const void *, bool = true) {}
static __device__ __forceinline__ void copy_8(void *, const void *) {}
static __device__ __forceinline__ void copy_4(void *, const void *) {}
static __device__ __forceinline__ void copies_part() {}
template <int BUT> static __device__ __forceinline__ void copies_arrive() {}
#endif

static __device__ __forceinline__ unsigned lane_number() {
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

// base + a b bytes
static __device__ __forceinline__ const char *bytes_on(const void *base, unsigned a, unsigned b) {
    unsigned long long sum;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(sum) : "r"(a), "r"(b), "l"((unsigned long long)base));
    return (const char *)sum;
}

static __device__ __forceinline__ void fetch_record(const whole_args &w, unsigned u, unsigned lane, unit_record &to) {
    if (lane < sizeof(unit_record) / 16) copy_16((char *)&to + 16 * lane, bytes_on(w.record, u, sizeof to) + 16 * lane);
}

// Random domains: the rows that were drawn.
static __device__ __noinline__ void read_drawn(const pair_args &a, unsigned u, unsigned lane, unsigned number) {
    unit_record &record = numbered<unit_record>(number);
    const unsigned rows = (unsigned)(a.end[u] - a.begin[u]);
    const unsigned row = lane < rows ? a.domain[a.begin[u] + lane] : ~0u;
    const unsigned self = __ffs(__ballot_sync(0xffffffffu, row == record.variable)) - 1;
    if (lane < rows) record.row[lane] = row;
    if (lane == 0) record.rows = rows, record.self = self;
    __syncwarp();
}

// The rows of a domain, and where the search begins: 16 bytes a lane and turn. Rows that are not there are 0.
template <int NT, int ROWS>
static __device__ __forceinline__ void fetch_rows(const pair_args &a, const whole_args &w, unsigned u, unsigned lane,
                                                  const unit_record &record, float (&to)[ROWS][quick_stride<NT>],
                                                  double (&guess)[2]) {
    enum { LANES = quick_stride<NT> / 4, AT_ONCE = 32 / LANES, TURNS = (ROWS + AT_ONCE - 1) / AT_ONCE };
    const unsigned rows = record.rows, e = lane / LANES;
    const char *from = (const char *)w.placed + 16 * (lane % LANES);
    unsigned row[TURNS];
    // rows are read first: where reads of shared memory and copies to it take turns, the compiler adds instructions
#pragma unroll
    for (int k = 0; k < TURNS; k++) row[k] = record.row[e + AT_ONCE * k];
#pragma unroll
    for (int k = 0; k < TURNS; k++)
        if (AT_ONCE * (k + 1) <= ROWS || e + AT_ONCE * k < ROWS)
            copy_16((float *)to + 4 * lane + 128 * k, bytes_on(from, row[k], 16 * LANES), e + AT_ONCE * k < rows);
    if (lane == 0) copy_16(guess, a.guess + 2 * (size_t)u);
}

// Two particles of a row to where they belong. EVEN: all rows have an even number of them, and are aligned.
template <bool EVEN>
static __device__ __forceinline__ void fetch_pair(double *to, const double *base, unsigned i, unsigned n, unsigned at) {
    const char *from = bytes_on(base + at, i, 8 * n);
    if (EVEN) {
        copy_16(to + at, from, at < n);
    } else {
        copy_8(to + at, from);
        if (at + 1 < n) copy_8(to + at + 1, from + 8);
    }
}

enum { QUICK_ENTRIES = 5 }; // of a score, that are read without a loop

// The particles that the score reads, or the score; those that move, and the state of the step. Two for each lane.
template <int NT, int ROWS, bool EVEN>
static __device__ __forceinline__ void fetch_these(const pair_args &a, const whole_args &w, unsigned at,
                                                   const unit_record &record, quick_room<NT, ROWS> &room) {
    const unsigned n = (unsigned)a.n, entries = w.scored ? 0 : record.entries, i = record.variable;
    const uint4 some = *(const uint4 *)record.column;
    const unsigned column[QUICK_ENTRIES] = {some.x, some.y, some.z, some.w, record.column[4]};
    fetch_pair<EVEN>(room.x, w.step.x, i, n, at);
    if (w.step.first) fetch_pair<EVEN>(room.first, w.step.first, i, n, at);
    if (w.step.second) fetch_pair<EVEN>(room.second, w.step.second, i, n, at);
    if (w.scored) fetch_pair<EVEN>(room.score[0], a.score, i, n, at);
#pragma unroll
    for (unsigned e = 0; e < QUICK_ENTRIES; e++)
        if (e < entries) fetch_pair<EVEN>(room.score[e], w.score.rows, column[e], n, at);
    if (__builtin_expect(entries > QUICK_ENTRIES, 0)) {
#pragma unroll 1
        for (unsigned e = QUICK_ENTRIES; e < entries; e++)
            fetch_pair<EVEN>(room.score[e], w.score.rows, record.column[e], n, at);
    }
}

template <int NT, int ROWS>
static __device__ __noinline__ void fetch_odd(const pair_args &a, const whole_args &w, unsigned at, unsigned record,
                                              unsigned room) {
    fetch_these<NT, ROWS, false>(a, w, at, numbered<unit_record>(record), numbered<quick_room<NT, ROWS>>(room));
}

template <int NT, int ROWS>
static __device__ __forceinline__ void fetch_particles(const pair_args &a, const whole_args &w, unsigned lane,
                                                       const unit_record &record, quick_room<NT, ROWS> &room) {
    if ((unsigned)a.n % 2 == 0)
        fetch_these<NT, ROWS, true>(a, w, min(2 * lane, 8u * NT - 2), record, room); // some twice
    else if (2 * lane < (unsigned)a.n)
        fetch_odd<NT, ROWS>(a, w, 2 * lane, number_of(&record), number_of(&room));
}

// The scores of a lane's particles, in the order of body_sum.
template <int NT, int ROWS>
static __device__ __forceinline__ float2 quick_scores(bool scored, unsigned n, unsigned lane, const unit_record &record,
                                                      const quick_room<NT, ROWS> &room) {
    double one = record.constant, two = one;
    if (NT <= 4 && lane >= quick_room<NT, ROWS>::OWNERS) return make_float2(0, 0);
    if (scored) {
        const double2 x = *(const double2 *)&room.score[0][2 * lane];
        one = x.x, two = x.y;
    } else {
        const unsigned entries = record.entries;
        double2 x[QUICK_ENTRIES];
        double weight[QUICK_ENTRIES];
#pragma unroll
        for (unsigned e = 0; e < QUICK_ENTRIES; e++)
            x[e] = *(const double2 *)&room.score[e][2 * lane], weight[e] = record.weight[e];
#pragma unroll
        for (unsigned e = 0; e < QUICK_ENTRIES; e++)
            if (e < entries) one = fma(weight[e], x[e].x, one), two = fma(weight[e], x[e].y, two);
#pragma unroll 1
        for (unsigned e = QUICK_ENTRIES; e < entries; e++) {
            const double2 more = *(const double2 *)&room.score[e][2 * lane];
            one = fma(record.weight[e], more.x, one), two = fma(record.weight[e], more.y, two);
        }
    }
    return make_float2(2 * lane < n ? (float)one : 0, 2 * lane + 1 < n ? (float)two : 0);
}

// ---- the bandwidth --------------------------------------------------------------------------------------------------

static __device__ __forceinline__ float quick_over(float a, float b) {
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
    return a * inverse;
}

// Where the first search begins: the mean squared distance is twice the mean norm.
template <int NT, int ROWS> static __device__ __noinline__ float quick_mean(unsigned n, unsigned number) {
    const float *rows = &numbered<float>(number);
    float sum = 0;
    for (unsigned l = threadIdx.x % 32; l < n; l += 32)
        for (int e = 0; e < ROWS; e++) sum = fused_add(rows[quick_stride<NT> * e + l], sum);
    return 1.8f * team_sum_single(sum) / (float)n;
}

// That of other rules.
static __device__ __noinline__ float quick_scale(const pair_args &a, unsigned u, float lower, float upper) {
    return tile_scale(a, u, lower, upper);
}

// The bandwidth of a unit. `upper`: the upper of the two middle distances.
template <int NT, int ROWS>
static __device__ __forceinline__ float quick_bandwidth(const pair_args &a, unsigned u, unsigned lane,
                                                        const double (&before)[2], const quick_pairs<NT, ROWS> &of,
                                                        float furthest, float scale,
                                                        const float (&rows)[ROWS][quick_stride<NT>],
                                                        quick_room<NT, ROWS> &room, float &upper) {
    if (a.rule == RULE_FIXED) return upper = (float)a.fixed;
    const unsigned n = (unsigned)a.n, pairs = n * (n - 1) / 2;
    const unsigned rank = (unsigned)(a.lower == SIZE_MAX ? a.upper : a.lower);
    tile_guess guess;
    guess.read(before);
    float expected =
        guess.last > 0 ? fmaxf(guess.last + guess.moved, 0.5f * guess.last) : quick_mean<NT, ROWS>(n, number_of(rows));
    expected = expected > 0 && expected < TILE_FAR ? expected : 1;
    const float reach = QUICK_REACH * quick_over(expected, guess.density * (float)pairs);
    float2 middle;
    float first = fmaxf(expected - reach, 0.5f * expected), second = expected + reach;
    float seen = 0;
    unsigned left;
    if (tries_products(furthest) &&
        quick_middle<NT, ROWS>(rank, (unsigned)a.upper, pairs, first, second, left, of, scale,
                               TENSOR_ROUNDING * furthest, lane, rows, room, middle)) {
        if (left > 4) seen = quick_over((float)left * middle.y, (second - first) * (float)pairs);
    } else {
        middle = quick_slowly<NT, ROWS>(n, rank, (unsigned)a.upper, number_of(rows));
    }
    const float lower = middle.x;
    upper = middle.y;
    guess.read(before); // again, rather than kept in registers
    if (seen > 0) guess.density = 0.9f * guess.density + 0.1f * fminf(fmaxf(seen, 0.1f), 1.0f);
    guess.moved = guess.last > 0 ? 0.8f * (upper - guess.last) : 0;
    guess.last = upper;
    if (lane == 0) // in 16 bytes of the 24 that a unit has, so that they are aligned
        *(float4 *)(a.guess + 2 * (size_t)u) = make_float4(guess.last, guess.moved, guess.density, 0);
    return a.rule == RULE_MEDIAN ? tile_scale(a, u, lower, upper) : quick_scale(a, u, lower, upper);
}

// ---- the step -------------------------------------------------------------------------------------------------------

// The displacements of two particles, of those that are there: displacement(), of both at once.
static __device__ __noinline__ double2 quick_exactly(const step_args &a, double2 by, double2 square) {
    return make_double2(over_root(&a, by.x, square.x), over_root(&a, by.y, square.y));
}

static __device__ __forceinline__ double2 quick_displacements(const step_args &a, bool is_one, bool is_two,
                                                              double2 &first, double2 &second, double one, double two) {
    double2 by, square;
    const auto both = [&](int rule) {
        by.x = advance(&a, rule, &first.x, &second.x, one, &square.x);
        by.y = advance(&a, rule, &first.y, &second.y, two, &square.y);
    };
    switch (a.rule) {
    case SVMP_STEP_ADAGRAD: both(SVMP_STEP_ADAGRAD); break;
    case SVMP_STEP_RMSPROP: both(SVMP_STEP_RMSPROP); break;
    case SVMP_STEP_ADAM: both(SVMP_STEP_ADAM); break;
    default: both(a.rule); return by;
    }
    if ((!is_one | has_quick_root((float)square.x)) & (!is_two | has_quick_root((float)square.y)))
        return make_double2(over_quick_root(&a, by.x, square.x), over_quick_root(&a, by.y, square.y));
    return quick_exactly(a, by, square);
}

static __device__ __noinline__ void quick_store(const step_args &a, size_t at, bool is_one, bool is_two, double here,
                                                double there, double2 first, double2 second) {
    if (is_one) a.phi[at] = here;
    if (is_one && a.first) a.first[at] = first.x;
    if (is_one && a.second) a.second[at] = second.x;
    if (is_two) a.phi[at + 1] = there;
    if (is_two && a.first) a.first[at + 1] = first.y;
    if (is_two && a.second) a.second[at + 1] = second.y;
}

// A lane's particles move, by velocities that are in proportion to one and two. The outcome is the largest of them, as
// bits, and a bit of its own if something is not finite.
enum : unsigned { QUICK_WRONG = 0x80000000u };

template <int NT, int ROWS>
static __device__ __forceinline__ void quick_move(const pair_args &a, const whole_args &w, unsigned lane,
                                                  const unit_record &record, const quick_room<NT, ROWS> &room,
                                                  float one, float two, unsigned &outcome) {
    const unsigned n = (unsigned)a.n, l = 2 * lane;
    const bool is_one = l < n, is_two = l + 1 < n;
    double here = 0, there = 0;
    if (NT > 4 || is_one) {
        const size_t at = (size_t)record.variable * n + l;
        const double2 x = *(const double2 *)&room.x[l];
        double2 first = *(const double2 *)&room.first[l], second = *(const double2 *)&room.second[l];
        one = is_one ? one : 0, two = is_two ? two : 0;
        outcome = max(outcome, to_bits(fmaxf(fmaxf(fabsf(one), 0), fabsf(two)))); // NaN is not the largest
        const double2 by =
            quick_displacements(w.step, is_one, is_two, first, second, (double)one * a.share, (double)two * a.share);
        here = x.x + by.x, there = x.y + by.y;
        if ((is_one & !isfinite(here)) | (is_two & !isfinite(there))) outcome |= QUICK_WRONG;
        if (!isinf(record.lower) || !isinf(record.upper)) { // a box
            int bad;
            here = boxed(here, record.lower, record.upper, &bad),
            there = boxed(there, record.lower, record.upper, &bad);
        }
        if (n % 2 == 0) {
            if (is_one) {
                *(double2 *)&w.step.phi[at] = make_double2(here, there);
                if (w.step.first) *(double2 *)&w.step.first[at] = first;
                if (w.step.second) *(double2 *)&w.step.second[at] = second;
            }
        } else {
            quick_store(w.step, at, is_one, is_two, here, there, first, second);
        }
    }
    const double begin = __shfl_sync(0xffffffffu, here, 0); // that of particle 0
    here = is_one ? here - begin : 0, there = is_two ? there - begin : 0;
    const double offset = team_sum_single(__fadd_rn((float)here, (float)there)) * w.each; // as single_offset()
    if (quick_stride<NT> < 64 && l >= quick_stride<NT>) return;
    float *to = (float *)bytes_on(w.placed_next, record.variable, 4 * quick_stride<NT>) + l;
    __stcg((float2 *)to, make_float2(is_one ? (float)(here - offset) : 0, is_two ? (float)(there - offset) : 0));
}

// ---- units ----------------------------------------------------------------------------------------------------------

// Whether operands stay in registers from the search to the sums; 8 blocks of particles have too many.
template <int NT> constexpr bool QUICK_KEEPS = NT <= 7;

// The velocities of a lane's particles, before they are shared out. `scores` gives the scores of the lane's particles,
// and is called late.
template <int NT, int ROWS, int SHAPE, class Scores>
static __device__ __forceinline__ float2 quick_velocities(const pair_args &a, unsigned u, unsigned lane,
                                                          const double (&before)[2], const unit_record &record,
                                                          const float (&rows)[ROWS][quick_stride<NT>],
                                                          quick_room<NT, ROWS> &room, Scores scores) {
    const unsigned n = (unsigned)a.n;
    const bool takes_part = NT > 4 || lane < quick_room<NT, ROWS>::OWNERS;
    float scale, upper;
    const float furthest = quick_operands<NT, ROWS>(rows, n, lane, room, scale);
    quick_pairs<NT, ROWS> of;
    of.load(room, lane / 4, lane % 4);
    const float h = quick_bandwidth<NT, ROWS>(a, u, lane, before, of, furthest, scale, rows, room, upper);
    if (!QUICK_KEEPS<NT>) of.load(room, lane / 4, lane % 4);
    const float inverse = h > 0 ? quick_over(1, h) : 0;
    float c = (SHAPE == SVMP_SHAPE_RBF ? 2 : 1) * inverse;
    if (a.in_sd) c *= (float)a.inverse[record.variable];
    const float2 score = scores(),
                 place = takes_part ? *(const float2 *)&rows[record.self][2 * lane] : make_float2(0, 0);
    if (lane < quick_room<NT, ROWS>::OWNERS) {
        *(float2 *)&room.pull[2 * lane] =
            SHAPE == SVMP_SHAPE_RBF ? make_float2(fmaf(-c, place.x, score.x), fmaf(-c, place.y, score.y)) : score;
        if (SHAPE != SVMP_SHAPE_RBF) *(float2 *)&room.push[2 * lane] = make_float2(c * place.x, c * place.y);
    }
    const float by = (SHAPE == SVMP_SHAPE_RBF ? 2 * 1.4426950408889634f : -2) * inverse;
    if (tries_products(furthest) && furthest <= PRODUCT_REACH * fminf(h, upper) && h > 0 && h * scale < 1000)
        quick_sums<NT, ROWS, SHAPE, false>(n, lane, h, by * quick_over(1, scale), *rows, of, room);
    else // particles are far from the others, for this bandwidth
        quick_far<NT, ROWS, SHAPE>(n, h, by, number_of(rows), number_of(&room));
    const float4 sum = quick_total(lane, room);
    return make_float2(tile_end(c, score.x, place.x, sum.x, sum.y), tile_end(c, score.y, place.y, sum.z, sum.w));
}

// Blocks of threads on a multiprocessor, by the registers and the shared memory that they need.
enum { QUICK_WARPS = 2 };
template <int NT, int ROWS> static constexpr int quick_blocks() { return NT <= 4 ? 12 : 8; }

// What a term alone has for a unit instead of records and copies.
template <int NT, int ROWS>
static __device__ __noinline__ void quick_stage(const pair_args &a, unsigned u, unsigned lane, unsigned number) {
    quick_room<NT, ROWS> &room = numbered<quick_room<NT, ROWS>>(number);
    const unit_header head = header_of(a, whole_args(), u);
    const unsigned n = (unsigned)a.n, mine = lane < head.rows ? a.domain[head.begin + lane] : ~0u;
    const unsigned self = __ffs(__ballot_sync(0xffffffffu, mine == head.variable)) - 1;
    const double *score = a.score + times(head.variable, n);
    const bool there[2] = {lane<n, quick_stride<NT>> 32 && lane + 32 < n};
#pragma unroll
    for (unsigned e = 0; e < ROWS; e++) {
        const float *row = (const float *)a.z + times(__shfl_sync(0xffffffffu, mine, e), n) + lane;
#pragma unroll
        for (unsigned half = 0; half < quick_stride<NT> / 32; half++) {
            float *to = &room.rows[0][e][lane + 32 * half];
            if (e < head.rows && there[half])
                copy_4(to, row + 32 * half);
            else
                *to = 0;
        }
    }
    if (there[0]) copy_8(&room.score[0][lane], score + lane);
    if (there[1]) copy_8(&room.score[0][lane + 32], score + lane + 32);
    if (lane < 2) copy_8(&room.guess[0][lane], a.guess + 2 * (a.first + u) + lane);
    if (lane == 0) room.record[0].variable = head.variable, room.record[0].self = self;
    copies_part();
    copies_arrive<0>();
}

static __device__ __noinline__ void quick_put(const pair_args &a, unsigned i, unsigned l, float2 velocity) {
    const size_t at = (size_t)i * a.n + l;
    if (l < a.n) put_velocity(a, at, velocity.x);
    if (l + 1 < a.n) put_velocity(a, at + 1, velocity.y);
}

// Whole iterations, whose last block reports the step before to the host; or, without records, terms alone, with the
// same bits.
template <int NT, int ROWS, int SHAPE>
static __global__ void __launch_bounds__(32 * QUICK_WARPS, quick_blocks<NT, ROWS>())
    quick_tile(const __grid_constant__ pair_args a, const __grid_constant__ whole_args w, const step_gate gate) {
#if __CUDA_ARCH__ >= 800
    typedef quick_room<NT, ROWS> room_type;
    static_assert(offsetof(room_type, score) % 16 == 0 && offsetof(room_type, pull) % 16 == 0 &&
                      offsetof(room_type, value) % 16 == 0 && offsetof(room_type, x) % 16 == 0 &&
                      offsetof(room_type, guess) % 16 == 0 && offsetof(room_type, record) % 16 == 0 &&
                      offsetof(room_type, gate) % 16 == 0,
                  "copies are of 16 bytes");
    extern __shared__ double dynamic[];
    const bool whole = w.record != nullptr;
    const unsigned warps = blockDim.x / 32, blocks = gridDim.x - (whole ? 1 : 0), units = (unsigned)a.units;
    const unsigned stride = blocks * warps, begin = blockIdx.x * warps + threadIdx.x / 32, lane = lane_number();
    // the address comes from a lane, or the compiler computes it again and again
    quick_room<NT, ROWS> &room = numbered<quick_room<NT, ROWS>>(
        __shfl_sync(0xffffffffu, number_of(&((quick_room<NT, ROWS> *)dynamic)[threadIdx.x / 32]), 0));
    quick_mask<NT> valid;
    unsigned outcome = 0;
    if (whole && blockIdx.x < blocks) {
        if (begin < units) fetch_record(w, begin, lane, room.record[0]);
        if (begin + stride < units) fetch_record(w, begin + stride, lane, room.record[1]);
        copies_part();
    }
    valid.pairs(lane / 4, lane % 4);
    valid.store(room.valid, lane);
    copies_arrive<0>();
    wait_for_kernels();
    if (blockIdx.x == blocks) {
        if (threadIdx.x == 0) gate.send(gate.step - 1);
        return;
    }
    if (whole && begin < units) {
        if (w.drawn) read_drawn(a, begin, lane, number_of(&room.record[0]));
        fetch_rows<NT, ROWS>(a, w, begin, lane, room.record[0], room.rows[0], room.guess[0]);
        copies_part();
        fetch_particles<NT, ROWS>(a, w, lane, room.record[0], room);
        if (lane == 0) copy_16(&room.gate, &gate.report->state);
        copies_part();
    }
    if (!whole && gate.closed()) return;
#pragma unroll 1
    for (unsigned u = begin, turn = 0; u < units;) {
        const unit_record &record = room.record[turn];
        if (whole)
            copies_arrive<1>(); // all but the particles
        else
            quick_stage<NT, ROWS>(a, u, lane, number_of(&room));
        const float2 velocity = quick_velocities<NT, ROWS, SHAPE>(
            a, (unsigned)a.first + u, lane, room.guess[turn], record, room.rows[turn], room, [&]() {
                copies_arrive<0>();
                if (whole && u + stride < units) {
                    const unsigned next = turn ^ 1;
                    if (w.drawn) read_drawn(a, u + stride, lane, number_of(&room.record[next]));
                    fetch_rows<NT, ROWS>(a, w, u + stride, lane, room.record[next], room.rows[next], room.guess[next]);
                }
                copies_part();
                return quick_scores<NT, ROWS>(!whole || w.scored, (unsigned)a.n, lane, record, room);
            });
        if (whole && room.gate.wrong_at < gate.step) return; // late: gate.closed() would be waited for
        if (whole)
            quick_move<NT, ROWS>(a, w, lane, record, room, velocity.x, velocity.y, outcome);
        else
            quick_put(a, record.variable, 2 * lane, velocity);
        __syncwarp();
        u += stride;
        if (whole && u < units) {
            if (u + stride < units) fetch_record(w, u + stride, lane, room.record[turn]);
            turn ^= 1;
            fetch_particles<NT, ROWS>(a, w, lane, room.record[turn], room);
            copies_part();
        }
    }
    if (whole) {
        const float largest = from_bits(warp_max(outcome & ~QUICK_WRONG));
        gate.note_of_warps((double)largest * fabs(a.share), __any_sync(0xffffffffu, outcome & QUICK_WRONG), blocks);
    }
#endif
}
