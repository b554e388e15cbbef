/*
 * Which entries are found in the vendor's library, what stands in for those that are not, and which of the vendor's addresses
 * lookups replace by ours. The test plays the loader: it defines dlsym, counts its calls, and refuses some. Each case is a process.
 */
#include "driver/lookup.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "driver/driver.h"
#include "driver/loader.h"
#include "driver/user.h"
#include "tessera_entries.h"

#define LIBRARY ((void *)0x10)
#define ADDRESS(entry) ((void *)(0x7f0000000000 + 64 * (uintptr_t)(entry)))

static bool installed;                            /* the driver is on this machine */
static const char *named = "/opt/driver/libcuda"; /* by the user; "": the driver is looked for */
static const char *wrong = "";                    /* what the user has set wrong */
static bool lacks[TESSERA_ENTRY_COUNT];
static unsigned other_name[TESSERA_ENTRY_COUNT]; /* the entry whose address this one has, plus one */
static unsigned opens, symbols, lines, counts;
static char line[600];
static pthread_mutex_t loader_lock; /* recursive, as glibc's */
static __thread bool held_by_caller;
static unsigned waiting; /* threads that wait for the loader's lock */

static unsigned entry_of(const char *name)
{
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++)
        if (strcmp(tessera_entry_name[i], name) == 0)
            return i;
    CHECK(false);
    return 0;
}

void *dlsym(void *library, const char *name)
{
    CHECK(library == LIBRARY);
    if (!held_by_caller)
        __atomic_fetch_add(&waiting, 1, __ATOMIC_RELEASE);
    pthread_mutex_lock(&loader_lock);
    unsigned entry = entry_of(name);
    symbols++;
    pthread_mutex_unlock(&loader_lock);
    return lacks[entry] ? NULL : ADDRESS(other_name[entry] ? other_name[entry] - 1 : entry);
}

static void *open_driver(const char *path, int mode)
{
    CHECK(mode == (RTLD_NOW | RTLD_LOCAL) && strcmp(path, named) == 0);
    opens++;
    return installed ? LIBRARY : NULL;
}

static const char *library(void)
{
    return named;
}

static const char *what_is_wrong(void)
{
    return wrong;
}

static void say(const char *text)
{
    snprintf(line, sizeof line, "%s", text);
    lines++;
}

static void count(int code, const char *text)
{
    CHECK(code == CUDA_ERROR_NOT_SUPPORTED);
    snprintf(line, sizeof line, "%s", text);
    counts++;
}

static const struct driver_user user = {.library = library, .wrong = what_is_wrong, .say = say, .count = count};
DRIVER_USED_BY(user)

static CUresult initialise(void)
{
    return REAL(cuInit)(0);
}

/* Calls report that there is no device, the user gets one line, and a driver that appears later is used. */
static void no_driver(void)
{
    CHECK(initialise() == CUDA_ERROR_NO_DEVICE && opens == 1 && lines == 1 && strstr(line, "cannot be opened"));
    CHECK(initialise() == CUDA_ERROR_NO_DEVICE && opens == 2 && lines == 1 && !driver_handle());
    void *stub = tessera_real[ENTRY_cuInit];
    driver_look_up_all();
    CHECK(tessera_real[ENTRY_cuInit] == stub && symbols == 0);
    installed = true;
    driver_look_up_all();
    CHECK(tessera_real[ENTRY_cuInit] == ADDRESS(ENTRY_cuInit) && symbols == TESSERA_ENTRY_COUNT);
    CHECK(lookup_substitute(ADDRESS(ENTRY_cuInit)) == tessera_exported[ENTRY_cuInit] && lines == 1);
}

static void driver_is_not_found(void)
{
    named = "";
    CHECK(setenv("LD_LIBRARY_PATH", "", 1) == 0);
    if (!driver_handle()) /* on a machine without one */
        CHECK(opens == 0 && lines == 1 && strstr(line, "no NVIDIA driver (libcuda.so.1) was found"));
}

static void user_is_wrong(void)
{
    wrong = "TESSERA_PLAN=none is no plan";
    CHECK(initialise() == CUDA_ERROR_SYSTEM_NOT_READY && lines == 1 &&
          strcmp(line, "TESSERA_PLAN=none is no plan; CUDA is refused") == 0);
    CHECK(initialise() == CUDA_ERROR_SYSTEM_NOT_READY && lines == 1);
}

