// Few units of many rows, hubs among them, and long sums: blocks share what one thread would do in a chain of reads.
// Sums have a fixed order, that of rows within a piece, of pieces and of groups of threads.

enum { WIDE = 64, GROUPS = 8 };

// ---- long sums ------------------------------------------------------------------------------------------------------

// A block for 32 particles of a list, whose entries are dealt out to eight warps; so many blocks for all of them.
static __device__ void add_long_lists(const sum_args &a, size_t lists, unsigned blocks) {
    __shared__ double part[GROUPS][32];
    const size_t chunks = (a.n + 31) / 32, lane = threadIdx.x % 32, group = threadIdx.x / 32;
    const double sign = a.minus ? -1 : 1;
    for (size_t task = blockIdx.x; task < lists * chunks; task += blocks) {
        const size_t k = task / chunks, l = task % chunks * 32 + lane, end = sum_end(&a, k);
        double sum = 0;
        if (l < a.n)
            for (size_t e = a.start[k] + group; e < end; e += GROUPS * TOGETHER) {
                double value[TOGETHER], weight[TOGETHER];
#pragma unroll
                for (size_t j = 0; j < TOGETHER; j++) {
                    const size_t here = e + j * GROUPS;
                    const bool there = here < end;
                    value[j] = there ? a.rows[sum_row(&a, here) * a.n + l] : 0;
                    weight[j] = !there ? 0 : a.weight ? sign * a.weight[here] : sign;
                }
#pragma unroll
                for (size_t j = 0; j < TOGETHER; j++) sum = fma(weight[j], value[j], sum);
            }
        part[group][lane] = sum;
        __syncthreads();
        if (group == 0 && l < a.n) {
            double *out = a.out + sum_to(&a, k) * a.n + l;
            double all = a.constant ? a.constant[k] : a.adds ? *out : 0;
#pragma unroll
            for (size_t g = 0; g < GROUPS; g++) all += part[g][lane];
            *out = all;
        }
        __syncthreads();
    }
}

static __global__ void __launch_bounds__(32 * GROUPS)
    kernel_long_sum(const sum_args a, size_t lists, const step_gate gate) {
    wait_for_kernels();
    if (!gate.closed()) add_long_lists(a, lists, gridDim.x);
}

// List k for two particles side by side, in the order of add_list. Several entries are read at once, also of short
// lists; rows have an even number of particles, and columns are short.
static __device__ __forceinline__ double2 add_list_twice(const sum_args &a, unsigned k, unsigned l, double2 sum) {
    enum { AT_ONCE = 8, GROUP = 4 };
    const double sign = a.minus ? -1 : 1;
    const size_t end = sum_end(&a, k);
    for (size_t e = a.start[k]; e < end; e += AT_ONCE) {
        const unsigned some = (unsigned)(end - e < AT_ONCE ? end - e : AT_ONCE);
        double weight[AT_ONCE];
        double2 value[AT_ONCE];
#pragma unroll
        for (unsigned j = 0; j < AT_ONCE; j++) {
            if (j % GROUP == 0 && j >= some) break;
            weight[j] = 0, value[j] = make_double2(0, 0);
            if (j >= some) continue;
            weight[j] = a.weight ? sign * a.weight[e + j] : sign;
            value[j] = *(const double2 *)bytes_on(a.rows + l, a.column[e + j], 8 * (unsigned)a.n);
        }
#pragma unroll
        for (unsigned j = 0; j < AT_ONCE; j++) {
            if (j % GROUP == 0 && j >= some) break;
            if (j < some) sum = make_double2(fma(weight[j], value[j].x, sum.x), fma(weight[j], value[j].y, sum.y));
        }
    }
    return sum;
}

// The scores, after `first` blocks for pieces of long lists. TWICE: a thread has two particles.
template <bool TWICE>
static __global__ void __launch_bounds__(THREADS)
    kernel_score(const score_args a, size_t count, unsigned first, const step_gate gate) {
    wait_for_kernels();
    if (gate.closed()) return;
    if (blockIdx.x < first) {
        add_long_lists(a.pieces, a.piece_count, first);
        return;
    }
    const size_t threads = (size_t)(gridDim.x - first) * THREADS;
    size_t t = (size_t)(blockIdx.x - first) * THREADS + threadIdx.x;
    if (TWICE) {
        const unsigned pairs = (unsigned)a.first.n / 2;
        for (; t < count / 2; t += threads) {
            const unsigned k = (unsigned)t / pairs, l = 2 * ((unsigned)t - k * pairs);
            const double constant = a.first.constant ? a.first.constant[k] : 0;
            double2 sum = add_list_twice(a.first, k, l, make_double2(constant, constant));
            if (a.second.start) sum = add_list_twice(a.second, k, l, sum);
            *(double2 *)(a.first.out + 2 * t) = sum;
        }
    } else {
        for (; t < count; t += threads) body_score(&a, t);
    }
}

