/* Many threads submit at once; many more come and go; and more than there are slots live at the same time. */
#include <pthread.h>
#include <string.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

static void *context, *function;
static pthread_barrier_t barrier;

static void launch(void *stream)
{
    OKAY(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
}

static void *submits(void *count)
{
    void *stream;
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < *(int *)count; i++)
        launch(stream);
    OKAY(cuStreamSynchronize(stream));
    OKAY(cuStreamDestroy_v2(stream));
    return NULL;
}

static void *stays(void *count)
{
    OKAY(cuCtxSetCurrent(context));
    launch(NULL);
    pthread_barrier_wait(&barrier);
    for (int i = 1; i < *(int *)count; i++)
        launch(NULL);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void run(int threads, void *(*body)(void *), int count)
{
    pthread_t t[400];
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 128 * 1024);
    CHECK(threads <= 400);
    OKAY(pthread_barrier_init(&barrier, NULL, (unsigned)threads));
    for (int i = 0; i < threads; i++)
        OKAY(pthread_create(&t[i], &a, body, &count));
    for (int i = 0; i < threads; i++)
        OKAY(pthread_join(t[i], NULL));
}

int main(int argc, char **argv)
{
    void *module;
    CHECK(argc == 2);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuModuleLoadData(&module, "image"));
    OKAY(cuModuleGetFunction(&function, module, "quick"));
    if (strcmp(argv[1], "together") == 0)
        run(64, submits, 200); /* 12800 launches */
    else if (strcmp(argv[1], "in-turn") == 0)
        for (int i = 0; i < 40; i++)
            run(20, submits, 5); /* 800 threads, 4000 launches */
    else
        run(300, stays, 10); /* 3000 launches, more threads at once than slots */
    OKAY(cuCtxSynchronize());
    printf("done\n");
    fflush(stdout);
    getchar(); /* the counters stay until the test has read them */
    return 0;
}
