/*
 * Our NVML: what is passed on, what a missing library or entry answers, and when the memory figures are the tenant's. The test plays
 * the loader (it defines dlsym), the vendor's library, and our libcuda. Each case is a process.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "driver/find_library.h"
#include "nvml_entries.h"

#define VENDOR ((void *)0x10)
#define DEVICE ((void *)0x20)
#define LIBRARY_NOT_FOUND 12 /* nvml.h */
#define FUNCTION_NOT_FOUND 13
#define UUID "GPU-00010203-0405-0607-0809-0a0b0C0D0e0f"

struct memory {
    unsigned long long total, free, used;
};
struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
int nvmlInit_v2(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetMemoryInfo(void *device, void *memory);
int nvmlDeviceGetMemoryInfo_v2(void *device, void *memory);

static bool opens, no_dlopen, knows_memory, knows_device, lacks_uuid;
static char path[PATH_MAX];
static const char *uuid;
static uint64_t limit, mine;
static int answer;

static void *open_vendor(const char *file, int mode)
{
    CHECK(mode == (RTLD_NOW | RTLD_LOCAL));
    snprintf(path, sizeof path, "%s", file);
    return opens ? VENDOR : NULL;
}

static int init(void)
{
    return 77;
}

static int count(unsigned *devices)
{
    *devices = 3;
    return answer;
}

static int get_uuid(void *device, char *text, unsigned bytes)
{
    CHECK(device == DEVICE && bytes == 96); /* NVML_DEVICE_UUID_V2_BUFFER_SIZE */
    memset(text, 'a', bytes);
    if (uuid)
        snprintf(text, bytes, "%s", uuid);
    return uuid ? 0 : 999;
}

static int memory_info(void *device, struct memory *memory)
{
    CHECK(device == DEVICE);
    if (answer == 0 && memory)
        *memory = (struct memory){1000, 600, 400};
    return answer;
}

static int memory_info_v2(void *device, struct memory_v2 *memory)
{
    CHECK(device == DEVICE);
    if (answer == 0 && memory)
        *memory = (struct memory_v2){memory->version, 1000, 50, 600, 350};
    return answer;
}

static int memory_of(const unsigned char *of, uint64_t *limit_bytes, uint64_t *used)
{
    for (unsigned char i = 0; i < 16; i++)
        CHECK(of[i] == i);
    *limit_bytes = limit;
    *used = mine;
    return knows_device;
}

void *dlsym(void *library, const char *name)
{
    if (library == RTLD_NEXT) {
        CHECK(strcmp(name, "dlopen") == 0);
        return no_dlopen ? NULL : (void *)open_vendor;
    }
    if (library == RTLD_DEFAULT) {
        CHECK(strcmp(name, "tessera_memory_of") == 0);
        return knows_memory ? (void *)memory_of : NULL;
    }
    const struct {
        const char *name;
        void *function;
    } entries[] = {{"nvmlInit_v2", (void *)init},
                   {"nvmlDeviceGetCount_v2", (void *)count},
                   {"nvmlDeviceGetUUID", (void *)get_uuid},
                   {"nvmlDeviceGetMemoryInfo", (void *)memory_info},
                   {"nvmlDeviceGetMemoryInfo_v2", (void *)memory_info_v2}};
    CHECK(library == VENDOR);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(name, entries[i].name) == 0)
            return lacks_uuid && entries[i].function == (void *)get_uuid ? NULL : entries[i].function;
    return NULL;
}

static void name_library(const char *file)
{
    CHECK(setenv("TESSERA_NVML", file, 1) == 0);
}

/* Redirects the standard error output to a file, which it returns. */
static FILE *capture_errors(void)
{
    FILE *file = tmpfile();
    CHECK(file && dup2(fileno(file), STDERR_FILENO) == STDERR_FILENO);
    return file;
}

static const char *text_of(FILE *file)
{
    static char text[4096];
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    return text;
}

/* The user is told once; the library is tried again at each call. */
static void named_cannot_be_opened(void)
{
    FILE *errors = capture_errors();
    name_library("/opt/nvml");
    CHECK(nvmlInit_v2() == LIBRARY_NOT_FOUND && strcmp(path, "/opt/nvml") == 0);
    const char *text = text_of(errors);
    CHECK(strncmp(text, "tessera: TESSERA_NVML=/opt/nvml cannot be opened (", 50) == 0);
    CHECK(strchr(text, '\n') == text + strlen(text) - 1);
    size_t length = strlen(text);
    CHECK(nvmlDeviceGetCount_v2(NULL) == LIBRARY_NOT_FOUND && nvmlDeviceGetMemoryInfo(DEVICE, NULL) == LIBRARY_NOT_FOUND);
    CHECK(strlen(text_of(errors)) == length);
    opens = true;
    CHECK(nvmlInit_v2() == 77);
}

static void told_nothing_when_quiet(void)
{
    FILE *errors = capture_errors();
    name_library("/opt/nvml");
    CHECK(setenv("TESSERA_QUIET", "1", 1) == 0);
    CHECK(nvmlInit_v2() == LIBRARY_NOT_FOUND && !*text_of(errors));
}

static void libc_without_dlopen(void)
{
    name_library("/opt/nvml");
    CHECK(setenv("TESSERA_QUIET", "1", 1) == 0);
    no_dlopen = opens = true;
    CHECK(nvmlInit_v2() == LIBRARY_NOT_FOUND);
}