// ---- matrices -------------------------------------------------------------------------------------------------------

static __device__ __forceinline__ float first_of_rows(float sum) { return first_of_rows_32(sum); }
static __device__ __forceinline__ double first_of_rows(double sum) { return first_of_rows_64(sum); }
static __device__ __forceinline__ float add_row(int shape, float here, float there, float rows) {
    return add_row_32(shape, here, there, rows);
}
static __device__ __forceinline__ double add_row(int shape, double here, double there, double rows) {
    return add_row_64(shape, here, there, rows);
}
static __device__ __forceinline__ float add_rows(float sum, float rows, float &lost) {
    return add_rows_32(sum, rows, &lost);
}
static __device__ __forceinline__ double add_rows(double sum, double rows, double &lost) {
    return add_rows_64(sum, rows, &lost);
}

// MATRIX_ROWS rows of 4 by 4 particles; rows have WIDE places.
template <class Real>
static __device__ __forceinline__ void add_four_by_four(int shape, const Real *left, const Real *right,
                                                        Real (&sum)[4][4], Real (&lost)[4][4]) {
    Real some[4][4];
#pragma unroll
    for (unsigned k = 0; k < 16; k++) some[k / 4][k % 4] = first_of_rows(sum[k / 4][k % 4]);
#pragma unroll 4
    for (unsigned r = 0; r < MATRIX_ROWS; r++) {
        Real here[4], there[4];
#pragma unroll
        for (unsigned q = 0; q < 4; q++) here[q] = left[r * WIDE + q], there[q] = right[r * WIDE + q];
#pragma unroll
        for (unsigned i = 0; i < 4; i++)
#pragma unroll
            for (unsigned j = 0; j < 4; j++) some[i][j] = add_row(shape, here[i], there[j], some[i][j]);
    }
#pragma unroll
    for (unsigned k = 0; k < 16; k++)
        sum[k / 4][k % 4] = add_rows(sum[k / 4][k % 4], some[k / 4][k % 4], lost[k / 4][k % 4]);
}

// Squared distances, or products, of 64 by 64 particles over a piece of a domain, 4 by 4 a thread; the upper triangle
// of such tiles, each of which is written twice.
template <class Real>
static __global__ void __launch_bounds__(256) kernel_wide_matrix(const pair_args a, const step_gate gate) {
    __shared__ __align__(16) Real rows[2][MATRIX_ROWS][WIDE];
    wait_for_kernels();
    if (gate.closed()) return;
    const size_t n = a.n, side = (n + WIDE - 1) / WIDE, tiles = side * (side + 1) / 2;
    const unsigned across = threadIdx.x % 16 * 4, down = threadIdx.x / 16 * 4;
    for (size_t task = blockIdx.x; task < a.units * a.pieces * tiles; task += gridDim.x) {
        const size_t matrix = task / tiles, p = matrix / a.units, u = matrix - p * a.units;
        size_t first = 0, second = task % tiles;
        while (second >= side - first) second -= side - first++; // row `first` of the triangle has side - first tiles
        second += first;
        const size_t begin = a.begin[u], count = a.end[u] - begin, size = (count + a.pieces - 1) / a.pieces;
        const size_t from = begin + (p * size < count ? p * size : count), most = begin + count;
        const size_t to = from + size < most ? from + size : most;
        Real sum[4][4] = {}, lost[4][4] = {};
        for (size_t e = from; e < to; e += MATRIX_ROWS) {
            __syncthreads();
#pragma unroll
            for (unsigned k = 0; k < 2 * MATRIX_ROWS * WIDE / 256; k++) {
                const unsigned at = threadIdx.x + 256 * k, l = at % WIDE, r = at / WIDE % MATRIX_ROWS,
                               which = at / WIDE / MATRIX_ROWS;
                const size_t particle = (which ? second : first) * WIDE + l;
                rows[which][r][l] =
                    e + r < to && particle < n ? ((const Real *)a.z)[a.domain[e + r] * n + particle] : 0;
            }
            __syncthreads();
            add_four_by_four(a.shape, &rows[0][0][down], &rows[1][0][across], sum, lost);
        }
        Real *out = (Real *)a.matrix + matrix * n * n;
        for (unsigned i = 0; i < 4; i++)
            for (unsigned j = 0; j < 4; j++) {
                const size_t l = first * WIDE + down + i, m = second * WIDE + across + j;
                if (l >= n || m >= n) continue;
                out[l * n + m] = sum[i][j];
                if (first != second) out[m * n + l] = sum[i][j];
            }
    }
}

