#include "script/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "script/clock.h"
#include "script/script.h"

struct witness *witness;
static struct witness_process *mine;

/* State letter and start time of a process; false: there is none. */
static bool process_state(uint32_t pid, char *state, uint64_t *start_ticks)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = 0;
    char *p = strrchr(text, ')'); /* the name may hold anything, parentheses too */
    if (!p || p[1] == 0 || p[2] == 0)
        return false;
    *state = p[2];
    p += 2;
    for (int field = 3; field < 22; field++) {
        p = strchr(p, ' ');
        if (!p)
            return false;
        p++;
    }
    *start_ticks = strtoull(p, NULL, 10);
    return true;
}

bool witness_alive(uint32_t pid)
{
    char state;
    uint64_t start;
    return process_state(pid, &state, &start) && state != 'Z' && state != 'X';
}

static bool slot_alive(const struct witness_process *p)
{
    char state;
    uint64_t start;
    return process_state(p->pid, &state, &start) && state != 'Z' && state != 'X' && start == p->start_ticks;
}

static void fatal(const char *what, const char *path)
{
    fprintf(stderr, "scripted driver: %s %s: %s\n", what, path, strerror(errno));
    _exit(86);
}

void witness_open(void)
{
    const char *path = getenv("TESSERA_SCRIPT_WITNESS");
    void *map;
    if (path && *path) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0)
            fatal("cannot open the witness", path);
        struct stat s;
        if (fstat(fd, &s) != 0 || (s.st_size < (off_t)sizeof *witness && ftruncate(fd, sizeof *witness) != 0))
            fatal("cannot size the witness", path);
        map = mmap(NULL, sizeof *witness, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    } else {
        map = mmap(NULL, sizeof *witness, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        path = "(memory)";
    }
    if (map == MAP_FAILED)
        fatal("cannot map the witness", path);
    witness = map;
    witness->devices = WITNESS_DEVICES;
    witness->processes = WITNESS_PROCESSES;
    witness->names = WITNESS_NAMES;
    witness->ring = WITNESS_RING;
    witness->version = WITNESS_VERSION;
    __atomic_store_n(&witness->magic, WITNESS_MAGIC, __ATOMIC_RELEASE);
}

void witness_forked(void)
{
    mine = NULL;
}

