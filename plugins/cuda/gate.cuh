// How steps report their outcomes to the host, and how kernels stop after a step that was wrong.

// What kernels read at once: those that belong to a step after `wrong_at` change nothing until the host has its outcome.
struct alignas(16) gate_state {
    unsigned long long wrong_at;
    unsigned done;  // blocks of a step that the host waits for
    unsigned taken; // units of a launch that blocks have taken
};

// What the blocks of steps have found, by their numbers.
struct step_report {
    unsigned long long largest[DEVICE_STEPS];
    gate_state state;
};

// The report of a step to the host, one word: the largest displacement, which is not negative, and in its sign bit
// whether a particle is not finite.
enum : unsigned long long { NOT_REPORTED = ~0ull, REPORTED_WRONG = 1ull << 63 };

// The step that a kernel belongs to.
struct step_gate {
    step_report *report;
    volatile unsigned long long *reported; // in memory of the host that the device writes to: DEVICE_STEPS
    unsigned long long step;
    int awaited; // the host waits for this step

    __device__ __forceinline__ bool closed() const { return __ldcg(&report->state.wrong_at) < step; }

    // Reports a step to the host, which is quicker than a copy, and clears the entry of the next but one. One thread.
    __device__ __forceinline__ void send(unsigned long long of) const {
        const unsigned long long largest = __ldcg(&report->largest[of % DEVICE_STEPS]);
        reported[of % DEVICE_STEPS] = __ldcg(&report->state.wrong_at) == of ? largest | REPORTED_WRONG : largest;
        report->largest[(of + 2) % DEVICE_STEPS] = 0;
    }

    __device__ __forceinline__ void keep(unsigned long long largest, int wrong) const {
        atomicMax(&report->largest[step % DEVICE_STEPS], largest);
        if (wrong) atomicMin(&report->state.wrong_at, step);
    }

    // What the threads of a block have found: the largest of numbers that are not negative, and a flag. Neither depends
    // on the order in which blocks come. All threads of the block call this. The step after this one reports
    // to the host, or the last block if the host awaits this step.
    __device__ __forceinline__ void note(double largest, int wrong, unsigned blocks) const {
        note_of_warps(team_max(largest), __any_sync(0xffffffffu, wrong), blocks);
    }

    // The same, of what the lanes of each warp have found together.
    __device__ __forceinline__ void note_of_warps(double largest, int wrong, unsigned blocks) const {
        __shared__ unsigned long long most;
        __shared__ int bad;
        const unsigned long long bits = (unsigned long long)__double_as_longlong(largest);
        if (!awaited && blockDim.x <= 2 * 32) { // few warps: none waits for the other
            if (threadIdx.x % 32 == 0) keep(bits, wrong);
            return;
        }
        if (threadIdx.x == 0) most = 0, bad = 0;
        __syncthreads();
        if (threadIdx.x % 32 == 0) {
            atomicMax(&most, bits);
            if (wrong) bad = 1;
        }
        __syncthreads();
        if (threadIdx.x > 0) return;
        keep(most, bad);
        if (!awaited) return;
        __threadfence();
        if (atomicInc(&report->state.done, blocks - 1) != blocks - 1) return;
        __threadfence();
        send(step);
    }
};