static void is_looked_for(void)
{
    char folder[] = "/tmp/tessera-nvml-XXXXXX", file[64];
    FILE *errors = capture_errors();
    name_library("");
    CHECK(mkdtemp(folder) && setenv("LD_LIBRARY_PATH", folder, 1) == 0);
    if (!find_library("libnvidia-ml.so.1", file, sizeof file)) /* on a machine without one */
        CHECK(nvmlInit_v2() == LIBRARY_NOT_FOUND && !*path && !*text_of(errors));
    snprintf(file, sizeof file, "%s/libnvidia-ml.so.1", folder);
    FILE *made = fopen(file, "w");
    CHECK(made && fclose(made) == 0);
    opens = true;
    CHECK(nvmlInit_v2() == 77 && strcmp(path, file) == 0);
    CHECK(unlink(file) == 0 && rmdir(folder) == 0);
}

/* An entry that the vendor lacks answers so; the others are the vendor's. */
static void each_entry(void)
{
    unsigned found = 0;
    name_library("/opt/nvml");
    opens = true;
    for (unsigned i = 0; i < TESSERA_NVML_ENTRY_COUNT; i++) {
        int (*entry)(void) = (int (*)(void))tessera_nvml_resolve(i);
        bool has = dlsym(VENDOR, tessera_nvml_entry_name[i]) != NULL;
        found += has;
        CHECK(tessera_nvml_real[i] == (void *)entry && (has || entry() == FUNCTION_NOT_FOUND));
    }
    unsigned devices = 0;
    CHECK(found == 5 && nvmlDeviceGetCount_v2(&devices) == 0 && devices == 3);
}

static bool shows(unsigned long long total, unsigned long long free_bytes)
{
    struct memory memory = {1, 1, 1};
    struct memory_v2 second = {.version = 2};
    CHECK(nvmlDeviceGetMemoryInfo(DEVICE, &memory) == 0 && nvmlDeviceGetMemoryInfo_v2(DEVICE, &second) == 0);
    CHECK(second.version == 2 && second.reserved == 50 && second.total == memory.total && second.free == memory.free);
    bool clamped = total < 1000;
    CHECK(memory.used == (clamped ? total - free_bytes : 400) && second.used == (clamped ? memory.used : 350));
    return memory.total == total && memory.free == free_bytes;
}

static void vendor_answers(void)
{
    name_library("/opt/nvml");
    opens = knows_memory = knows_device = true;
    uuid = UUID;
    limit = 200;
    mine = 50;
}

static void figures(void)
{
    vendor_answers();
    CHECK(shows(200, 150));
    mine = 200;
    CHECK(shows(200, 0));
    mine = 300; /* more than the limit, which was lowered */
    CHECK(shows(200, 0));
    limit = 800;
    mine = 10;
    CHECK(shows(800, 600)); /* others use the device, too */
    limit = 1000;
    CHECK(shows(1000, 600));
    limit = UINT64_MAX; /* none */
    CHECK(shows(1000, 600));
}

static void figures_are_the_vendors(void)
{
    vendor_answers();
    knows_device = false;
    CHECK(shows(1000, 600));
    knows_device = true;
    knows_memory = false;
    CHECK(shows(1000, 600));
    knows_memory = true;
    uuid = NULL;
    CHECK(shows(1000, 600));
    uuid = UUID;
    answer = 15;
    struct memory memory = {1, 2, 3};
    CHECK(nvmlDeviceGetMemoryInfo(DEVICE, &memory) == 15 && memory.total == 1 && memory.free == 2 && memory.used == 3);
    answer = 0;
    CHECK(nvmlDeviceGetMemoryInfo(DEVICE, NULL) == 0 && nvmlDeviceGetMemoryInfo_v2(DEVICE, NULL) == 0);
    CHECK(shows(200, 150));
}

static void vendor_has_no_uuids(void)
{
    vendor_answers();
    lacks_uuid = true;
    CHECK(shows(1000, 600));
}

/* A UUID that is misread would make memory_of() end the test. */
static void uuids(void)
{
    const char *const wrong[] = {"",
                                 "GPU",
                                 "GPU-",
                                 "00010203040506070809",
                                 "GPU-0",
                                 "GPU-00010203-0405-0607-0809-0a0b0c0d0e",
                                 "GPU-00010203-0405-0607-0809-0a0b0c0d0e0",
                                 "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f1",
                                 "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f10",
                                 "GPU-00010203-0405-0607-0809-0a0b0c0d0eg0",
                                 "GPU-+0010203-0405-0607-0809-0a0b0c0d0e0f",
                                 "GPU- 0 10203-0405-0607-0809-0a0b0c0d0e0f",
                                 "GPU-0-001020304050607080-90a0b0c0d0e0f",
                                 "MIG-" UUID "/1/0"};
    vendor_answers();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uuid = wrong[i];
        CHECK(shows(1000, 600));
    }
    uuid = "MIG-000102030405060708090A0b0c0d0e0f";
    CHECK(shows(200, 150));
}

int main(void)
{
    void (*const cases[])(void) = {named_cannot_be_opened,
                                   told_nothing_when_quiet,
                                   libc_without_dlopen,
                                   is_looked_for,
                                   each_entry,
                                   figures,
                                   figures_are_the_vendors,
                                   vendor_has_no_uuids,
                                   uuids};
    unsetenv("TESSERA_QUIET");
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
