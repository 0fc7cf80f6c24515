// Steps, and their outcomes: the host may be some steps behind.

// Block 0 reports the step before to the host.
template <bool noise>
static __global__ void __launch_bounds__(THREADS) kernel_step(const step_args a, size_t count, const step_gate gate) {
    double largest = 0;
    int wrong = 0;
    wait_for_kernels();
    if (blockIdx.x == 0 && threadIdx.x == 0) gate.send(gate.step - 1);
    if (gate.closed()) return;
    for (size_t t = (size_t)blockIdx.x * THREADS + threadIdx.x; t < count; t += (size_t)gridDim.x * THREADS) {
        if (noise)
            body_diffuse(&a, t, &largest, &wrong);
        else
            body_step(&a, t, &largest, &wrong);
    }
    gate.note(largest, wrong, gridDim.x);
}

static __global__ void kernel_report(const step_gate gate) { gate.send(gate.step - 1); }

// Of what belongs to the next step.
static step_gate gate_of(const device *d) { return {d->report, d->reported, d->steps + 1, 0}; }

// Of that step itself: the host will ask for it.
static step_gate next_step(device *d, int awaited) {
    d->steps++;
    d->reported[d->steps % DEVICE_STEPS] = NOT_REPORTED;
    d->awaited = awaited;
    return {d->report, d->reported, d->steps, awaited};
}

static int forget_steps(device *d) {
    return check(d, cudaMemsetAsync(d->report, 0, sizeof *d->report, d->stream)) ||
           check(d, cudaMemsetAsync(&d->report->state.wrong_at, 0xff, sizeof d->report->state.wrong_at, d->stream)) ||
           check(d, cudaStreamSynchronize(d->stream));
}

// Waits until the next step, or a kernel of its own, has reported the step; or until the device fails.
static int outcome(device *d, step_result *result) {
    const volatile unsigned long long *reported = d->reported + ++d->taken % DEVICE_STEPS;
    if (enter(d) || (launched_steps(d) <= d->taken && flush(d))) return 1;
    if (d->taken == d->steps && !d->awaited) kernel_report<<<1, 1, 0, d->stream>>>(gate_of(d));
    if (check(d, cudaGetLastError())) return 1;
    for (unsigned long long turn = 1; *reported == NOT_REPORTED; turn++) {
        if (turn % 4096 != 0) continue;
        const cudaError_t now = cudaStreamQuery(d->stream);
        if (now == cudaErrorNotReady) continue;
        if (now != cudaSuccess) return check(d, now);
        if (*reported == NOT_REPORTED) return check(d, cudaErrorUnknown); // all kernels have ended without a report
    }
    result->largest = *reported & ~REPORTED_WRONG;
    result->wrong = *reported >> 63;
    if (!result->wrong) return 0;
    d->taken = d->steps; // later steps changed nothing
    return flush(d) || check(d, cudaStreamSynchronize(d->stream)) || forget_steps(d);
}

static int step(device *d, device_kernel which, const step_args *args, size_t count) {
    const unsigned most = (unsigned)d->processors * 8, enough = blocks_for(d, count, THREADS);
    const unsigned blocks = enough < most ? enough : most;
    if (enter(d) || flush(d)) return 1;
    auto *kernel = which == KERNEL_DIFFUSE ? kernel_step<true> : kernel_step<false>;
    return launch_next(d, kernel, blocks, THREADS, 0, *args, count, next_step(d, args->awaited));
}
