#include "measure.h"

#include <string.h>

#include "images.h"

enum { TARGET_MICROSECONDS = 300, MOST_LAUNCHES = 20 };

/* Where a case's buffers are: in the window, as they were at first, and as the original left them. */
struct data {
    CUdeviceptr at[MOST_ARGUMENTS], first[MOST_ARGUMENTS], expected[MOST_ARGUMENTS];
    int changes[MOST_ARGUMENTS];
    void *parameters[MOST_ARGUMENTS];
    uint64_t values[MOST_ARGUMENTS];
};

void device_open(struct device *device, const char *folder)
{
    char path[4096], text[8192];
    int number;
    CUcontext context;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&number, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, number));
    CHECK(cuCtxSetCurrent(context));
    window_open(&device->window, number);
    snprintf(path, sizeof path, "%s/compare.ptx", folder);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = 0;
    if (file)
        fclose(file);
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&device->compare, module, "compareWords"));
    CHECK(cuMemAlloc_v2(&device->count, 8));
    CHECK(cuStreamCreate(&device->stream, 1 /* non-blocking */));
    CHECK(cuEventCreate(&device->begin, 0));
    CHECK(cuEventCreate(&device->end, 0));
}

int form_load(struct device *device, struct form *form, const char *folder, const char *file, const char *kernel)
{
    char path[4096];
    if (!image_load(&form->module, &form->library, folder, file, form->mode))
        return 0;
    CHECK(cuModuleGetFunction(&form->function, form->module, kernel));
    CHECK(cuFuncGetAttribute(&form->registers, FUNCTION_REGISTERS, form->function));
    CHECK(cuFuncGetAttribute(&form->localBytes, FUNCTION_LOCAL_BYTES, form->function));
    if (!image_is_original(form->mode)) {
        snprintf(path, sizeof path, "%s/%s.%s.variables", folder, file, form->mode);
        window_fill(&device->window, form->module, form->mode, path);
    }
    return 1;
}

static void place(struct device *device, const struct fenced_case *what, struct data *data)
{
    for (int i = 0; i < what->arguments; i++) {
        const struct argument *argument = &what->argument[i];
        data->values[i] = argument->value;
        data->parameters[i] = &data->values[i];
        if (!argument->bytes)
            continue;
        void *host = calloc(1, argument->span);
        if (!host)
            exit(2);
        case_fill(argument, i, host);
        data->at[i] = window_take(&device->window, argument->span);
        CHECK(cuMemAlloc_v2(&data->first[i], argument->span));
        CHECK(cuMemAlloc_v2(&data->expected[i], argument->span));
        CHECK(cuMemcpyHtoD_v2(data->first[i], host, argument->span));
        CHECK(cuCtxSynchronize());
        CHECK(cuMemcpyDtoDAsync_v2(data->at[i], data->first[i], argument->span, device->stream));
        data->values[i] = data->at[i];
        free(host);
    }
}

static unsigned long long differences(struct device *device, CUdeviceptr left, CUdeviceptr right, size_t bytes)
{
    unsigned long long words = bytes / 4, found = 0;
    void *parameters[] = {&left, &right, &words, &device->count};
    CHECK(cuMemsetD8Async(device->count, 0, 8, device->stream));
    CHECK(cuLaunchKernel(device->compare, 1024, 1, 1, 256, 1, 1, 0, device->stream, parameters, NULL));
    CHECK(cuStreamSynchronize(device->stream));
    CHECK(cuMemcpyDtoH_v2(&found, device->count, 8));
    return found;
}

static void restore(struct device *device, const struct fenced_case *what, const struct data *data)
{
    for (int i = 0; i < what->arguments; i++)
        if (data->changes[i])
            CHECK(cuMemcpyDtoDAsync_v2(data->at[i], data->first[i], what->argument[i].span, device->stream));
}

static float run(struct device *device, const struct fenced_case *what, struct data *data, const struct form *form,
                 int launches)
{
    float milliseconds;
    CHECK(cuEventRecord(device->begin, device->stream));
    for (int i = 0; i < launches; i++)
        CHECK(cuLaunchKernel(form->function, what->grid[0], what->grid[1], what->grid[2], what->block[0],
                             what->block[1], what->block[2], what->shared, device->stream, data->parameters, NULL));
    CHECK(cuEventRecord(device->end, device->stream));
    CHECK(cuEventSynchronize(device->end));
    CHECK(cuEventElapsedTime(&milliseconds, device->begin, device->end));
    return milliseconds * 1000 / (float)launches;
}

/* The original's results, and which buffers it changes. A case that changes none measures nothing. */
static void expect(struct device *device, const struct fenced_case *what, struct data *data, const struct form *original)
{
    int changed = 0;
    run(device, what, data, original, 1);
    for (int i = 0; i < what->arguments; i++)
        if (what->argument[i].bytes) {
            data->changes[i] = differences(device, data->at[i], data->first[i], what->argument[i].span) != 0;
            changed += data->changes[i];
            CHECK(cuMemcpyDtoDAsync_v2(data->expected[i], data->at[i], what->argument[i].span, device->stream));
        }
    if (!changed) {
        fprintf(stderr, "%s changes nothing\n", what->kernel);
        exit(2);
    }
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

void measure(struct device *device, const struct fenced_case *what, struct form *forms, int count, int rounds)
{
    struct data data = {0};
    place(device, what, &data);
    expect(device, what, &data, &forms[0]);
    for (int f = 0; f < count; f++) {
        restore(device, what, &data);
        run(device, what, &data, &forms[f], 1);
        for (int i = 0; i < what->arguments; i++)
            if (what->argument[i].bytes && what->argument[i].compared)
                forms[f].differences += differences(device, data.at[i], data.expected[i], what->argument[i].span);
        forms[f].violations = window_violations(&device->window);
    }
    restore(device, what, &data);
    float once = run(device, what, &data, &forms[0], 1);
    int launches = once > TARGET_MICROSECONDS ? 1 : (int)(TARGET_MICROSECONDS / (once + 1)) + 1;
    launches = launches > MOST_LAUNCHES ? MOST_LAUNCHES : launches;
    for (int r = 0; r < rounds; r++)
        for (int f = 0; f < count; f++) {
            struct form *form = &forms[(r + f) % count];
            restore(device, what, &data);
            form->times[r] = run(device, what, &data, form, launches);
        }
    for (int f = 0; f < count; f++) {
        qsort(forms[f].times, (size_t)rounds, sizeof(float), ascending);
        forms[f].microseconds = forms[f].times[rounds / 2];
    }
    for (int i = 0; i < what->arguments; i++)
        if (what->argument[i].bytes) {
            CHECK(cuMemFree_v2(data.first[i]));
            CHECK(cuMemFree_v2(data.expected[i]));
        }
}
