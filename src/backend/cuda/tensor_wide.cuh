// Operands of tensor cores for domains of more than 6 rows (tensor.cuh): chunks of 16 coordinates, each of which takes
// three products, h.h', h.l' and l.h'. Rows are read from shared memory whenever they are needed.

enum { TENSOR_MOST_ROWS = 108 };

static unsigned wide_chunks(size_t rows) { return (unsigned)((rows + 4 + 15) / 16); }

// In place of ones, so that their own product is small: this, which is taken off again.
#define WIDE_ONES    0x20002000u // two of 1/128
#define WIDE_PRODUCT 0.0001220703125f

struct wide_rows;

// Particles m and m + 8 of each 16 share 4 words of 16 bytes with h of four coordinates each, in the order that a
// product wants (two of the one, two of the other, the next two of the one, of the other), and 4 with l, for each
// chunk. The last word of the last chunk has 1/128 in place of two h, -64 |y|^2 in place of their l, and zeros. Before,
// coordinates of single precision are there: those of the one in place of h, those of the other in place of l.
struct wide_room {
    enum { WIDE = 1, EACH = 64 }; // bytes of a particle, in a chunk
    typedef wide_rows rows;
    uint4 *words;
    float *place, *pull;
    float2 *sums;
    unsigned chunks, stride; // words of a chunk

    __device__ __forceinline__ wide_room(const tensor_shape &shape, void *memory)
        : words((uint4 *)memory), place((float *)(words + 4 * shape.places * shape.chunks)), pull(place + shape.places),
          sums((float2 *)(pull + shape.places)), chunks(shape.chunks), stride(4 * shape.places) {}

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

    // Where coordinates 4 k ... 4 k + 3 of a particle begin.
    __device__ __forceinline__ float *raw(unsigned m, unsigned k) const {
        return (float *)(words + k / 4 * stride + m / 16 * 64 + m / 8 % 2 * 32 + m % 8 * 4 + k % 4);
    }

    struct values {
        float square;
    };
    __device__ __forceinline__ values fetch(const source &from, unsigned m, bool there) const {
        values of = {0};
#pragma unroll 1
        for (unsigned chunk = 0; chunk < chunks; chunk++) {
            float x[16];
#pragma unroll
            for (unsigned e = 0; e < 16; e++) {
                const unsigned k = 16 * chunk + e;
                x[e] = there && k < from.count ? from.z[times(from.domain[k], from.n) + m] : 0;
            }
#pragma unroll
            for (unsigned e = 0; e < 16; e += 4)
                *(float4 *)raw(m, 4 * chunk + e / 4) = make_float4(x[e], x[e + 1], x[e + 2], x[e + 3]);
#pragma unroll
            for (unsigned e = 0; e < 16; e++) of.square = fused_add(x[e], of.square);
        }
        return of;
    }
    __device__ __forceinline__ float keep(const values &of, unsigned) const { return of.square; }

    template <bool RAW> __device__ __forceinline__ void put(unsigned pair, unsigned n, unsigned rows, float by) const {
        const unsigned m = pair / 8 * 16 + pair % 8;
        float one = 0, other = 0;
#pragma unroll 1
        for (unsigned k = 0; 4 * k < rows; k++) {
            uint4 *to = (uint4 *)raw(m, k), high = to[0], low = to[32];
            float2 x = make_float2(by * from_bits(high.x), by * from_bits(high.y)),
                   next = make_float2(by * from_bits(high.z), by * from_bits(high.w)),
                   y = make_float2(by * from_bits(low.x), by * from_bits(low.y)),
                   after = make_float2(by * from_bits(low.z), by * from_bits(low.w));
            if (!RAW) {
                x = join_two(high.x, low.x, by), y = join_two(high.y, low.y, by);
                next = join_two(high.z, low.z, by), after = join_two(high.w, low.w, by);
            }
            split_two(x.x, x.y, high.x, low.x, one);
            split_two(y.x, y.y, high.y, low.y, other);
            split_two(next.x, next.y, high.z, low.z, one);
            split_two(after.x, after.y, high.w, low.w, other);
            to[0] = high;
            to[32] = low;
        }
        uint4 *to = (uint4 *)raw(m, 4 * chunks - 1);
        to[0] = make_uint4(WIDE_ONES, WIDE_ONES, 0, 0);
        to[32] = make_uint4(split_norm(m < n, one, 128), split_norm(m + 8 < n, other, 128), 0, 0);
    }
};

struct wide_rows {
    const uint4 *first;
    float begin;

    __device__ __forceinline__ void load(const wide_room &at, unsigned group, unsigned, float pivot) {
        begin = pivot - WIDE_PRODUCT;
        first = at.words + 256 * group + threadIdx.x % 32;
    }
    __device__ __forceinline__ void multiply(const wide_room &at, unsigned pair, float (&v)[16], float (&w)[16]) const {
        const uint4 *rows = first, *columns = at.words + 64 * pair + threadIdx.x % 32;
        unsigned left = at.chunks;
#pragma unroll
        for (int k = 0; k < 16; k++) v[k] = w[k] = begin;
#pragma unroll 1
        do {
            const uint4 high = columns[0], low = columns[32];
            const unsigned long long one = side_by_side(high.x, high.z), other = side_by_side(high.y, high.w);
            const unsigned long long rest = side_by_side(low.x, low.z), others = side_by_side(low.y, low.w);
            uint4 row[4];
#pragma unroll
            for (int b = 0; b < 4; b++) row[b] = rows[64 * b];
#pragma unroll
            for (int b = 0; b < 4; b++) multiply_16(&v[4 * b], row[b], one); // h.h'
#pragma unroll
            for (int b = 0; b < 4; b++) multiply_16(&w[4 * b], row[b], other);
#pragma unroll
            for (int b = 0; b < 4; b++) multiply_16(&v[4 * b], row[b], rest); // h.l'
#pragma unroll
            for (int b = 0; b < 4; b++) multiply_16(&w[4 * b], row[b], others);
#pragma unroll
            for (int b = 0; b < 4; b++) row[b] = rows[64 * b + 32];
#pragma unroll
            for (int b = 0; b < 4; b++) multiply_16(&v[4 * b], row[b], one); // l.h'
#pragma unroll
            for (int b = 0; b < 4; b++) multiply_16(&w[4 * b], row[b], other);
            rows += at.stride;
            columns += at.stride;
        } while (--left);
    }
};
