#include "relay/entry/profiler.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "session/report.h"

/*
 * Each names a library to load: CUDA loads the first at its start (Nsight Compute, compute-sanitizer), NVTX loads the second
 * (Nsight Systems).
 */
static const char *const variables[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};

/*
 * CUPTI and libraries built on it. That one is loaded means nothing: PyTorch is linked with CUPTI, and uses it only while it
 * takes a profile.
 */
static const char *const libraries[] = {"libcupti.so", "libcuinj64.so", "libnvperf_host.so", "libToolsInjection"};

static void say(void)
{
    static int said;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_ACQ_REL))
        report_line("a profiler sees no kernels of a program in space sharing: they run in the executor; use --share time "
                    "for profiling");
}

void profiler_look(void)
{
    for (unsigned i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value && value[0])
            say();
    }
}

void profiler_asked(const void *caller)
{
    Dl_info info;
    if (!dladdr(caller, &info) || !info.dli_fname)
        return;
    const char *slash = strrchr(info.dli_fname, '/');
    const char *name = slash ? slash + 1 : info.dli_fname;
    for (unsigned i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
            say();
}
