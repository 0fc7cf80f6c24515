// Operands of tensor cores for domains of more than 6 rows (tensor_term.cuh): chunks of 16 coordinates, each of which takes
// three products, h.h', h.l' and l.h'. Rows are read from shared memory whenever they are needed.

enum { TENSOR_MOST_ROWS = 108 };

static unsigned tensor_wide_chunks(size_t rows) { return (unsigned)((rows + 4 + 15) / 16); }

// In place of ones, so that their own product is small: this, which is taken off again.
#define WIDE_ONES    0x20002000u // two of 1/128
#define WIDE_PRODUCT 0.0001220703125f

// Four matrices of 8 x 8 from shared memory, of which every lane gives the address of a row.
static __device__ __forceinline__ uint4 load_matrices(const unsigned *row) {
    uint4 to = {};
#if __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
#endif
    return to;
}

struct tensor_wide_rows;
struct tensor_wide_halves;

// For each chunk and 16 particles there are 4 matrices of h and 4 of l. A matrix has 8 rows, one of a particle, of 4
// words of two coordinates: 0 and 1 have words 0, 2, 4 and 6 of the first 8 particles and of the other 8; 2 and 3 words
// 1, 3, 5 and 7. The last word of the last chunk but one has 1/128 in place of h, -64 |y|^2 in place of l; the last is
// 0. Before, coordinates of single precision are there: those of the first 8 in place of h, of the others in place of
// l.
struct tensor_wide_room {
    enum { WIDE = 1, EACH = 64 }; // bytes of a particle, in a chunk
    typedef tensor_wide_rows rows;
    typedef tensor_wide_halves halves;
    unsigned *words;
    float *place, *pull;
    float2 *sums;
    unsigned chunks, stride; // words of a chunk

    __device__ __forceinline__ tensor_wide_room(const tensor_shape &shape, void *memory)
        : words((unsigned *)memory), place((float *)(words + 16 * shape.places * shape.chunks)),
          pull(place + shape.places), sums((float2 *)(pull + shape.places)), chunks(shape.chunks),
          stride(16 * shape.places) {}

    static __device__ __forceinline__ float rounding(const tensor_shape &shape) {
        return TENSOR_ROUNDING * (float)(1 + shape.chunks);
    }

    struct source {
        const float *z;
        const uint32_t *domain;
        unsigned count, n;
        __device__ __forceinline__ source(const float *from, const uint32_t *of, unsigned rows, unsigned all)
            : z(from), domain(of), count(rows), n(all) {}
    };

    struct values {
        float square;
    };
    __device__ __forceinline__ values fetch(const source &from, unsigned m, bool there) const {
        unsigned *to = words + m / 16 * 256 + m / 8 % 2 * 128 + m % 8 * 4;
        values of = {0};
#pragma unroll 1
        for (unsigned chunk = 0; chunk < chunks; chunk++, to += stride) {
            float x[16];
#pragma unroll
            for (unsigned e = 0; e < 16; e++) {
                const unsigned k = 16 * chunk + e;
                x[e] = there && k < from.count ? from.z[times(from.domain[k], from.n) + m] : 0;
            }
#pragma unroll
            for (unsigned e = 0; e < 16; e++) to[e % 4 * 32 + e / 4] = to_bits(x[e]);
#pragma unroll
            for (unsigned e = 0; e < 16; e++) of.square = fused_add(x[e], of.square);
        }
        return of;
    }
    __device__ __forceinline__ float keep(const values &of, unsigned) const { return of.square; }

