#define _GNU_SOURCE /* which processors a process may run on */
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* Loops follow one another closely while a model is evaluated: a thread polls for the next one for a microsecond or
 * two before it sleeps, and not at all if there are more threads than processors. */
enum { POLLS = 50, MOST_THREADS = 1024 };

typedef struct loop {
    void (*body)(void *work, size_t k);
    void *work;
    size_t count, chunk;
    int threads;
} loop;

typedef struct helper {
    struct crew *of;
    int number;
    pthread_t thread;
    pthread_cond_t begun; /* a loop that it takes part in */
} helper;

/* The threads that help one calling thread. */
typedef struct crew {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    loop now;
    atomic_size_t next; /* item */
    atomic_uint round;  /* grows with every loop */
    atomic_int busy;    /* helpers that are in this loop */
    atomic_int polls;   /* of a thread that waits */
    int helpers, processors;
    bool closing;
    helper *helper[MOST_THREADS];
} crew;

static _Thread_local int own_number;
static _Thread_local bool in_loop;
static _Thread_local crew *own_crew;
static pthread_key_t crew_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

int svmp_thread_number(void) { return own_number; }

static inline void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void do_items(const loop *l, atomic_size_t *next) {
    for (size_t from; (from = atomic_fetch_add(next, l->chunk)) < l->count;) {
        const size_t left = l->count - from, to = from + (left < l->chunk ? left : l->chunk);
        for (size_t k = from; k < to; k++) l->body(l->work, k);
    }
}

/* Waits for a loop that is not `seen`; false: the crew is closed. */
static bool await_loop(helper *h, unsigned *seen, loop *l) {
    crew *c = h->of;
    for (int k = atomic_load(&c->polls); k > 0 && atomic_load(&c->round) == *seen; k--) pause_briefly();
    pthread_mutex_lock(&c->lock);
    while (atomic_load(&c->round) == *seen && !c->closing) pthread_cond_wait(&h->begun, &c->lock);
    *seen = atomic_load(&c->round);
    *l = c->now;
    const bool open = !c->closing;
    pthread_mutex_unlock(&c->lock);
    return open;
}

static void *help(void *argument) {
    helper *h = argument;
    crew *c = h->of;
    loop l;
    own_number = h->number;
    in_loop = true;
    for (unsigned seen = 0; await_loop(h, &seen, &l);) {
        if (h->number >= l.threads) continue;
        do_items(&l, &c->next);
        if (atomic_fetch_sub(&c->busy, 1) > 1) continue;
        pthread_mutex_lock(&c->lock);
        pthread_cond_signal(&c->ended);
        pthread_mutex_unlock(&c->lock);
    }
    return NULL;
}

static void close_crew(void *argument) {
    crew *c = argument;
    pthread_mutex_lock(&c->lock);
    c->closing = true;
    for (int k = 0; k < c->helpers; k++) pthread_cond_signal(&c->helper[k]->begun);
    pthread_mutex_unlock(&c->lock);
    for (int k = 0; k < c->helpers; k++) {
        pthread_join(c->helper[k]->thread, NULL);
        pthread_cond_destroy(&c->helper[k]->begun);
        free(c->helper[k]);
    }
    pthread_cond_destroy(&c->ended);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* The threads of the parent are not there. */
static void forget_crew(void) {
    own_crew = NULL;
    own_number = 0;
    in_loop = false;
    pthread_setspecific(crew_key, NULL);
}

/* The processors that this process may run on. */
static int count_processors(void) {
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors)
                                                                     : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static void set_up(void) {
    pthread_key_create(&crew_key, close_crew);
    pthread_atfork(NULL, NULL, forget_crew);
}

static crew *create_crew(void) {
    pthread_once(&once, set_up);
    crew *c = calloc(1, sizeof *c);
    if (c == NULL) return NULL;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->ended, NULL);
    c->processors = count_processors();
    pthread_setspecific(crew_key, c);
    return c;
}

/* Starts helpers until there are as many as wanted, or none can be started. They block all signals. */
static void add_helpers(crew *c, int wanted) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (c->helpers < wanted && c->helpers < MOST_THREADS) {
        helper *h = malloc(sizeof *h);
        if (h == NULL) break;
        *h = (helper){.of = c, .number = c->helpers + 1};
        pthread_cond_init(&h->begun, NULL);
        if (pthread_create(&h->thread, NULL, help, h) != 0) {
            pthread_cond_destroy(&h->begun);
            free(h);
            break;
        }
        c->helper[c->helpers++] = h;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void await_helpers(crew *c) {
    for (int k = atomic_load(&c->polls); k > 0 && atomic_load(&c->busy) > 0; k--) pause_briefly();
    if (atomic_load(&c->busy) == 0) return;
    pthread_mutex_lock(&c->lock);
    while (atomic_load(&c->busy) > 0) pthread_cond_wait(&c->ended, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

static void share(crew *c, const loop *l) {
    pthread_mutex_lock(&c->lock);
    c->now = *l;
    atomic_store(&c->next, 0);
    atomic_store(&c->busy, l->threads - 1);
    atomic_store(&c->polls, l->threads > c->processors ? 0 : POLLS);
    atomic_fetch_add(&c->round, 1);
    for (int k = 0; k < l->threads - 1; k++) pthread_cond_signal(&c->helper[k]->begun);
    pthread_mutex_unlock(&c->lock);
    in_loop = true;
    do_items(l, &c->next);
    in_loop = false;
    await_helpers(c);
}

void svmp_parallel_for(int threads, size_t count, size_t chunk, void (*body)(void *work, size_t k), void *work) {
    if ((size_t)threads > count) threads = (int)count;
    if (threads > 1 && !in_loop) {
        if (own_crew == NULL) own_crew = create_crew();
        if (own_crew) add_helpers(own_crew, threads - 1);
        if (own_crew && own_crew->helpers < threads - 1) threads = own_crew->helpers + 1;
        if (own_crew && threads > 1) {
            const size_t each = (count + (size_t)threads - 1) / (size_t)threads;
            share(own_crew, &(loop){body, work, count, chunk ? chunk : each, threads});
            return;
        }
    }
    const int number = own_number;
    own_number = 0;
    for (size_t k = 0; k < count; k++) body(work, k);
    own_number = number;
}

int svmp_threads_offered(void) {
    const char *text = getenv("OMP_NUM_THREADS");
    const long wanted = text ? strtol(text, NULL, 10) : 0; /* of "4,2" the first */
    if (wanted > 0) return wanted < MOST_THREADS ? (int)wanted : MOST_THREADS;
    const int there = count_processors();
    return there < 1 ? 1 : there < MOST_THREADS ? there : MOST_THREADS;
}
