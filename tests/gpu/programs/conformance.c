/*
 * Runs the software GPU's conformance cases on the driver's first GPU and says as one JSON object where the two differ.
 *
 *   conformance FILE [EVERY]     FILE as io.tessera.software.conformance.ConformanceExport writes it; every EVERYth case
 *
 * The exit status is 0 where all cases ran, also where some differ: that is the answer, not an error.
 */
#include "closeness.h"
#include "driver.h"

enum { MAGIC = 0x31435354, SLOT = 8, BLOCK = 128, MISMATCHES = 40, MISMATCHES_OF_CASE = 2, RESULTS = 4 };

struct bytes {
    const unsigned char *start;
    uint32_t length;
};

struct test_case {
    struct bytes name, ptx, types, input, expected;
    enum tolerance kind;
    double bound;
    uint32_t sources, records, results;
    const struct type *type[RESULTS];
};

struct counts {
    struct bytes name;
    unsigned cases, failed, refused;
    uint64_t values, different;
    double worst;
};

static const unsigned char *file, *file_end;
static struct bytes *inputs;
static uint32_t input_count;
static struct counts all, kinds[TOLERANCES], *instructions;
static unsigned instruction_count, shown;

static void fail(const char *what)
{
    fprintf(stderr, "conformance: %s\n", what);
    exit(1);
}

static void read_file(const char *path)
{
    FILE *stream = fopen(path, "rb");
    if (!stream || fseek(stream, 0, SEEK_END) != 0)
        fail("the file cannot be read");
    long size = ftell(stream);
    unsigned char *content = malloc((size_t)size + 1);
    rewind(stream);
    if (!content || fread(content, 1, (size_t)size, stream) != (size_t)size)
        fail("the file cannot be read");
    fclose(stream);
    file = content;
    file_end = content + size;
}

static void take(void *value, size_t length)
{
    if ((size_t)(file_end - file) < length)
        fail("the file ends early");
    memcpy(value, file, length);
    file += length;
}

static uint32_t number(void)
{
    uint32_t value;
    take(&value, sizeof value);
    return value;
}

static struct bytes bytes(void)
{
    struct bytes value = {NULL, number()};
    if ((size_t)(file_end - file) < value.length)
        fail("the file ends early");
    value.start = file;
    file += value.length;
    return value;
}

static void read_inputs(void)
{
    if (number() != MAGIC)
        fail("the file holds no conformance cases of this version");
    input_count = number();
    inputs = calloc(input_count, sizeof *inputs);
    if (!inputs)
        fail("no memory");
    for (uint32_t i = 0; i < input_count; i++)
        inputs[i] = bytes();
}

static struct test_case read_case(void)
{
    struct test_case one = {0};
    one.name = bytes();
    one.ptx = bytes();
    one.types = bytes();
    one.kind = (enum tolerance)number();
    take(&one.bound, sizeof one.bound);
    uint32_t input = number();
    one.sources = number();
    one.records = number();
    one.results = number();
    one.expected = bytes();
    if (input >= input_count || one.kind >= TOLERANCES || one.results > RESULTS ||
        one.expected.length != one.records * one.results * SLOT ||
        inputs[input].length < one.records * one.sources * SLOT)
        fail("the file is damaged");
    one.input = inputs[input];
    const char *token = (const char *)one.types.start, *end = token + one.types.length;
    for (uint32_t i = 0; i < one.results && token < end; i++) {
        const char *comma = memchr(token, ',', (size_t)(end - token));
        size_t length = (size_t)((comma ? comma : end) - token);
        one.type[i] = float_type(token, length);
        token += length + 1;
    }
    return one;
}

static const char *error_name(int result)
{
    const char *name = "?";
    cuGetErrorName(result, &name);
    return name;
}