// The same for up to 64 particles: one tile, of which a thread has one of the 4 by 4 on or above the diagonal; the
// others help to read rows, 32 at a time. So many blocks on a multiprocessor hide that; they have just enough
// registers.
enum { SMALL_THREADS = 160, SMALL_ROWS = 32 };

template <class Real>
static __global__ void __launch_bounds__(SMALL_THREADS, sizeof(Real) == sizeof(float) ? 5 : 4)
    kernel_small_matrix(const pair_args a, const step_gate gate) {
    __shared__ __align__(16) Real rows[SMALL_ROWS][WIDE];
    wait_for_kernels();
    if (gate.closed()) return;
    const unsigned n = (unsigned)a.n, side = (n + 3) / 4;
    unsigned first = 0, second = threadIdx.x;
    while (first < side && second >= side - first) second -= side - first++;
    const bool counts = first < side;
    second += first;
    for (size_t task = blockIdx.x; task < a.units * a.pieces; task += gridDim.x) {
        const size_t p = task / a.units, u = task - p * a.units;
        const size_t begin = a.begin[u], count = a.end[u] - begin, size = (count + a.pieces - 1) / a.pieces;
        const size_t from = begin + (p * size < count ? p * size : count), most = begin + count;
        const size_t to = from + size < most ? from + size : most;
        Real sum[4][4] = {}, lost[4][4] = {};
        for (size_t e = from; e < to; e += SMALL_ROWS) {
            __syncthreads();
#pragma unroll 4
            for (unsigned at = threadIdx.x; at < SMALL_ROWS * WIDE; at += SMALL_THREADS) {
                const unsigned l = at % WIDE, r = at / WIDE;
                rows[r][l] = e + r < to && l < n ? ((const Real *)a.z)[(size_t)a.domain[e + r] * n + l] : 0;
            }
            __syncthreads();
            if (!counts) continue;
            for (unsigned r = 0; r < SMALL_ROWS && e + r < to; r += MATRIX_ROWS)
                add_four_by_four(a.shape, &rows[r][4 * first], &rows[r][4 * second], sum, lost);
        }
        Real *out = (Real *)a.matrix + task * n * n;
        for (unsigned i = 0; i < 4 && counts; i++)
            for (unsigned j = 0; j < 4; j++) {
                const unsigned l = 4 * first + i, m = 4 * second + j;
                if (l < n && m < n) out[l * n + m] = out[m * n + l] = sum[i][j];
            }
    }
}

// The pieces of 32 numbers a block, dealt out to its warps.
template <class Real>
static __global__ void __launch_bounds__(32 * GROUPS)
    kernel_wide_add(const pair_args a, size_t count, const step_gate gate) {
    __shared__ Real part[GROUPS][32];
    wait_for_kernels();
    if (gate.closed()) return;
    const size_t lane = threadIdx.x % 32, group = threadIdx.x / 32;
    Real *matrix = (Real *)a.matrix;
    for (size_t block = blockIdx.x; block * 32 < count; block += gridDim.x) {
        const size_t at = block * 32 + lane;
        Real sum = 0;
        if (at < count) {
            size_t p = group;
            for (; p + GROUPS * (TOGETHER - 1) < a.pieces; p += GROUPS * TOGETHER) {
                Real piece[TOGETHER];
#pragma unroll
                for (size_t j = 0; j < TOGETHER; j++) piece[j] = matrix[(p + j * GROUPS) * count + at];
#pragma unroll
                for (size_t j = 0; j < TOGETHER; j++) sum += piece[j];
            }
            for (; p < a.pieces; p += GROUPS) sum += matrix[p * count + at];
        }
        part[group][lane] = sum;
        __syncthreads();
        if (group == 0 && at < count) {
            Real all = part[0][lane];
#pragma unroll
            for (size_t g = 1; g < GROUPS; g++) all += part[g][lane];
            matrix[at] = all;
        }
        __syncthreads();
    }
}

// ---- from distances to velocities -----------------------------------------------------------------------------------

enum { FINISH = 512, FINISH_MEMBERS = 8 };

