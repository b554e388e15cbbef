/*
 * Heat on a plate, by the CUDA driver API. Computes steps on the GPU for a number of seconds, then the same steps on the
 * CPU for a sample of rows' worth of plate, and compares: both use doubles and the same order of operations, so the
 * results must be equal but for the one fused multiplication that a GPU may make.
 *
 *   heat KERNEL.ptx SECONDS
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What this program uses of cuda.h. */
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
extern int cuInit(unsigned);
extern int cuDeviceGet(int *, int);
extern int cuDeviceGetName(char *, int, int);
extern int cuCtxCreate_v2(CUcontext *, unsigned, int);
extern int cuCtxDestroy_v2(CUcontext);
extern int cuModuleLoad(CUmodule *, const char *);
extern int cuModuleGetFunction(CUfunction *, CUmodule, const char *);
extern int cuMemAlloc_v2(CUdeviceptr *, size_t);
extern int cuMemFree_v2(CUdeviceptr);
extern int cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
extern int cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
extern int cuStreamCreate(CUstream *, unsigned);
extern int cuStreamSynchronize(CUstream);
extern int cuStreamDestroy_v2(CUstream);
extern int cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                          void **, void **);
extern int cuGetErrorName(int, const char **);

enum { WIDTH = 96, HEIGHT = 96, BLOCK = 16, STEPS_BETWEEN_LOOKS = 50 };

static void check(int result, const char *what)
{
    if (result == 0)
        return;
    const char *name = "?";
    cuGetErrorName(result, &name);
    fprintf(stderr, "heat: %s failed: %s (%d)\n", what, name, result);
    exit(1);
}
#define CHECK(call) check((call), #call)

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void step_on_the_cpu(const double *now, double *next)
{
    memcpy(next, now, sizeof(double) * WIDTH * HEIGHT);
    for (int y = 1; y < HEIGHT - 1; y++)
        for (int x = 1; x < WIDTH - 1; x++) {
            int i = y * WIDTH + x;
            double around = now[i - 1] + now[i + 1] + now[i - WIDTH] + now[i + WIDTH];
            next[i] = now[i] + 0.0625 * (around - 4.0 * now[i]);
        }
}

/* Largest difference from the same steps on the CPU. */
static double difference(const double *start, const double *result, long steps)
{
    static double a[WIDTH * HEIGHT], b[WIDTH * HEIGHT];
    double *now = a, *next = b, largest = 0;
    memcpy(now, start, sizeof a);
    for (long s = 0; s < steps; s++) {
        step_on_the_cpu(now, next);
        double *other = now;
        now = next;
        next = other;
    }
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        largest = fmax(largest, fabs(now[i] - result[i]));
    return largest;
}

static void run_steps(CUfunction kernel, CUstream stream, CUdeviceptr plate[2], int steps)
{
    int width = WIDTH, height = HEIGHT;
    for (int s = 0; s < steps; s++) {
        void *parameters[] = {&plate[s & 1], &plate[(s & 1) ^ 1], &width, &height};
        CHECK(cuLaunchKernel(kernel, WIDTH / BLOCK, HEIGHT / BLOCK, 1, BLOCK, BLOCK, 1, 0, stream, parameters, NULL));
    }
    CHECK(cuStreamSynchronize(stream));
}

/*
 * Waits for the other programs of `tessera demo` in the folder that DEMO_MEETING names: makes the file NAME there and waits
 * until the file `begin` is there, a minute at most. Returns at once where no folder is named.
 */
static void meet(const char *name)
{
    const char *folder = getenv("DEMO_MEETING");
    char mine[4096], begin[4096];
    if (!folder || snprintf(mine, sizeof mine, "%s/%s", folder, name) >= (int)sizeof mine ||
        snprintf(begin, sizeof begin, "%s/begin", folder) >= (int)sizeof begin)
        return;
    FILE *file = fopen(mine, "w");
    if (!file || fclose(file) != 0) {
        fprintf(stderr, "heat: %s cannot be made\n", mine);
        exit(1);
    }
    double until = seconds_now() + 60;
    struct timespec look = {.tv_nsec = 20000000};
    while (access(begin, F_OK) != 0 && seconds_now() < until)
        nanosleep(&look, NULL);
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "usage: heat KERNEL.ptx SECONDS\n");
        return 2;
    }
    static double start[WIDTH * HEIGHT], result[WIDTH * HEIGHT];
    for (int x = 0; x < WIDTH; x++)
        start[x] = 100.0;

    int device;
    char name[128];
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUstream stream;
    CUdeviceptr plate[2];
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CHECK(cuCtxCreate_v2(&context, 0, device));
    CHECK(cuModuleLoad(&module, arguments[1]));
    CHECK(cuModuleGetFunction(&kernel, module, "heat_step"));
    CHECK(cuMemAlloc_v2(&plate[0], sizeof start));
    CHECK(cuMemAlloc_v2(&plate[1], sizeof start));
    CHECK(cuMemcpyHtoD_v2(plate[0], start, sizeof start));
    CHECK(cuStreamCreate(&stream, 0));
    meet("heat");
    double until = seconds_now() + atof(arguments[2]);
    long steps = 0;
    do {
        run_steps(kernel, stream, plate, STEPS_BETWEEN_LOOKS);
        steps += STEPS_BETWEEN_LOOKS;
    } while (seconds_now() < until);
    CHECK(cuMemcpyDtoH_v2(result, plate[0], sizeof result));
    CHECK(cuStreamDestroy_v2(stream));
    CHECK(cuMemFree_v2(plate[0]));
    CHECK(cuMemFree_v2(plate[1]));
    CHECK(cuCtxDestroy_v2(context));

    double off = difference(start, result, steps);
    printf("heat: %ld steps of a %d x %d plate on %s, largest difference from the CPU %.2g: %s\n", steps, WIDTH, HEIGHT,
           name, off, off < 1e-9 ? "correct" : "WRONG");
    return off < 1e-9 ? 0 : 1;
}