/* An entry is looked up at its first call, and no other with it. Without a port, calls of the exported entry go there, too. */
static void one_entry(void)
{
    installed = true;
    CHECK(tessera_resolve(ENTRY_cuInit) == ADDRESS(ENTRY_cuInit) && symbols == 1 && opens == 1);
    CHECK(tessera_real[ENTRY_cuInit] == ADDRESS(ENTRY_cuInit));
    CHECK(tessera_choose(ENTRY_cuMemFree_v2) == ADDRESS(ENTRY_cuMemFree_v2) && symbols == 2 && opens == 1);
    tessera_port[ENTRY_cuDeviceGet] = tessera_first[ENTRY_cuDeviceGet]; /* passed on, as a port says */
    CHECK(tessera_resolve(ENTRY_cuDeviceGet) == tessera_port[ENTRY_cuDeviceGet]);
    tessera_port[ENTRY_cuDeviceGetCount] = (void *)initialise; /* a hook stays */
    CHECK(tessera_resolve(ENTRY_cuDeviceGetCount) != tessera_port[ENTRY_cuDeviceGetCount]);
}

/* Each entry is absent once: its calls answer NOT_SUPPORTED, and it is counted by name. All others are unchanged. */
static void each_is_absent(void)
{
    installed = true;
    for (unsigned entry = 0; entry < TESSERA_ENTRY_COUNT; entry++) {
        lacks[entry] = true;
        CUresult (*call)(void) = (CUresult(*)(void))tessera_resolve(entry);
        CHECK(call() == CUDA_ERROR_NOT_SUPPORTED && counts == entry + 1 && strstr(line, tessera_entry_name[entry]));
        CHECK(tessera_real[entry] == (void *)call);
    }
    driver_look_up_all();
    CHECK(lookup_substitute(ADDRESS(ENTRY_cuInit)) == ADDRESS(ENTRY_cuInit) && counts == TESSERA_ENTRY_COUNT);
}

static void substitutes(void)
{
    installed = true;
    unsigned lacking = ENTRY_cuMemFree_v2, hooked = ENTRY_cuMemAlloc_v2, passed = ENTRY_cuDeviceGet;
    lacks[lacking] = true;
    CHECK(tessera_entry_hooked[hooked] && !tessera_entry_hooked[passed]);
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++)
        CHECK(lookup_substitute(ADDRESS(i)) == (i == lacking ? ADDRESS(i) : tessera_exported[i]));
    CHECK(symbols == TESSERA_ENTRY_COUNT && opens == 1 && lines == 0 && counts == 0);
    CHECK(!lookup_substitute(NULL) && lookup_substitute((void *)(uintptr_t)1) == (void *)(uintptr_t)1);
    CHECK(lookup_substitute((char *)ADDRESS(hooked) + 1) == (char *)ADDRESS(hooked) + 1);
    for (unsigned i = TESSERA_ENTRY_COUNT; i < 8 * TESSERA_ENTRY_COUNT; i++) /* what only the driver knows */
        CHECK(lookup_substitute(ADDRESS(i)) == ADDRESS(i));
}

/* One function under two names, of which we wrap one: every lookup answers the wrapper. */
static void two_names(void)
{
    installed = true;
    unsigned hooked = ENTRY_cuMemAlloc_v2;
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++)
        if (!tessera_entry_hooked[i])
            other_name[i] = hooked + 1;
    CHECK(lookup_substitute(ADDRESS(hooked)) == tessera_exported[hooked]);
}

static void *look_up(void *unused)
{
    (void)unused;
    CHECK(lookup_substitute(ADDRESS(ENTRY_cuInit)) == tessera_exported[ENTRY_cuInit]);
    return NULL;
}

/* A constructor runs with the loader's lock, and looks an entry up while another thread's first lookup waits for that lock. */
static void in_a_constructor(void)
{
    pthread_t other;
    installed = true;
    pthread_mutex_lock(&loader_lock);
    held_by_caller = true;
    CHECK(pthread_create(&other, NULL, look_up, NULL) == 0);
    while (!__atomic_load_n(&waiting, __ATOMIC_ACQUIRE))
        usleep(1000);
    look_up(NULL);
    pthread_mutex_unlock(&loader_lock);
    CHECK(pthread_join(other, NULL) == 0);
}

int main(void)
{
    void (*const cases[])(void) = {no_driver,      driver_is_not_found, user_is_wrong, one_entry,
                                   each_is_absent, substitutes,         two_names,     in_a_constructor};
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&loader_lock, &recursive);
    tessera_next_dlopen = (void *)open_driver;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            alarm(HANGS_S);
            cases[i]();
            exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    return 0;
}