static __device__ __forceinline__ float kernel_of(int shape, float distance, double h) {
    return kernel_32(shape, distance, h);
}
static __device__ __forceinline__ double kernel_of(int shape, double distance, double h) {
    return kernel_64(shape, distance, h);
}

// The number of rank `rank` among pairs, and how many are not above it, to all threads of the block: eight bits after
// the other, by counting.
template <class Bits>
static __device__ __forceinline__ Bits find_rank(const Bits *pairs, unsigned count, unsigned rank, unsigned *counts,
                                                 Bits &prefix, unsigned &left, unsigned &upto) {
    if (threadIdx.x == 0) prefix = 0, left = rank, upto = 0;
    for (int shift = 8 * (int)sizeof(Bits) - 8; shift >= 0; shift -= 8) {
        if (threadIdx.x < 256) counts[threadIdx.x] = 0;
        __syncthreads();
        const Bits fixed = prefix;
#pragma unroll 4
        for (unsigned k = threadIdx.x; k < count; k += FINISH) {
            const Bits here = pairs[k];
            if (shift + 8 >= 8 * (int)sizeof(Bits) || here >> (shift + 8) == fixed >> (shift + 8))
                atomicAdd(&counts[(unsigned)(here >> shift) & 255u], 1u);
        }
        __syncthreads();
        found_digit at;
        if (threadIdx.x < 32 && find_digit(counts, left, at)) {
            prefix |= (Bits)at.digit << shift;
            left -= at.before;
            upto += at.before + (shift == 0 ? at.count : 0);
        }
        __syncthreads();
    }
    return prefix;
}

// A block for each unit: the distances of given ranks, the bandwidth, the kernel and the velocities of its members,
// with the matrix in shared memory, and behind it the pairs as bits or sums of groups of threads.
template <class Real, class Bits>
static __global__ void __launch_bounds__(FINISH) kernel_finish(const pair_args a, int ranked, const step_gate gate) {
    extern __shared__ double working[];
    __shared__ unsigned counts[256], left, upto;
    __shared__ Bits prefix;
    __shared__ unsigned long long above;
    __shared__ double scale;
    wait_for_kernels();
    if (gate.closed()) return;
    const unsigned n = (unsigned)a.n, numbers = n * n, count = n * (n - 1) / 2;
    Real *k = (Real *)working;
    Bits *pairs = (Bits *)(working + ((size_t)numbers * sizeof(Real) + 7) / 8);
    double *parts = (double *)pairs;
    for (size_t u = blockIdx.x; u < a.units; u += gridDim.x) {
        const Real *matrix = (const Real *)a.matrix + u * numbers;
        __syncthreads();
        for (unsigned at = threadIdx.x; at < numbers; at += FINISH) {
            const unsigned l = at / n, m = at - l * n;
            k[at] = matrix[at];
            if (l < m) pairs[l * (2 * n - l - 1) / 2 + (m - l - 1)] = bits_of(k[at]);
        }
        if (threadIdx.x == 0) above = ~0ull;
        __syncthreads();
        if (ranked) {
            const unsigned lower = (unsigned)(a.lower == SIZE_MAX ? a.upper : a.lower);
            const Bits found = find_rank(pairs, count, lower, counts, prefix, left, upto);
            if (a.upper > lower && upto <= a.upper) { // the next one is larger
                Bits least = ~(Bits)0;
                for (unsigned p = threadIdx.x; p < count; p += FINISH)
                    if (pairs[p] > found && pairs[p] < least) least = pairs[p];
                if (least != ~(Bits)0) atomicMin(&above, (unsigned long long)least);
            }
            __syncthreads();
            if (threadIdx.x == 0)
                scale = a.scale[u] = scale_of(&a, a.lower == SIZE_MAX ? 0 : value_of(found),
                                              above != ~0ull ? value_of((Bits)above) : value_of(found));
        } else if (threadIdx.x == 0) {
            scale = a.scale[u] = scale_of(&a, 0, 0);
        }
        __syncthreads();
        const double h = scale, ratio = h > 0 ? 1 / h : 0;
        for (unsigned at = threadIdx.x; at < numbers; at += FINISH) k[at] = kernel_of(a.shape, k[at], h);
        __syncthreads();
        const unsigned width = (n + 31) / 32 * 32, groups = FINISH / width, m = threadIdx.x % width,
                       group = threadIdx.x / width;
        for (size_t e = a.member_start[a.first + u]; e < a.member_start[a.first + u + 1]; e++) {
            const size_t i = a.term_variable[e];
            const Real *z = (const Real *)a.z + i * n;
            const double *s = a.score + i * n, by = a.in_sd ? a.inverse[i] : 1;
            if (group < groups && m < n) {
                const double here = z[m];
                double sum = 0, repulsion = 0;
#pragma unroll 4
                for (unsigned l = group; l < n; l += groups) {
                    const double value = k[l * n + m];
                    sum += value * s[l];
                    repulsion += (a.shape == SVMP_SHAPE_RBF ? 2 * value : value * value * value) * (here - z[l]);
                }
                parts[2 * (group * n + m)] = sum;
                parts[2 * (group * n + m) + 1] = repulsion;
            }
            __syncthreads();
            if (threadIdx.x < n) {
                double sum = 0, repulsion = 0;
                for (unsigned g = 0; g < groups; g++)
                    sum += parts[2 * (g * n + m)], repulsion += parts[2 * (g * n + m) + 1];
                double *phi = a.phi + i * n + m;
                *phi = (a.adds ? *phi : 0) + a.weight / (double)n * (sum + ratio * repulsion * by);
            }
            __syncthreads();
        }
    }
}

