#include "direct/content/content_look.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#include "driver/clock.h"
#include "session/report.h"
#include "tessera_abi.h"
#include "tessera_entries.h"

/* As in content.cu. */
#define ROWS 512
#define THREADS 256
#define LINES HASH_NUMBERS
#define SHIFT 2
#define WORDS (LINES + 1)
#define PRIME ((1ULL << 61) - 1)

#define BATCH 64                 /* chunks for one launch, or */
#define BATCH_BYTES (4ULL << 30) /* this many bytes: some 2 ms of reading */
#define LAUNCHES 32              /* launches in progress, and the last complete one */
#define RETRY_NS 200000000ULL    /* between tries to load the kernel while the device is full */
#define NOT_RUN UINT64_MAX       /* not a number of any result: these are below the prime */

extern const char tessera_content_ptx[];

struct keys {
    uint32_t words[ROWS * 4 + SHIFT * (LINES - 1)];
    uint64_t numbers[THREADS * LINES * 2];
};

/* Pinned memory that host and device share: a slot for each chunk. */
struct shared {
    uint64_t parts[LOOKS][PARTS]; /* addresses; 0: none */
    uint64_t results[LOOKS][PARTS][WORDS];
};

struct looker {
    void *context;     /* in which all objects below were created; NULL: there are none */
    bool refused;      /* the driver refused the kernel in `context` */
    uint64_t again_ns; /* the kernel is not loaded before this time, because the device was full at the last try */
    CUmodule module;
    CUfunction function;
    CUstream stream;
    struct shared *shared;
    struct chunk *chunks[LOOKS];
    uint64_t taken_bytes;                     /* since the last launch */
    unsigned begun, launched, reached, ended; /* chunks so far: taken, submitted, examined, returned */
    /* Each launch: `launched` after it, its event, and its result. */
    struct {
        unsigned end;
        CUevent event;
        CUresult result;
    } launches[LAUNCHES];
    unsigned first, last; /* launches so far: complete, begun */
};

