/*
 * Compares every answer of cuGetProcAddress with the driver's own.
 *     lookup DRIVER NAMES
 * NAMES is the driver's lookup.versions. For each name, version and flag: status and result must be the driver's, and
 * the pointer must be the export of ours that has the driver's symbol name; of what failed, the driver's.
 */
#include <dlfcn.h>
#include <string.h>

#include "check.h"
#include "cuda_calls.h"

typedef CUresult get_v1(const char *, void **, int, uint64_t);
typedef CUresult get_v2(const char *, void **, int, uint64_t, int *);
typedef CUresult get_table(const void **, const void *);

static void *ours, *driver;
static long asked, answered;

static const char *symbol_of(void *address)
{
    Dl_info info;
    CHECK(dladdr(address, &info) && info.dli_sname);
    return info.dli_sname;
}

static void compare(const char *name, int version, uint64_t flags)
{
    void *mine = &mine, *theirs = &theirs;
    int my_status = 7, their_status = 7;
    CUresult my_result = ((get_v2 *)dlsym(ours, "cuGetProcAddress_v2"))(name, &mine, version, flags, &my_status);
    CUresult their_result = ((get_v2 *)dlsym(driver, "cuGetProcAddress_v2"))(name, &theirs, version, flags,
                                                                             &their_status);
    asked++;
    if (my_result != their_result || my_status != their_status) {
        printf("%s %d %llu: %d/%d instead of %d/%d\n", name, version, (unsigned long long)flags, my_result, my_status,
               their_result, their_status);
        exit(1);
    }
    void *first = &first;
    CUresult first_result = ((get_v1 *)dlsym(ours, "cuGetProcAddress"))(name, &first, version, flags);
    CHECK(first_result == my_result && (my_result != 0 || first == mine));
    if (my_result != 0) {
        CHECK(mine == theirs);
        return;
    }
    if (mine != dlsym(ours, symbol_of(theirs))) {
        printf("%s %d %llu: the driver answers %s, ours something else than our export of it\n", name, version,
               (unsigned long long)flags, symbol_of(theirs));
        exit(1);
    }
    answered++;
}

static void must_be_ours(const char *name, int version, uint64_t flags)
{
    void *mine, *theirs;
    int status;
    OKAY(((get_v2 *)dlsym(ours, "cuGetProcAddress_v2"))(name, &mine, version, flags, &status));
    OKAY(((get_v2 *)dlsym(driver, "cuGetProcAddress_v2"))(name, &theirs, version, flags, &status));
    if (mine == theirs) {
        printf("%s %d is the driver's\n", name, version);
        exit(1);
    }
}

static void tables(void)
{
    static const char *const ids[] = {
        "\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9",
        "\xa0\x94\x79\x8c\x2e\x74\x2e\x74\x93\xf2\x08\x00\x20\x0c\x0a\x66",
        "\x42\xd8\x5a\x81\x23\xf6\xcb\x47\x82\x98\xf6\xe7\x8a\x3a\xec\xdc",
        "\xc6\x93\x33\x6e\x11\x21\xdf\x11\xa8\xc3\x68\xf3\x55\xd8\x95\x93",
        "\x26\x3e\x88\x60\x7c\xd2\x61\x43\x92\xf6\xbb\xd5\x00\x6d\xfa\x7e",
        "\xd4\x08\x20\x55\xbd\xe6\x70\x4b\x8d\x34\xba\x12\x3c\x66\xe1\xf2",
        "\x21\x31\x8c\x60\x97\x14\x32\x48\x8c\xa6\x41\xff\x73\x24\xc8\xf2",
        "\x17\x34\xdc\x26\x80\x0d\x47\x45\x87\x26\xc0\xf1\xe7\xdd\x8b\xca",
        "\x6e\x16\x3f\xbe\xb9\x58\x44\x4d\x83\x5c\xe1\x82\xaf\xf1\x99\x1e",
        "\xf8\xcf\xf9\x51\x21\x46\x8b\x4e\xb9\xe2\xfb\x46\x9e\x7c\x0d\xd9",
    };
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const void *mine = NULL, *theirs = NULL;
        CUresult my_result = ((get_table *)dlsym(ours, "cuGetExportTable"))(&mine, ids[i]);
        CUresult their_result = ((get_table *)dlsym(driver, "cuGetExportTable"))(&theirs, ids[i]);
        EQUAL(their_result, my_result);
        CHECK(mine == theirs);
        EQUAL(i == 9 ? 500 : 0, my_result);
        if (my_result == 0) { /* not even a word of it changed */
            const void *const *words = mine;
            Dl_info info;
            CHECK(dladdr(words[1], &info) && strstr(info.dli_fname, "scripted"));
        }
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    driver = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    ours = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(driver && ours && driver != ours);
    FILE *names = fopen(argv[2], "re");
    CHECK(names);
    char line[256], symbol[128], name[128];
    static const int versions[] = {2000,  3020,  4000,  6050,  7000,  8000,  10000, 10010, 11000, 11020,
                                   11030, 11040, 12000, 12020, 12030, 12050, 12080, 13000, 13030};
    while (fgets(line, sizeof line, names))
        if (sscanf(line, "%127s %127s", symbol, name) == 2 && symbol[0] == 'c')
            for (size_t v = 0; v < sizeof versions / sizeof versions[0]; v++)
                for (uint64_t flags = 0; flags < 3; flags++)
                    compare(name, versions[v], flags);
    compare("cuNoSuchThing", 13000, 0);
    compare("", 0, 0);
    EQUAL(500, ((get_v2 *)dlsym(ours, "cuGetProcAddress_v2"))("", NULL, 0, 0, NULL));
    static const char *const wanted[] = {"cuInit",
                                         "cuMemAlloc",
                                         "cuMemFree",
                                         "cuMemGetInfo",
                                         "cuLaunchKernel",
                                         "cuLaunchKernelEx",
                                         "cuGraphLaunch",
                                         "cuMemcpyHtoDAsync",
                                         "cuMemsetD8",
                                         "cuLaunchHostFunc",
                                         "cuCtxSynchronize",
                                         "cuGetProcAddress",
                                         "cuDevicePrimaryCtxRetain",
                                         "cuMemAllocAsync",
                                         "cuStreamBeginCapture",
                                         "cuDeviceGetName",
                                         "cuCtxGetDevice",
                                         "cuKernelGetAttribute",
                                         "cuEventQuery"};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        for (uint64_t flags = 0; flags < 3; flags += 2)
            must_be_ours(wanted[i], 13000, flags);
    tables();
    printf("asked %ld answered %ld\n", asked, answered);
    return 0;
}