static size_t finish_bytes(int bits, size_t n) {
    const size_t real = (size_t)bits / 8, matrix = (n * n * real + 7) / 8 * 8, pairs = n * (n - 1) / 2 * real;
    const size_t sums = 2 * 8 * (size_t)FINISH;
    return matrix + (pairs > sums ? pairs : sums);
}

static int finishes(const device *d, int bits, const pair_args *a) {
    return a->shape != SVMP_SHAPE_LINEAR && a->n <= FINISH && a->most_members <= FINISH_MEMBERS &&
           finish_bytes(bits, a->n) <= (size_t)d->shared_most - 2048;
}

template <class Real, class Bits> static int run_finish(device *d, int bits, const pair_args *a) {
    const size_t bytes = finish_bytes(bits, a->n);
    auto *kernel = kernel_finish<Real, Bits>;
    if (allow_shared(d, kernel)) return 1;
    return launch_next(d, kernel, blocks_for(d, a->units, 1), FINISH, bytes, *a, a->rule != RULE_FIXED && a->n > 1,
                       gate_of(d));
}

static int launch_finish(device *d, int bits, const pair_args *a) {
    return bits == 32 ? run_finish<float, unsigned>(d, bits, a) : run_finish<double, unsigned long long>(d, bits, a);
}

// Whether blocks share the rows of a unit: where units are few and long.
static int is_wide(const device *d, const pair_args *a) {
    return a->longest >= 24 && a->n > 8 && a->units <= (size_t)d->processors * 4;
}

static int launch_wide_matrix(device *d, int bits, const pair_args *a) {
    const size_t side = (a->n + WIDE - 1) / WIDE;
    if (side == 1) {
        const unsigned small = blocks_for(d, a->units * a->pieces, 1);
        auto *kernel = bits == 32 ? kernel_small_matrix<float> : kernel_small_matrix<double>;
        return launch_next(d, kernel, small, SMALL_THREADS, 0, *a, gate_of(d));
    }
    const unsigned blocks = blocks_for(d, a->units * a->pieces * side * (side + 1) / 2, 1);
    auto *kernel = bits == 32 ? kernel_wide_matrix<float> : kernel_wide_matrix<double>;
    return launch_next(d, kernel, blocks, 256, 0, *a, gate_of(d));
}

static int launch_wide_add(device *d, int bits, const pair_args *a, size_t count) {
    const unsigned blocks = blocks_for(d, count, 32);
    auto *kernel = bits == 32 ? kernel_wide_add<float> : kernel_wide_add<double>;
    return launch_next(d, kernel, blocks, 32 * GROUPS, 0, *a, count, gate_of(d));
}

static int launch_score(device *d, const score_args *a, size_t count) {
    const bool twice = a->first.n % 2 == 0 && a->first.column && (a->second.start == nullptr || a->second.column) &&
                       count <= UINT32_MAX;
    const unsigned blocks = blocks_for(d, twice ? count / 2 : count, THREADS);
    const unsigned first = a->piece_count ? blocks_for(d, a->piece_count * ((a->first.n + 31) / 32), 1) : 0;
    return launch_next(d, twice ? kernel_score<true> : kernel_score<false>, first + blocks, THREADS, 0, *a, count,
                       first, gate_of(d));
}

static int launch_long_sum(device *d, const sum_args *a, size_t count) {
    const size_t lists = count / a->n;
    return launch_next(d, kernel_long_sum, blocks_for(d, lists * ((a->n + 31) / 32), 1), 32 * GROUPS, 0, *a, lists,
                       gate_of(d));
}
