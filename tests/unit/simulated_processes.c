#define _GNU_SOURCE /* RTLD_NEXT */
#include "unit/simulated_processes.h"

#include <dlfcn.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

struct process_group {
    pthread_mutex_t lock;
    sem_t go_on[MOST_PROCESSES];
    size_t count, waiting, gone;
    const char *call[MOST_PROCESSES]; /* the call in which each process waits; NULL: it has ended */
    struct contributions {
        void *given[MOST_PROCESSES];
        size_t sizes[MOST_PROCESSES];
    } contributions[2]; /* to even and odd calls: a process may enter the next call before others have read this one */
    size_t failing_process;
    long scarce;
    int lossy;
};

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static _Thread_local test_process *self;

static int runs_out(test_process *p) { return ++p->made == p->scarce; }

static void *count_allocate(size_t size, void *user_data) {
    test_process *p = user_data;
    void *made = runs_out(p) ? NULL : calloc(1, size);
    p->live += made != NULL;
    return made;
}

static void *count_resize(void *pointer, size_t size, void *user_data) {
    test_process *p = user_data;
    void *made = runs_out(p) ? NULL : realloc(pointer, size);
    p->live += made && !pointer;
    return made;
}

static void count_release(void *pointer, void *user_data) {
    ((test_process *)user_data)->live -= pointer != NULL;
    free(pointer);
}

/* Replaces the system's function: a locale takes memory, too. */
locale_t newlocale(int mask, const char *name, locale_t base) {
    locale_t (*system)(int, const char *, locale_t);
    *(void **)&system = dlsym(RTLD_NEXT, "newlocale");
    return self && runs_out(self) ? (locale_t)0 : system(mask, name, base);
}

/* Replaces the system's function: files that are written thousands of times need not reach the disk. */
int fsync(int descriptor) { return (void)descriptor, 0; }

/* ---- meeting ----------------------------------------------------------------------------------------------------- */

static process_group *group_of(const svmp_peers *t) { return ((test_process *)t->own)->group; }

/* The contributions of all processes to the current call of this one. */
static const struct contributions *contributions_to(const svmp_peers *t) {
    return &group_of(t)->contributions[((test_process *)t->own)->calls % 2];
}

static void stop(const process_group *s, const char *what) {
    fprintf(stderr, "%s, when allocation %ld of process %zu failed:\n", what, s->scarce, s->failing_process);
    for (size_t p = 0; p < s->count; p++) fprintf(stderr, "    process %zu: %s\n", p, s->call[p] ? s->call[p] : "gone");
    abort();
}

static void wait_for_all(const svmp_peers *t, const char *call) {
    process_group *s = group_of(t);
    pthread_mutex_lock(&s->lock);
    s->call[t->rank] = call;
    const int last = ++s->waiting + s->gone == s->count;
    if (last && s->gone > 0) stop(s, "Processes wait for others that have ended");
    if (last) s->waiting = 0;
    pthread_mutex_unlock(&s->lock);
    for (size_t p = 0; last && p < s->count; p++) {
        if (strcmp(s->call[p], call) != 0) stop(s, "Processes wait for different things");
        if (p != t->rank) sem_post(&s->go_on[p]);
    }
    while (!last && sem_wait(&s->go_on[t->rank]) != 0) {
    }
}

static void go(test_process *p) {
    process_group *s = p->group;
    pthread_mutex_lock(&s->lock);
    s->call[p->peers.rank] = NULL;
    s->gone++;
    if (s->waiting > 0 && s->waiting + s->gone == s->count) stop(s, "Processes wait for others that have ended");
    pthread_mutex_unlock(&s->lock);
}

/* A collective call: every process reads the contributions of all. */
static void meet(const svmp_peers *t, const char *call, size_t size, const void *mine,
                 void (*reader)(const svmp_peers *, void *), void *into) {
    test_process *p = t->own;
    struct contributions *all = &p->group->contributions[++p->calls % 2];
    free(all->given[t->rank]);
    all->given[t->rank] = malloc(size + 1);
    if (size > 0) memcpy(all->given[t->rank], mine, size);
    all->sizes[t->rank] = size;
    wait_for_all(t, call);
    reader(t, into);
}

static void require_all(const svmp_peers *t, int same, const char *what) {
    if (!same) stop(group_of(t), what);
}