static struct looker of_moves[TESSERA_MAX_DEVICES], of_samples[TESSERA_MAX_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct looker *looker_of_moves(unsigned device)
{
    return &of_moves[device];
}

struct looker *looker_of_samples(unsigned device)
{
    return &of_samples[device];
}

static void forget(struct looker *l)
{
    memset(l, 0, sizeof *l);
}

static void drop(struct looker *l)
{
    if (l->stream)
        REAL(cuStreamSynchronize)(l->stream); /* a kernel may still run after an error, and uses the memory below */
    if (l->shared)
        REAL(cuMemFreeHost)(l->shared);
    for (unsigned i = 0; i < LAUNCHES; i++)
        if (l->launches[i].event)
            REAL(cuEventDestroy_v2)(l->launches[i].event);
    if (l->stream)
        REAL(cuStreamDestroy_v2)(l->stream);
    if (l->module)
        REAL(cuModuleUnload)(l->module);
    forget(l);
}

static CUresult give_keys(const struct looker *l, const char *name, const void *keys, size_t bytes)
{
    CUdeviceptr address = 0;
    size_t room = 0;
    CUresult result = REAL(cuModuleGetGlobal_v2)((void *)&address, (void *)&room, l->module, name);
    if (result == CUDA_SUCCESS && room != bytes)
        return CUDA_ERROR_UNKNOWN;
    if (result == CUDA_SUCCESS)
        result = REAL(cuMemcpyHtoDAsync_v2)(address, keys, bytes, l->stream);
    return result == CUDA_SUCCESS ? REAL(cuStreamSynchronize)(l->stream) : result;
}

/* Draws keys for this context alone, because no other process has to compute the same hashes. */
static CUresult make_keys(const struct looker *l)
{
    static struct keys keys; /* too large for a stack; with the lock */
    size_t got = 0;
    while (got < sizeof keys) {
        ssize_t more = getrandom((char *)&keys + got, sizeof keys - got, 0);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return CUDA_ERROR_OPERATING_SYSTEM;
        got += (size_t)more;
    }
    for (size_t i = 0; i < sizeof keys.numbers / sizeof *keys.numbers; i++)
        keys.numbers[i] &= PRIME;
    CUresult result = give_keys(l, "tessera_content_words", keys.words, sizeof keys.words);
    if (result == CUDA_SUCCESS)
        result = give_keys(l, "tessera_content_numbers", keys.numbers, sizeof keys.numbers);
    explicit_bzero(&keys, sizeof keys);
    return result;
}

static CUresult make(struct looker *l)
{
    CUresult result = REAL(cuModuleLoadData)(&l->module, tessera_content_ptx);
    if (result == CUDA_SUCCESS)
        result = REAL(cuModuleGetFunction)(&l->function, l->module, "tessera_content");
    if (result == CUDA_SUCCESS)
        result = REAL(cuStreamCreate)(&l->stream, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS)
        result = make_keys(l);
    for (unsigned i = 0; i < LAUNCHES && result == CUDA_SUCCESS; i++)
        result = REAL(cuEventCreate)(&l->launches[i].event, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS)
        result = REAL(cuMemHostAlloc)((void *)&l->shared, sizeof *l->shared,
                                      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    return result;
}

/* The lock serialises this with look_context_closing(). True: the kernel is loaded in the context. */
static bool prepare(struct looker *l, const void *context)
{
    if (l->context == context)
        return !l->refused;
    if (monotonic_ns() < l->again_ns)
        return false;
    pthread_mutex_lock(&lock);
    if (l->context)
        drop(l);
    CUresult result = make(l);
    bool full = result == CUDA_ERROR_OUT_OF_MEMORY; /* memory moves just when the device is full, so try again later */
    if (result != CUDA_SUCCESS) {
        report_failure(result, "memory cannot be examined, so all of it is copied");
        drop(l);
        l->refused = !full;
        l->again_ns = full ? monotonic_ns() + RETRY_NS : 0;
    }
    l->context = full ? NULL : (void *)(uintptr_t)context;
    pthread_mutex_unlock(&lock);
    return result == CUDA_SUCCESS;
}

/* Launches the kernel for the chunks that were taken, at most up to the end of the table of slots. */
static void launch(struct looker *l)
{
    unsigned from = l->launched % LOOKS, count = l->begun - l->launched;
    if (count > LOOKS - from)
        count = LOOKS - from;
    uint64_t *parts = l->shared->parts[from], *results = l->shared->results[from][0];
    void *arguments[] = {&parts,
                         &results}; /* unified addressing: pinned memory has the same address on host and device */
    unsigned at = l->last++ % LAUNCHES;
    CUresult result = REAL(cuLaunchKernel)(l->function, count * PARTS, 1, 1, THREADS, 1, 1, 0, l->stream, arguments,
                                           NULL);
    if (result == CUDA_SUCCESS)
        result = REAL(cuEventRecord)(l->launches[at].event, l->stream);
    if (result != CUDA_SUCCESS)
        REAL(cuStreamSynchronize)(l->stream); /* the kernel may run despite the error */
    l->launched += count;
    l->taken_bytes = 0;
    l->launches[at].end = l->launched;
    l->launches[at].result = result;
}

void look_flush(struct looker *l)
{
    while (l->launched != l->begun && l->last - l->first < LAUNCHES - 1)
        launch(l);
}

bool look_begin(struct looker *l, const void *context, struct chunk *chunk)
{
    CUdeviceptr address = chunk ? chunk_address(chunk) : 0;
    if ((chunk && (chunk_never_seen(chunk) || !address)) || l->begun - l->ended == LOOKS || !prepare(l, context))
        return false;
    unsigned at = l->begun++ % LOOKS;
    l->chunks[at] = chunk;
    for (unsigned i = 0; i < PARTS; i++) {
        l->shared->parts[at][i] = chunk && i < chunk->bytes / PART_BYTES ? address + i * PART_BYTES : 0;
        l->shared->results[at][i][0] = NOT_RUN;
    }
    l->taken_bytes += chunk ? chunk->bytes : 0;
    if (l->begun - l->launched >= BATCH || l->taken_bytes >= BATCH_BYTES)
        look_flush(l);
    return true;
}

/* Whether the oldest launch is complete; if so, records that. */
static bool reach(struct looker *l)
{
    if (l->first == l->last)
        return false;
    unsigned at = l->first % LAUNCHES;
    CUresult *result = &l->launches[at].result;
    if (*result == CUDA_SUCCESS)
        *result = REAL(cuEventQuery)(l->launches[at].event);
    if (*result == CUDA_ERROR_NOT_READY) {
        *result = CUDA_SUCCESS;
        return false;
    }
    if (*result != CUDA_SUCCESS)
        REAL(cuStreamSynchronize)(l->stream); /* after this the kernel writes no results any more */
    l->reached = l->launches[at].end;
    l->first++;
    report_failure(*result, "memory could not be examined, so all of it is copied");
    return true;
}

/* Reads the results that the kernel wrote for a chunk. */
static CUresult read_result(const struct looker *l, unsigned at, struct look *look)
{
    look->filled = 0;
    for (unsigned i = 0; look->chunk && i < look->chunk->bytes / PART_BYTES; i++) {
        const uint64_t *numbers = l->shared->results[at][i];
        if (numbers[0] == NOT_RUN)
            return CUDA_ERROR_UNKNOWN; /* the driver reported success, but did not run the kernel */
        memcpy(look->hashes[i].numbers, numbers, sizeof look->hashes[i].numbers);
        look->filled |= numbers[LINES] ? (unit_mask)1 << i : 0;
    }
    return CUDA_SUCCESS;
}

bool look_ended(struct looker *l, struct look *look, CUresult *result)
{
    if (l->ended == l->reached && !reach(l))
        return false;
    unsigned at = l->ended++ % LOOKS;
    look->chunk = l->chunks[at];
    *result = l->launches[(l->first - 1) % LAUNCHES].result;
    if (*result == CUDA_SUCCESS)
        *result = read_result(l, at, look);
    l->refused |= *result == CUDA_ERROR_UNKNOWN;
    return true;
}

void look_context_closing(const void *context)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < TESSERA_MAX_DEVICES; i++) {
        if (of_moves[i].context == context)
            forget(&of_moves[i]);
        if (of_samples[i].context == context)
            forget(&of_samples[i]);
    }
    pthread_mutex_unlock(&lock);
}

void look_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(of_moves, 0, sizeof of_moves);
    memset(of_samples, 0, sizeof of_samples);
}
