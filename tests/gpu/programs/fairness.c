/*
 * What the round trips of paced clients cost while another client floods its ring, as one JSON object on stdout. Every
 * client is a process of its own, started by this one before it has called the driver.
 *
 *   fairness [CLIENTS [SECONDS]]    paced clients (default 7) and seconds a phase (default 3)
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_constants.h"
#include "driver.h"

extern int cuEventDestroy_v2(CUevent);

enum { MOST_CLIENTS = 64, MOST_SAMPLES = 200000, PAUSE_NS = 200000, WARM_UP = 500 };

static const char KERNEL[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry touch(.param .u64 p)\n{ ret; }\n";

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void enter(void)
{
    int device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
}

/* A call with a reply that costs the driver little and waits for no work: what is left is the way there and back. */
static void round_trip(void)
{
    CUevent event;
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CHECK(cuEventDestroy_v2(event));
}

/* Prints median and 99th percentile in nanoseconds. */
static int paced(double seconds)
{
    static int64_t samples[MOST_SAMPLES];
    int count = 0;
    enter();
    for (int i = 0; i < WARM_UP; i++)
        round_trip();
    int64_t until_ns = now_ns() + (int64_t)(seconds * 1e9);
    while (count < MOST_SAMPLES && now_ns() < until_ns) {
        int64_t begin = now_ns();
        round_trip();
        samples[count++] = now_ns() - begin;
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    }
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    printf("%ld %ld\n", (long)samples[count / 2], (long)samples[count * 99 / 100]);
    return 0;
}

static int flood(double seconds)
{
    CUmodule module;
    CUfunction kernel;
    CUstream stream;
    CUdeviceptr cell = 0;
    long launches = 0;
    void *parameters[] = {&cell};
    enter();
    CHECK(cuModuleLoadData(&module, KERNEL));
    CHECK(cuModuleGetFunction(&kernel, module, "touch"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int64_t until_ns = now_ns() + (int64_t)(seconds * 1e9); now_ns() < until_ns; launches++)
        CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    CHECK(cuStreamSynchronize(stream));
    printf("%ld 0\n", launches);
    return 0;
}

static FILE *start(const char *role, double seconds)
{
    char text[32];
    int ends[2];
    snprintf(text, sizeof text, "%g", seconds);
    if (pipe(ends) != 0)
        exit(1);
    if (fork() == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", "fairness", role, text, (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    return fdopen(ends[0], "r");
}

struct trips {
    long median_ns, worst_median_ns, worst_p99_ns, launches;
};

static void read_pair(FILE *from, long *first, long *second)
{
    if (!from || fscanf(from, "%ld %ld", first, second) != 2) {
        fprintf(stderr, "a client ended without a figure\n");
        exit(1);
    }
    fclose(from);
}

static struct trips phase(int clients, double seconds, int flooded)
{
    FILE *output[MOST_CLIENTS], *flooding = NULL;
    int64_t medians[MOST_CLIENTS];
    struct trips trips = {0};
    long none;
    if (flooded) {
        flooding = start("--flood", seconds + 2);
        sleep(1); /* the others meet a full ring */
    }
    for (int i = 0; i < clients; i++)
        output[i] = start("--paced", seconds);
    for (int i = 0; i < clients; i++) {
        long median, p99;
        read_pair(output[i], &median, &p99);
        medians[i] = median;
        trips.worst_p99_ns = p99 > trips.worst_p99_ns ? p99 : trips.worst_p99_ns;
    }
    if (flooding)
        read_pair(flooding, &trips.launches, &none);
    while (wait(NULL) > 0)
        continue;
    qsort(medians, (size_t)clients, sizeof *medians, ascending);
    trips.median_ns = (long)medians[clients / 2];
    trips.worst_median_ns = (long)medians[clients - 1];
    return trips;
}

int main(int count, char **arguments)
{
    if (count == 3 && strcmp(arguments[1], "--paced") == 0)
        return paced(strtod(arguments[2], NULL));
    if (count == 3 && strcmp(arguments[1], "--flood") == 0)
        return flood(strtod(arguments[2], NULL));
    int clients = count > 1 ? atoi(arguments[1]) : 7;
    double seconds = count > 2 ? strtod(arguments[2], NULL) : 3;
    if (clients < 1 || clients > MOST_CLIENTS || seconds <= 0)
        return 2;
    phase(clients, 1, 0); /* what is compiled, loaded and started at the first use */
    struct trips calm = phase(clients, seconds, 0), flooded = phase(clients, seconds, 1);
    printf("{\"clients\":%d,\"calmNs\":%ld,\"calmWorstNs\":%ld,\"calmP99Ns\":%ld,\"floodedNs\":%ld,\"floodedWorstNs\":%ld,"
           "\"floodedP99Ns\":%ld,\"ratio\":%.2f,\"worstRatio\":%.2f,\"floodLaunches\":%ld}\n",
           clients, calm.median_ns, calm.worst_median_ns, calm.worst_p99_ns, flooded.median_ns, flooded.worst_median_ns,
           flooded.worst_p99_ns, (double)flooded.median_ns / (double)calm.median_ns,
           (double)flooded.worst_median_ns / (double)calm.worst_median_ns, flooded.launches);
    return 0;
}
