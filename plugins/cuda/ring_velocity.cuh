// Velocities of the members of a unit in a ring (ring_term.cuh).

// Once the bandwidth is known, rows and norms are scaled so that products are what the kernel is a function of: |x -
// y|^2 / h, of rbf in powers of 2 where those are quick.
template <class Real, int T, int TH, int SHAPE>
static __device__ __forceinline__ void ring_scale(double h, const ring<Real, T> &r, const ring_unit<Real> &of,
                                                  Real *rows, Real *norm) {
    const double by = (SHAPE == SVMP_SHAPE_RBF && sizeof(Real) == 4 ? 1.4426950408889634 : 1) / h;
    const Real square = (Real)(2 * by), length = (Real)sqrt(2 * by);
    for (unsigned m = threadIdx.x; m < r.stride; m += TH) {
        norm[m] = norm[m] < (Real)1e29 ? norm[m] * square : norm[m];
        for (unsigned e = 0; e < of.count; e++) rows[e * r.stride + m] *= length;
    }
}

static __device__ __forceinline__ float ring_kernel(float apart, int shape) {
    return shape == SVMP_SHAPE_RBF ? quick_exp2(-apart) : rsqrtf(1.0f + apart);
}
static __device__ __forceinline__ double ring_kernel(double apart, int shape) {
    return shape == SVMP_SHAPE_RBF ? exp(-apart) : rsqrt(1.0 + apart);
}

// Velocities of one member: of rbf from the sums of k and of k (s - c x), as in tile_unit.cuh. `sums`: two rows for
// each part or warp. NORMAL: the bandwidth is a number above 0. SCALED: ring_scale was called. `to` gets them.
template <class Real, int T, int TH, int SHAPE, bool NORMAL, bool SCALED, class Member>
static __device__ __forceinline__ void ring_velocity(const pair_args &a, double h, const ring<Real, T> &r,
                                                     const ring_unit<Real> &of, Real *score, const Real *place,
                                                     Real *sums, size_t i, Member &to) {
    enum { FLUSH = 64 / T, RBF = SHAPE == SVMP_SHAPE_RBF }; // steps whose rows are added up in one number
    const unsigned n = (unsigned)a.n, part = r.parts == 1 ? 0 : threadIdx.x / r.blocks, half = r.blocks / 2;
    const double slope = a.in_sd ? a.inverse[i] : 1, ratio = h > 0 ? (RBF ? 2 : 1) / h * slope : 0;
    const double log2e = 1.4426950408889634;
    const Real by = (Real)(RBF ? -(sizeof(Real) == 4 ? log2e : 1.0) / h : 1 / h);
    const bool alone = r.parts == 1 && r.sums > 1; // no other warp adds to the sums
    const unsigned kept = alone ? threadIdx.x / 32 : part < r.parts ? part : 0;
    Real *sum = sums + 2 * (size_t)kept * r.stride, *push = sum + r.stride;
    for (unsigned m = threadIdx.x; m < 2 * r.sums * r.stride; m += TH) sums[m] = 0;
    if (RBF)
        for (unsigned m = threadIdx.x; m < r.stride; m += TH)
            score[m] = fused_product((Real)-ratio, place[m], score[m]);
    __syncthreads();
    for (unsigned block = threadIdx.x - part * r.blocks, turn = 0; turn < r.blocks; block += TH, turn += TH) {
        const bool mine = part < r.parts && block < r.blocks;
        Real score_row[T], place_row[T], row[2][T] = {};
        r.load(score, mine ? block : 0, score_row);
        if (!RBF) r.load(place, mine ? block : 0, place_row);
        for (unsigned step = 0; step < r.steps; step++) {
            const unsigned k = part * r.steps + step;
            if (mine && k <= half && !(r.blocks % 2 == 0 && k == half && block >= half)) {
                const unsigned other = block + k < r.blocks ? block + k : block + k - r.blocks;
                Real d[T][T], score_column[T], place_column[T], column[2][T];
                ring_distances(r, of, block, other, d);
                r.load(score, other, score_column);
                if (!RBF) r.load(place, other, place_column);
                r.load(sum, other, column[0]);
                r.load(push, other, column[1]);
#pragma unroll
                for (int p = 0; p < T; p++)
#pragma unroll
                    for (int q = 0; q < T; q++) {
                        Real value = SCALED   ? ring_kernel(d[p][q], SHAPE)
                                     : NORMAL ? kernel_of(d[p][q], by, SHAPE)
                                     : h == 0 ? (Real)(d[p][q] == 0) // the limit: who coincides
                                              : (Real)NAN;           // the particles ran away
                        if ((!RBF || !NORMAL) && (T * block + p >= n || T * other + q >= n))
                            value = 0; // of rbf it is 0 anyway
                        if (RBF) {
                            row[0][p] += value;
                            row[1][p] = fused_product(value, score_column[q], row[1][p]);
                            column[0][q] += value;
                            column[1][q] = fused_product(value, score_row[p], column[1][q]);
                        } else {
                            const Real apart = place_row[p] - place_column[q], cubed = value * value * value;
                            row[0][p] = fused_product(value, score_column[q], row[0][p]);
                            row[1][p] = fused_product(cubed, apart, row[1][p]);
                            column[0][q] = fused_product(value, score_row[p], column[0][q]);
                            column[1][q] = fused_product(-cubed, apart, column[1][q]);
                        }
                    }
                if (k > 0) { // within a block both are rows
                    r.store(sum, other, column[0]);
                    r.store(push, other, column[1]);
                }
            }
            if (alone)
                __syncwarp();
            else
                __syncthreads();
            if (step % FLUSH != FLUSH - 1 && step + 1 != r.steps) continue;
            if (mine) {
                Real before[2][T];
                r.load(sum, block, before[0]);
                r.load(push, block, before[1]);
#pragma unroll
                for (int w = 0; w < 2; w++)
#pragma unroll
                    for (int p = 0; p < T; p++) before[w][p] += row[w][p], row[w][p] = 0;
                r.store(sum, block, before[0]);
                r.store(push, block, before[1]);
            }
            if (alone)
                __syncwarp();
            else
                __syncthreads();
        }
        if (r.parts > 1) break;
    }
    __syncthreads();
    for (unsigned m = threadIdx.x; m < n; m += TH) {
        double all[2] = {0, 0};
        for (unsigned p = 0; p < 2 * r.sums; p++) all[p % 2] += (double)sums[p * r.stride + r.place(m)];
        const double apart = RBF ? fma((double)place[r.place(m)] * ratio, all[0], all[1]) : all[0] + ratio * all[1];
        to.put(a, i, m, apart);
    }
}