static struct witness_process *claim(void)
{
    uint32_t pid = (uint32_t)getpid();
    for (int round = 0; round < 2; round++) /* first a slot never used, then one of a dead process */
        for (unsigned i = 0; i < WITNESS_PROCESSES; i++) {
            struct witness_process *p = &witness->process[i];
            uint32_t present = __atomic_load_n(&p->pid, __ATOMIC_ACQUIRE);
            if (round == 0 ? present != 0 : slot_alive(p))
                continue;
            if (!__atomic_compare_exchange_n(&p->pid, &present, pid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                continue;
            char state;
            memset(&p->ready, 0, sizeof *p - offsetof(struct witness_process, ready));
            process_state(pid, &state, &p->start_ticks);
            __atomic_store_n(&p->ready, 1, __ATOMIC_RELEASE);
            return p;
        }
    fprintf(stderr, "scripted driver: the witness has room for %d processes\n", WITNESS_PROCESSES);
    _exit(86);
}

static struct witness_process *own(void)
{
    struct witness_process *p = __atomic_load_n(&mine, __ATOMIC_ACQUIRE);
    if (p)
        return p;
    static char claiming; /* one thread claims, the others wait the few microseconds */
    while (__atomic_test_and_set(&claiming, __ATOMIC_ACQUIRE))
        sched_yield();
    if (!mine)
        __atomic_store_n(&mine, claim(), __ATOMIC_RELEASE);
    p = mine;
    __atomic_clear(&claiming, __ATOMIC_RELEASE);
    return p;
}

unsigned witness_slot(void)
{
    return (unsigned)(own() - witness->process);
}

bool witness_slot_busy(unsigned slot, int gpu)
{
    const struct witness_process *p = &witness->process[slot];
    return __atomic_load_n(&p->busy[gpu], __ATOMIC_ACQUIRE) != 0 && slot_alive(p);
}

void witness_count(unsigned name)
{
    __atomic_fetch_add(&witness->calls[name], 1, __ATOMIC_RELAXED);
}

static void record_overlap(struct witness_device *d, uint32_t entering, uint32_t present)
{
    uint64_t i = __atomic_fetch_add(&d->overlaps, 1, __ATOMIC_RELAXED);
    if (i < WITNESS_OVERLAPS)
        d->overlap[i] = (struct witness_overlap){entering, present, monotonic_ns()};
}

/*
 * The first piece of work of this process: mark it, then look at everybody else. At least one of two processes that do
 * so at once sees the other, because marking and looking are sequentially consistent on both sides.
 */
void witness_busy(int device, uint64_t amount)
{
    int gpu = script.gpu[device];
    struct witness_process *self = own();
    if (__atomic_fetch_add(&self->busy[gpu], amount, __ATOMIC_SEQ_CST) != 0)
        return;
    struct witness_device *d = &witness->device[gpu];
    uint64_t processes = 1;
    for (unsigned i = 0; i < WITNESS_PROCESSES; i++) {
        struct witness_process *p = &witness->process[i];
        if (__atomic_load_n(&p->pid, __ATOMIC_SEQ_CST) == 0)
            break; /* slots are taken in order */
        if (p == self || __atomic_load_n(&p->busy[gpu], __ATOMIC_SEQ_CST) == 0 || !slot_alive(p))
            continue;
        if (__atomic_load_n(&p->busy[gpu], __ATOMIC_SEQ_CST) == 0)
            continue; /* it became idle while we asked whether it lives: not proven to overlap */
        record_overlap(d, self->pid, p->pid);
        processes++;
    }
    uint64_t most = __atomic_load_n(&d->most_processes, __ATOMIC_RELAXED);
    while (most < processes && !__atomic_compare_exchange_n(&d->most_processes, &most, processes, false,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

void witness_idle(int device, uint64_t amount)
{
    int gpu = script.gpu[device];
    __atomic_fetch_sub(&own()->busy[gpu], amount, __ATOMIC_SEQ_CST);
}

void witness_submitted(int device)
{
    int gpu = script.gpu[device];
    __atomic_fetch_add(&own()->submissions[gpu], 1, __ATOMIC_RELAXED);
}

void witness_interval(int device, int kind, uint64_t begin_ns, uint64_t end_ns)
{
    int gpu = script.gpu[device];
    struct witness_process *self = own();
    struct witness_device *d = &witness->device[gpu];
    if (kind == WITNESS_EXECUTING)
        __atomic_fetch_add(&self->executed[gpu], 1, __ATOMIC_RELAXED);
    uint64_t index = __atomic_fetch_add(&d->intervals, 1, __ATOMIC_RELAXED);
    struct witness_interval *i = &d->ring[index % WITNESS_RING];
    __atomic_store_n(&i->sequence, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    i->pid = self->pid;
    i->kind = (uint32_t)kind;
    i->begin_ns = begin_ns;
    i->end_ns = end_ns;
    __atomic_store_n(&i->sequence, index + 1, __ATOMIC_RELEASE);
}

uint64_t witness_used(int device)
{
    int gpu = script.gpu[device];
    uint64_t sum = 0;
    for (unsigned i = 0; i < WITNESS_PROCESSES; i++) {
        struct witness_process *p = &witness->process[i];
        if (__atomic_load_n(&p->pid, __ATOMIC_ACQUIRE) == 0)
            break;
        uint64_t used = __atomic_load_n(&p->used_bytes[gpu], __ATOMIC_SEQ_CST);
        if (used && (p == mine || slot_alive(p)))
            sum += used;
    }
    return sum;
}

bool witness_take(int device, uint64_t bytes, uint64_t total_bytes)
{
    int gpu = script.gpu[device];
    struct witness_process *self = own();
    __atomic_fetch_add(&self->used_bytes[gpu], bytes, __ATOMIC_SEQ_CST);
    if (total_bytes == UINT64_MAX || witness_used(device) + script.taken_bytes + script.hidden_bytes <= total_bytes)
        return true;
    __atomic_fetch_sub(&self->used_bytes[gpu], bytes, __ATOMIC_SEQ_CST);
    return false;
}

void witness_give(int device, uint64_t bytes)
{
    int gpu = script.gpu[device];
    __atomic_fetch_sub(&own()->used_bytes[gpu], bytes, __ATOMIC_SEQ_CST);
}
