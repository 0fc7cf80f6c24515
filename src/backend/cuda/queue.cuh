// Iterations of small models, which take less time than the host needs to launch them: some are put off, and launched
// together as a graph whose arguments are changed in place.

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
};

typedef void (*tile_kernel_function)(const pair_args, const whole_args, const step_gate);

// Launches a kernel that may start `early`, before the one before it has ended.
template <class... Arguments>
static int launch_early(device *d, void (*kernel)(Arguments...), dim3 grid, dim3 block, size_t shared, bool early,
                        const typename std::decay<Arguments>::type &...arguments) {
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t how = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    how.gridDim = grid;
    how.blockDim = block;
    how.dynamicSmemBytes = shared;
    how.stream = d->stream;
    how.attrs = &attribute;
    how.numAttrs = early ? 1 : 0;
    return check(d, cudaLaunchKernelEx(&how, kernel, arguments...));
}

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
}

// The nodes in the order of their steps.
static int find_nodes(device *d, iteration_queue *q) {
    cudaGraphNode_t nodes[QUEUE_LENGTH];
    size_t count = QUEUE_LENGTH;
    if (check(d, cudaGraphGetNodes(q->graph, nodes, &count)) || count != QUEUE_LENGTH) return 1;
    for (size_t k = 0; k < count; k++) {
        cudaKernelNodeParams params;
        if (check(d, cudaGraphKernelNodeGetParams(nodes[k], &params))) return 1;
        const unsigned long long at = ((const step_gate *)params.kernelParams[2])->step - q->waiting[0].gate.step;
        if (at >= QUEUE_LENGTH) return 1;
        q->node[at] = nodes[k];
    }
    return 0;
}

static int make_graph(device *d, iteration_queue *q) {
    int failed = check(d, cudaStreamBeginCapture(d->stream, cudaStreamCaptureModeThreadLocal));
    for (unsigned k = 0; k < QUEUE_LENGTH && !failed; k++) failed = launch_queued(d, q, k);
    failed = check(d, cudaStreamEndCapture(d->stream, &q->graph)) || failed;
    return failed || find_nodes(d, q) || check(d, cudaGraphInstantiateWithFlags(&q->ready, q->graph, 0));
}

static int change_graph(device *d, iteration_queue *q) {
    for (unsigned k = 0; k < QUEUE_LENGTH; k++) {
        queued_iteration *i = &q->waiting[k];
        void *arguments[] = {&i->pair, &i->whole, &i->gate};
        cudaKernelNodeParams params = {};
        params.func = (void *)q->kernel;
        params.gridDim = q->grid;
        params.blockDim = q->block;
        params.sharedMemBytes = (unsigned)q->shared;
        params.kernelParams = arguments;
        if (check(d, cudaGraphExecKernelNodeSetParams(q->ready, q->node[k], &params))) return 1;
    }
    return 0;
}

// Launches what waits.
static int flush(device *d) {
    iteration_queue *q = d->queue;
    if (q == nullptr || q->count == 0) return 0;
    const unsigned count = q->count;
    int failed = 0;
    q->count = 0;
    if (count == QUEUE_LENGTH) {
        failed = q->ready ? change_graph(d, q) : make_graph(d, q);
        return failed || check(d, cudaGraphLaunch(q->ready, d->stream));
    }
    for (unsigned k = 0; k < count && !failed; k++) failed = launch_queued(d, q, k);
    return failed;
}

// An iteration that nobody waits for. The kernel is the same until the device is closed, or the graph is made again.
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
