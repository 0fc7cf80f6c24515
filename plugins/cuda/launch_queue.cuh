// Iterations of small models, which take less time than the host needs to launch them: some are put off, and launched
// together as a graph whose arguments are changed in place. Where a graph cannot be made or changed, they are launched
// one by one: that takes longer, and is no failure.

enum { QUEUE_LENGTH = 16 };

struct queued_iteration {
    pair_args pair;
    whole_args whole;
    step_gate gate;
};

struct iteration_queue {
    queued_iteration waiting[QUEUE_LENGTH];
    unsigned count;
    const void *kernel;
    dim3 grid, block;
    size_t shared;
    cudaGraph_t graph; // of QUEUE_LENGTH launches
    cudaGraphExec_t ready;
    cudaGraphNode_t node[QUEUE_LENGTH];
    bool graphless; // there was no graph of this kernel
};

typedef void (*tile_kernel_function)(const pair_args, const whole_args, const step_gate);

static int launch_queued(device *d, const iteration_queue *q, unsigned k) {
    const queued_iteration *i = &q->waiting[k];
    return launch_early(d, (tile_kernel_function)q->kernel, q->grid, q->block, q->shared, true, i->pair, i->whole,
                        i->gate);
}

static void drop_graph(iteration_queue *q) {
    if (q->ready) cudaGraphExecDestroy(q->ready);
    if (q->graph) cudaGraphDestroy(q->graph);
    q->ready = nullptr;
    q->graph = nullptr;
    q->graphless = false;
}

// The nodes in the order of their steps.
static bool find_nodes(iteration_queue *q) {
    cudaGraphNode_t nodes[QUEUE_LENGTH];
    size_t count = 0;
    if (cudaGraphGetNodes(q->graph, nullptr, &count) != cudaSuccess || count != QUEUE_LENGTH) return false;
    if (cudaGraphGetNodes(q->graph, nodes, &count) != cudaSuccess) return false;
    unsigned found = 0;
    for (size_t k = 0; k < QUEUE_LENGTH; k++) {
        cudaKernelNodeParams params;
        if (cudaGraphKernelNodeGetParams(nodes[k], &params) != cudaSuccess) return false;
        const unsigned long long at = ((const step_gate *)params.kernelParams[2])->step - q->waiting[0].gate.step;
        if (at >= QUEUE_LENGTH) return false;
        q->node[at] = nodes[k];
        found |= 1u << at;
    }
    return found == (1u << QUEUE_LENGTH) - 1;
}

static bool make_graph(device *d, iteration_queue *q) {
    if (cudaStreamBeginCapture(d->stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) return false;
    bool good = true;
    for (unsigned k = 0; k < QUEUE_LENGTH && good; k++) good = launch_queued(d, q, k) == 0;
    if (cudaStreamEndCapture(d->stream, &q->graph) != cudaSuccess || !good) return false;
    return find_nodes(q) && cudaGraphInstantiateWithFlags(&q->ready, q->graph, 0) == cudaSuccess;
}

static bool change_graph(iteration_queue *q) {
    for (unsigned k = 0; k < QUEUE_LENGTH; k++) {
        queued_iteration *i = &q->waiting[k];
        void *arguments[] = {&i->pair, &i->whole, &i->gate};
        cudaKernelNodeParams params = {};
        params.func = (void *)q->kernel;
        params.gridDim = q->grid;
        params.blockDim = q->block;
        params.sharedMemBytes = (unsigned)q->shared;
        params.kernelParams = arguments;
        if (cudaGraphExecKernelNodeSetParams(q->ready, q->node[k], &params) != cudaSuccess) return false;
    }
    return true;
}

// Makes a graph of the queued launches; false if that fails: then it is not tried again, and CUDA's error is cleared,
// since an error of the device itself comes back with the next launch.
static bool prepare_graph(device *d, iteration_queue *q) {
    const cudaError_t before = d->failed;
    if (q->graphless) return false;
    if (q->ready ? change_graph(q) : make_graph(d, q)) return true;
    (void)cudaGetLastError();
    d->failed = before;
    drop_graph(q);
    q->graphless = true;
    return false;
}

// Launches what waits.
static int flush(device *d) {
    iteration_queue *q = d->queue;
    if (q == nullptr || q->count == 0) return 0;
    const unsigned count = q->count;
    int failed = 0;
    q->count = 0;
    if (count == QUEUE_LENGTH && prepare_graph(d, q)) return check(d, cudaGraphLaunch(q->ready, d->stream));
    for (unsigned k = 0; k < count && !failed; k++) failed = launch_queued(d, q, k);
    return failed;
}

// An iteration whose outcome is not awaited. The kernel is the same until the device is closed, or the graph is made again.
static int put_off(device *d, tile_kernel_function kernel, dim3 grid, dim3 block, size_t shared, const pair_args &a,
                   const whole_args &w) {
    iteration_queue *q = d->queue;
    if (q == nullptr) q = d->queue = new (std::nothrow) iteration_queue();
    if (q == nullptr) return launch_early(d, kernel, grid, block, shared, true, a, w, next_step(d, w.step.awaited));
    if (q->kernel != (const void *)kernel || q->grid.x != grid.x || q->block.x != block.x || q->shared != shared) {
        if (flush(d)) return 1;
        drop_graph(q);
        q->kernel = (const void *)kernel;
        q->grid = grid;
        q->block = block;
        q->shared = shared;
    }
    q->waiting[q->count++] = {a, w, next_step(d, w.step.awaited)};
    return q->count == QUEUE_LENGTH ? flush(d) : 0;
}

static void close_queue(device *d) {
    if (d->queue) drop_graph(d->queue);
    delete d->queue;
}

// Steps that were launched: those that wait are the last.
static unsigned long long launched_steps(const device *d) { return d->steps - (d->queue ? d->queue->count : 0); }