    // Lane 4 g + q has coordinates 4 q ... 4 q + 3 of particles g and g + 8 of 16.
    template <bool RAW> __device__ __forceinline__ void put(unsigned sixteen, unsigned n, float by) const {
        const unsigned lane = threadIdx.x % 32, m = 16 * sixteen + lane / 4;
        unsigned *to = words + 256 * sixteen + lane, left = chunks;
        float one = 0, other = 0;
#pragma unroll 1
        do {
            unsigned high[4], low[4];
#pragma unroll
            for (int k = 0; k < 4; k++) high[k] = to[32 * k], low[k] = to[128 + 32 * k];
            if (left == 1 && lane % 4 == 3) break;
#pragma unroll
            for (int k = 0; k < 4; k += 2) {
                float2 x = make_float2(by * from_bits(high[k]), by * from_bits(high[k + 1])),
                       y = make_float2(by * from_bits(low[k]), by * from_bits(low[k + 1]));
                if (!RAW) x = join_two(high[k], low[k], by), y = join_two(high[k + 1], low[k + 1], by);
                split_two(x.x, x.y, high[k], low[k], one);
                split_two(y.x, y.y, high[k + 1], low[k + 1], other);
            }
#pragma unroll
            for (int k = 0; k < 4; k++) to[32 * k] = high[k], to[128 + 32 * k] = low[k];
            to += stride;
        } while (--left);
        __syncwarp();
#pragma unroll
        for (int apart = 1; apart < 4; apart *= 2) {
            one += __shfl_xor_sync(0xffffffffu, one, apart);
            other += __shfl_xor_sync(0xffffffffu, other, apart);
        }
        if (lane % 4 < 3) return;
        to[0] = to[32] = WIDE_ONES;
        to[64] = to[96] = to[192] = to[224] = 0;
        to[128] = split_norm(m < n, one, 128);
        to[160] = split_norm(m + 8 < n, other, 128);
    }
    template <int TH, bool RAW>
    __device__ __forceinline__ void scale(const tensor_shape &shape, unsigned n, float by, float) const {
#pragma unroll 1
        for (unsigned k = threadIdx.x / 32; k < shape.places / 16; k += TH / 32) put<RAW>(k, n, by);
    }
    template <int TH> __device__ __forceinline__ void aim(const tensor_shape &, float) const {}
};

struct tensor_wide_rows {
    const unsigned *first;
    float begin;

    __device__ __forceinline__ void load(const tensor_wide_room &at, unsigned group, unsigned, unsigned,
                                         float pivot = 0) {
        begin = pivot - WIDE_PRODUCT;
        first = at.words + 1024 * group + threadIdx.x % 32 * 4;
    }
    __device__ __forceinline__ void multiply(const tensor_wide_room &at, unsigned pair, float (&v)[16],
                                             float (&w)[16]) const {
        const unsigned lane = threadIdx.x % 32; // of columns, the words of a particle are side by side
        const unsigned *rows = first,
                       *columns = at.words + 256 * pair + (lane / 8 % 2 * 64 + lane / 16 * 32) + lane % 8 * 4;
        unsigned left = at.chunks;
#pragma unroll
        for (int k = 0; k < 16; k++) v[k] = w[k] = begin;
#pragma unroll 1
        do {
            const uint4 high = load_matrices(columns), low = load_matrices(columns + 128);
            uint4 row[4];
#pragma unroll
            for (int b = 0; b < 4; b++) row[b] = load_matrices(rows + 256 * b);
#pragma unroll
            for (int b = 0; b < 4; b++) multiply_16(&v[4 * b], row[b], high.x, high.y); // h.h'
#pragma unroll
            for (int b = 0; b < 4; b++) multiply_16(&w[4 * b], row[b], high.z, high.w);
#pragma unroll
            for (int b = 0; b < 4; b++) multiply_16(&v[4 * b], row[b], low.x, low.y); // h.l'
#pragma unroll
            for (int b = 0; b < 4; b++) multiply_16(&w[4 * b], row[b], low.z, low.w);
#pragma unroll
            for (int b = 0; b < 4; b++) row[b] = load_matrices(rows + 256 * b + 128);
#pragma unroll
            for (int b = 0; b < 4; b++) multiply_16(&v[4 * b], row[b], high.x, high.y); // l.h'
#pragma unroll
            for (int b = 0; b < 4; b++) multiply_16(&w[4 * b], row[b], high.z, high.w);
            rows += at.stride;
            columns += at.stride;
        } while (--left);
    }
};

// The same in half precision.
struct tensor_wide_halves {
    tensor_wide_rows rows;

    __device__ __forceinline__ void load(const tensor_wide_room &at, unsigned group, unsigned pair, unsigned lane,
                                         float pivot) {
        rows.load(at, group, pair, lane, pivot);
    }
    __device__ __forceinline__ void multiply(const tensor_wide_room &at, unsigned pair, const tensor_shape &,
                                             uint2 (&v)[4], uint2 (&w)[4]) const {
        float one[16], two[16];
        rows.multiply(at, pair, one, two);
#pragma unroll
        for (int b = 0; b < 4; b++) {
            v[b] = make_uint2(to_halves(one[4 * b], one[4 * b + 1]), to_halves(one[4 * b + 2], one[4 * b + 3]));
            w[b] = make_uint2(to_halves(two[4 * b], two[4 * b + 1]), to_halves(two[4 * b + 2], two[4 * b + 3]));
        }
    }
};