/* ---- the calls of peers ---------------------------------------------------------------------------------------- */

typedef struct numbers {
    size_t count;
    void *values;
} numbers;

static void same_sizes(const svmp_peers *t, const char *what) {
    for (size_t p = 0; p < t->count; p++)
        require_all(t, contributions_to(t)->sizes[p] == contributions_to(t)->sizes[0], what);
}

static void read_sum(const svmp_peers *t, void *into) {
    const numbers *to = into;
    same_sizes(t, "Sums of different lengths");
    for (size_t k = 0; k < to->count; k++) {
        int64_t sum = 0;
        for (size_t p = 0; p < t->count; p++) sum += ((int64_t *)contributions_to(t)->given[p])[k];
        ((int64_t *)to->values)[k] = sum;
    }
}

static void read_max(const svmp_peers *t, void *into) {
    const numbers *to = into;
    same_sizes(t, "Largest numbers of different lengths");
    for (size_t k = 0; k < to->count; k++)
        for (size_t p = 0; p < t->count; p++) {
            const double other = ((double *)contributions_to(t)->given[p])[k];
            if (other > ((double *)to->values)[k]) ((double *)to->values)[k] = other;
        }
}

static void sum(const svmp_peers *t, size_t count, int64_t *values) {
    meet(t, "sum", count * sizeof *values, values, read_sum, &(numbers){count, values});
}

static void max(const svmp_peers *t, size_t count, double *values) {
    meet(t, "max", count * sizeof *values, values, read_max, &(numbers){count, values});
}

static void read_broadcast(const svmp_peers *t, void *into) {
    const numbers *to = into;
    same_sizes(t, "A broadcast of different lengths");
    if (contributions_to(t)->sizes[to->count] > 0)
        memcpy(to->values, contributions_to(t)->given[to->count], contributions_to(t)->sizes[to->count]);
}

static void broadcast(const svmp_peers *t, size_t from, size_t size, void *bytes) {
    meet(t, "broadcast", size, bytes, read_broadcast, &(numbers){from, bytes});
}

static void read_all(const svmp_peers *t, void *into) {
    char *to = into;
    for (size_t p = 0; to && p < t->count; to += contributions_to(t)->sizes[p++])
        if (contributions_to(t)->sizes[p] > 0) memcpy(to, contributions_to(t)->given[p], contributions_to(t)->sizes[p]);
}

static void gather(const svmp_peers *t, size_t size, const void *mine, void *all) {
    meet(t, "gather", size, mine, read_all, all);
}

static void read_collected(const svmp_peers *t, void *into) {
    const numbers *to = into;
    if (t->rank > 0) return;
    for (size_t p = 0; p < t->count; p++)
        require_all(t, contributions_to(t)->sizes[p] == ((const size_t *)to[1].values)[p],
                    "Sizes differ from those announced");
    read_all(t, to[0].values);
}

static void collect(const svmp_peers *t, size_t size, const void *mine, const size_t *sizes, void *all) {
    meet(t, "collect", size, mine, read_collected, (numbers[]){{0, all}, {0, (void *)(uintptr_t)sizes}});
}

static void read_own(const svmp_peers *t, void *into) {
    const numbers *to = into;
    size_t at = 0;
    const size_t *sizes = contributions_to(t)->given[0];
    for (size_t p = 0; p < t->rank; p++) at += sizes[p];
    require_all(t, sizes[t->rank] == to->count, "Sizes differ from those announced");
    if (to->count > 0)
        memcpy(to->values, (char *)contributions_to(t)->given[0] + t->count * sizeof *sizes + at, to->count);
}

static void deal(const svmp_peers *t, size_t size, void *mine, const size_t *sizes, const void *all) {
    size_t total = 0;
    for (size_t p = 0; t->rank == 0 && p < t->count; p++) total += sizes[p];
    char *both = calloc(1, t->count * sizeof *sizes + total);
    if (t->rank == 0) memcpy(both, sizes, t->count * sizeof *sizes);
    if (total > 0) memcpy(both + t->count * sizeof *sizes, all, total);
    meet(t, "deal", t->count * sizeof *sizes + total, both, read_own, &(numbers){size, mine});
    free(both);
}

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