/* Runs a case; returns 0 and its output, or the error of the call that refused it. */
static int run(const struct test_case *one, unsigned char *output)
{
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr in, out;
    char *text = malloc(one->ptx.length + 1);
    if (!text)
        fail("no memory");
    memcpy(text, one->ptx.start, one->ptx.length);
    text[one->ptx.length] = 0;
    int result = cuModuleLoadData(&module, text);
    free(text);
    if (result != 0)
        return result;
    result = cuModuleGetFunction(&kernel, module, "run");
    if (result == 0) {
        uint32_t records = one->records;
        void *parameters[] = {&in, &out, &records};
        CHECK(cuMemAlloc_v2(&in, one->input.length));
        CHECK(cuMemAlloc_v2(&out, one->expected.length));
        CHECK(cuMemcpyHtoD_v2(in, one->input.start, one->input.length));
        CHECK(cuMemsetD8Async(out, 0, one->expected.length, NULL));
        CHECK(cuLaunchKernel(kernel, (records + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, parameters, NULL));
        result = cuCtxSynchronize();
        if (result == 0)
            CHECK(cuMemcpyDtoH_v2(output, out, one->expected.length));
        else
            fprintf(stderr, "conformance: %.*s: %s\n", (int)one->name.length, (const char *)one->name.start,
                    error_name(result));
        CHECK(cuMemFree_v2(in));
        CHECK(cuMemFree_v2(out));
    }
    CHECK(cuModuleUnload(module));
    return result;
}

static uint64_t slot(const unsigned char *slots, uint32_t index)
{
    uint64_t value;
    memcpy(&value, slots + (size_t)index * SLOT, sizeof value);
    return value;
}

static void show(const struct test_case *one, uint32_t record, uint32_t result, uint64_t wanted, uint64_t found)
{
    printf("%s{\"case\":\"%.*s\",\"record\":%u,\"result\":%u,\"inputs\":[", shown++ ? "," : "", (int)one->name.length,
           (const char *)one->name.start, record, result);
    for (uint32_t i = 0; i < one->sources; i++)
        printf("%s\"0x%lx\"", i ? "," : "", slot(one->input.start, record * one->sources + i));
    printf("],\"expected\":\"0x%lx\",\"got\":\"0x%lx\"}", wanted, found);
}

/* Compares all values of a case and prints the first that differ. */
static struct counts judge(const struct test_case *one, const unsigned char *output)
{
    struct counts found = {.name = one->name, .cases = 1};
    for (uint32_t record = 0; record < one->records; record++) {
        for (uint32_t result = 0; result < one->results; result++) {
            uint32_t index = record * one->results + result;
            uint64_t wanted = slot(one->expected.start, index), value = slot(output, index);
            double error = distance(one->type[result], one->kind, one->bound, wanted, value);
            found.values++;
            if (error > found.worst)
                found.worst = error;
            if (error <= 1)
                continue;
            if (found.different++ < MISMATCHES_OF_CASE && shown < MISMATCHES)
                show(one, record, result, wanted, value);
        }
    }
    found.failed = found.different > 0;
    return found;
}

/* The counts of a case's instruction: its name up to the first dot. */
static struct counts *instruction(struct bytes name)
{
    const unsigned char *dot = memchr(name.start, '.', name.length);
    if (dot)
        name.length = (uint32_t)(dot - name.start);
    for (unsigned i = 0; i < instruction_count; i++)
        if (instructions[i].name.length == name.length &&
            memcmp(instructions[i].name.start, name.start, name.length) == 0)
            return &instructions[i];
    instructions[instruction_count].name = name;
    return &instructions[instruction_count++];
}

static void add(struct counts *to, const struct counts *more)
{
    to->cases += more->cases;
    to->failed += more->failed;
    to->refused += more->refused;
    to->values += more->values;
    to->different += more->different;
    if (more->worst > to->worst)
        to->worst = more->worst;
}

/* The fields of counts; the largest error is left out where no bound allows it. */
static void print_counts(const struct counts *of)
{
    printf("\"cases\":%u,\"passed\":%u,\"failed\":%u,\"refused\":%u,\"values\":%lu,\"different\":%lu", of->cases,
           of->cases - of->failed - of->refused, of->failed, of->refused, of->values, of->different);
    if (!isinf(of->worst))
        printf(",\"worst\":%.4g", of->worst);
}

static void print_named(const char *field, const struct counts *of, unsigned count)
{
    printf(",\"%s\":[", field);
    for (unsigned i = 0; i < count; i++) {
        printf("%s{\"name\":\"%.*s\",", i ? "," : "", (int)of[i].name.length, (const char *)of[i].name.start);
        print_counts(&of[i]);
        printf("}");
    }
    printf("]");
}

/* Runs a case and keeps its counts in *found; prints its differences. */
static void run_and_judge(const struct test_case *one, struct counts *found)
{
    unsigned char *output = malloc(one->expected.length);
    if (!output)
        fail("no memory");
    int result = run(one, output);
    if (result == 0) {
        *found = judge(one, output);
    } else {
        *found = (struct counts){.name = one->name, .cases = 1, .refused = 1};
        fprintf(stderr, "conformance: %.*s: refused: %s\n", (int)one->name.length, (const char *)one->name.start,
                error_name(result));
    }
    free(output);
}

static void run_all(uint32_t every)
{
    uint32_t count = number();
    struct counts *troubled = calloc(count, sizeof *troubled);
    unsigned troubles = 0;
    instructions = calloc(count, sizeof *instructions);
    if (!troubled || !instructions)
        fail("no memory");
    printf("{\"mismatches\":[");
    for (uint32_t i = 0; i < count; i++) {
        struct test_case one = read_case();
        struct counts found;
        if (i % every != 0)
            continue;
        run_and_judge(&one, &found);
        add(&all, &found);
        add(&kinds[one.kind], &found);
        add(instruction(one.name), &found);
        if (found.failed || found.refused)
            troubled[troubles++] = found;
    }
    printf("],");
    print_counts(&all);
    print_named("tolerances", kinds, TOLERANCES);
    print_named("instructions", instructions, instruction_count);
    print_named("notPassed", troubled, troubles);
    free(troubled);
}

int main(int count, char **arguments)
{
    static const char *const KIND_NAMES[] = {"exact", "ulps", "relative", "absolute"};
    unsigned long every = count > 2 ? strtoul(arguments[2], NULL, 10) : 1;
    int device;
    CUcontext context;
    if (count < 2 || every == 0 || every > UINT32_MAX)
        fail("usage: conformance FILE [EVERY]");
    for (int i = 0; i < TOLERANCES; i++)
        kinds[i].name = (struct bytes){(const unsigned char *)KIND_NAMES[i], (uint32_t)strlen(KIND_NAMES[i])};
    read_file(arguments[1]);
    read_inputs();
    int64_t begin = now_ns();
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    run_all((uint32_t)every);
    printf(",\"seconds\":%.1f}\n", (double)(now_ns() - begin) / 1e9);
    return 0;
}