struct svmp_peer_line {
    test_process *of;
    svmp_peer_routes routes;          /* the arrays follow the line in memory */
    double *held, *before, *arriving; /* rows of this round and the previous one, and their destination */
    uint64_t round, round_before;
    size_t count;      /* numbers in transit */
    uint64_t receives; /* number of calls of receive */
};

/* The contribution of a process: the number of neighbours; for each its rank and its number of rows; then the rows. It
 * is a copy, since a line may be freed while others still read. */
typedef struct message {
    size_t neighbours;
    double numbers[];
} message;

static int plan(const svmp_peers *t, const svmp_peer_routes *routes, svmp_peer_line **line) {
    svmp_context *context = ((test_process *)t->own)->context;
    const size_t neighbours = routes->neighbours;
    svmp_peer_line *made = NULL;
    SVMP_TRY(SVMP_NEW(context, made, 1));
    made->of = t->own;
    made->routes = *routes;
    uint32_t *rank = calloc(neighbours + 1, sizeof *rank);
    size_t *rows = calloc(2 * neighbours + 1, sizeof *rows);
    for (size_t k = 0; k < neighbours; k++) {
        rank[k] = routes->rank[k];
        rows[k] = routes->out[k];
        rows[neighbours + k] = routes->in[k];
        made->count += routes->in[k] * routes->length;
    }
    made->routes.rank = rank;
    made->routes.out = rows;
    made->routes.in = rows + neighbours;
    made->held = malloc(made->count * sizeof *made->held + 1);
    made->before = malloc(made->count * sizeof *made->before + 1);
    *line = made;
    return SVMP_OK;
}

static void read_nothing(const svmp_peers *t, void *into) { (void)t, (void)into; }

static void connect(svmp_peer_line *line) { meet(&line->of->peers, "connect", 0, NULL, read_nothing, NULL); }

static void close_line(svmp_peer_line *line) {
    if (line == NULL) return;
    free(line->held);
    free(line->before);
    free((void *)(uintptr_t)line->routes.rank);
    free((void *)(uintptr_t)line->routes.out);
    svmp_release(line->of->context, line);
}

static void read_neighbours(const svmp_peers *t, void *into) {
    const svmp_peer_line *line = into;
    const svmp_peer_routes *own = &line->routes;
    double *held = line->held;
    for (size_t k = 0; k < own->neighbours; k++) {
        const message *from = contributions_to(t)->given[own->rank[k]];
        const double *rank = from->numbers, *out = rank + from->neighbours, *rows = out + from->neighbours;
        size_t at = 0, me = 0;
        while (me < from->neighbours && rank[me] != (double)t->rank) at += (size_t)out[me++];
        require_all(t, me < from->neighbours && out[me] == (double)own->in[k], "Neighbours disagree on their rows");
        memcpy(held, rows + at * own->length, own->in[k] * own->length * sizeof *held);
        held += own->in[k] * own->length;
    }
}

/* Until messages have arrived, their destination holds NaN. */
static void send(svmp_peer_line *line, uint64_t round, const double *leaving, double *arriving) {
    const svmp_peer_routes *routes = &line->routes;
    const size_t neighbours = routes->neighbours;
    size_t count = 0;
    for (size_t k = 0; k < neighbours; k++) count += routes->out[k] * routes->length;
    const size_t size = sizeof(message) + (2 * neighbours + count) * sizeof *leaving;
    message *m = malloc(size);
    m->neighbours = neighbours;
    for (size_t k = 0; k < neighbours; k++) {
        m->numbers[k] = (double)routes->rank[k];
        m->numbers[neighbours + k] = (double)routes->out[k];
    }
    if (count > 0) memcpy(m->numbers + 2 * neighbours, leaving, count * sizeof *leaving);
    double *before = line->before;
    line->before = line->held;
    line->held = before;
    line->round_before = line->round;
    meet(&line->of->peers, "send", size, m, read_neighbours, line);
    free(m);
    line->arriving = arriving;
    line->round = round;
    line->receives = 0;
    for (size_t k = 0; k < line->count; k++) arriving[k] = NAN;
}

/* Receives from neighbour k over a lossy link: a third of the time nothing, a third the rows of the previous round.
 * Rows are never replaced by older ones. */
static void receive_perhaps(svmp_peer_line *line, size_t k, size_t at, uint64_t *round) {
    const size_t size = line->routes.in[k] * line->routes.length * sizeof *line->held;
    uint64_t draw = svmp_hash_word(SVMP_HASH_START, line->of->peers.rank);
    draw = svmp_hash_word(svmp_hash_word(svmp_hash_word(draw, line->round), k), line->receives);
    if (*round == line->round) return;
    if (draw % 3 == 0 || (draw % 3 == 1 && line->round_before == 0)) {
        line->of->lost++;
    } else if (draw % 3 == 1) {
        memcpy(line->arriving + at, line->before + at, size);
        *round = line->round_before;
        line->of->late++;
    } else {
        memcpy(line->arriving + at, line->held + at, size);
        *round = line->round;
    }
}

/* Rows arrive when the caller waits for them or calls for the third time. */
static void receive(svmp_peer_line *line, uint64_t *round, int wait) {
    if (++line->receives % 3 != 0 && !wait) return;
    for (size_t k = 0, at = 0; line->of->group->lossy && k < line->routes.neighbours; k++) {
        receive_perhaps(line, k, at, &round[k]);
        at += line->routes.in[k] * line->routes.length;
    }
    if (line->of->group->lossy) return;
    if (line->count > 0) memcpy(line->arriving, line->held, line->count * sizeof *line->held);
    for (size_t k = 0; k < line->routes.neighbours; k++) round[k] = line->round;
}

/* ---- running ------------------------------------------------------------------------------------------------------
 */

static void leave(const svmp_peers *t) { (void)t; }

static void *begin(void *of) {
    self = of;
    self->body(self);
    go(self);
    return NULL;
}

static void prepare(process_group *s, size_t rank, test_process *p) {
    p->peers = (svmp_peers){.rank = rank,
                            .count = s->count,
                            .own = p,
                            .sharing = 1,
                            .leave = leave,
                            .sum = sum,
                            .max = max,
                            .broadcast = broadcast,
                            .gather = gather,
                            .collect = collect,
                            .deal = deal,
                            .plan = plan,
                            .connect = connect,
                            .close = close_line,
                            .send = send,
                            .receive = receive};
    const svmp_allocator allocator = {count_allocate, count_resize, count_release, p};
    assert_ok(svmp_context_create(&allocator, &p->context));
    assert_ok(svmp_context_set_threads(p->context, 1));
    p->context->peers = &p->peers;
    p->made = 0;
    p->scarce = rank == s->failing_process ? s->scarce : 0;
}

static void run_all(process_group s, void (*body)(test_process *), const void *script, test_process *group) {
    const size_t count = s.count;
    pthread_t threads[MOST_PROCESSES];
    pthread_mutex_init(&s.lock, NULL);
    for (size_t p = 0; p < count; p++) {
        sem_init(&s.go_on[p], 0, 0);
        group[p] = (test_process){.group = &s, .body = body, .script = script};
        prepare(&s, p, &group[p]);
    }
    for (size_t p = 0; p < count; p++) assert_int_equal(pthread_create(&threads[p], NULL, begin, &group[p]), 0);
    for (size_t p = 0; p < count; p++) pthread_join(threads[p], NULL);
    for (size_t p = 0; p < count; p++) {
        sem_destroy(&s.go_on[p]);
        free(s.contributions[0].given[p]);
        free(s.contributions[1].given[p]);
    }
    pthread_mutex_destroy(&s.lock);
}

void run_processes_scarce(size_t count, void (*body)(test_process *), const void *script, size_t failing_process,
                          long scarce, test_process *group) {
    run_all((process_group){.count = count, .failing_process = failing_process, .scarce = scarce}, body, script, group);
}

void run_processes_lossy(size_t count, void (*body)(test_process *), const void *script, test_process *group) {
    run_all((process_group){.count = count, .lossy = 1}, body, script, group);
}

void run_processes(size_t count, void (*body)(test_process *), const void *script, test_process *group) {
    run_processes_scarce(count, body, script, 0, 0, group);
}

void end_processes(size_t count, test_process *group) {
    for (size_t p = 0; p < count; p++) {
        svmp_context_free(group[p].context);
        if (group[p].live != 0) fail_msg("process %zu keeps %ld allocations of %ld", p, group[p].live, group[p].made);
    }
}
