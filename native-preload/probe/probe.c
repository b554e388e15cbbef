/*
 * tessera-probe: what the preload library would meet on this machine. Opens the vendor's driver directly, creates no
 * context and talks to no manager. `tessera doctor` reads its JSON.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/find_library.h"
#include "driver/loader.h"
#include "direct/turns/membarrier.h"
#include "tessera_entries.h"

typedef CUresult (*get_proc_address)(const char *, void **, int, unsigned long long, int *);

/* ABI versions at which entries changed (cuda.h 13.0), and per-thread streams off and on. */
static const int versions[] = {2000,  3020,  4000,  6050,  7000,  8000,  9020,  10000, 10010, 11000,
                               11010, 11030, 11040, 12000, 12020, 12030, 12050, 12080, 13000};

static void text(const char *value)
{
    putchar('"');
    for (; value && *value; value++) {
        if (*value == '"' || *value == '\\')
            putchar('\\');
        if ((unsigned char)*value >= ' ')
            putchar(*value);
    }
    putchar('"');
}

static bool find_driver(char *path, size_t size)
{
    const char *asked = getenv("TESSERA_DRIVER");
    if (asked && *asked) {
        snprintf(path, size, "%s", asked);
        return true;
    }
    /* Our own folder may be first on the library path: the library knows itself by what it exports. */
    return find_library("libcuda.so.1", path, size);
}

static void print_devices(void *driver)
{
    CUresult (*init)(unsigned) = (CUresult(*)(unsigned))dlsym(driver, "cuInit");
    CUresult (*count)(int *) = (CUresult(*)(int *))dlsym(driver, "cuDeviceGetCount");
    CUresult (*name)(char *, int, int) = (CUresult(*)(char *, int, int))dlsym(driver, "cuDeviceGetName");
    CUresult (*total)(size_t *, int) = (CUresult(*)(size_t *, int))dlsym(driver, "cuDeviceTotalMem_v2");
    CUresult (*uuid)(void *, int) = (CUresult(*)(void *, int))dlsym(driver, "cuDeviceGetUuid_v2");
    CUresult status = init ? init(0) : CUDA_ERROR_NOT_FOUND;
    int devices = 0;
    printf("\"init\":%d,\"devices\":[", status);
    if (status == CUDA_SUCCESS && count && name && total && uuid && count(&devices) == CUDA_SUCCESS)
        for (int i = 0; i < devices; i++) {
            char label[256] = "";
            size_t bytes = 0;
            unsigned char id[16] = {0};
            name(label, sizeof label, i);
            total(&bytes, i);
            uuid(id, i);
            printf("%s{\"ordinal\":%d,\"uuid\":\"GPU-", i ? "," : "", i);
            for (int b = 0; b < 16; b++)
                printf("%s%02x", b == 4 || b == 6 || b == 8 || b == 10 ? "-" : "", id[b]);
            printf("\",\"name\":");
            text(label);
            printf(",\"totalBytes\":%zu}", bytes);
        }
    printf("],");
}

static bool known_name(const char *name)
{
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++)
        if (strcmp(tessera_entry_name[i], name) == 0)
            return true;
    return false;
}

/* Functions `cu` + capital letter in the vendor's dynamic symbols that we do not export. */
static void print_exports_of(const char *file, size_t bytes)
{
    const Elf64_Ehdr *header = (const void *)file;
    const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
    unsigned count = 0, missing = 0;
    printf("\"exports\":{\"missing\":[");
    for (int s = 0; s < header->e_shnum && header->e_shoff + (s + 1) * sizeof *sections <= bytes; s++) {
        if (sections[s].sh_type != SHT_DYNSYM)
            continue;
        const Elf64_Sym *symbols = (const void *)(file + sections[s].sh_offset);
        const char *names = file + sections[sections[s].sh_link].sh_offset;
        for (size_t i = 0; i < sections[s].sh_size / sizeof *symbols; i++) {
            const char *name = names + symbols[i].st_name;
            bool entry = symbols[i].st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC &&
                         strncmp(name, "cu", 2) == 0 && name[2] >= 'A' && name[2] <= 'Z';
            count += entry;
            if (entry && !known_name(name)) {
                printf("%s", missing++ ? "," : "");
                text(name);
            }
        }
    }
    printf("],\"vendor\":%u,\"ours\":%d},", count, TESSERA_ENTRY_COUNT);
}

static void print_exports(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct statx status;
    if (file < 0 || statx(file, "", AT_EMPTY_PATH, STATX_SIZE, &status) != 0 || status.stx_size < sizeof(Elf64_Ehdr)) {
        printf("\"exports\":{\"missing\":[],\"vendor\":0,\"ours\":%d},", TESSERA_ENTRY_COUNT);
    } else {
        size_t bytes = (size_t)status.stx_size;
        char *memory = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
        if (memory != MAP_FAILED) {
            print_exports_of(memory, bytes);
            munmap(memory, bytes);
        }
    }
    if (file >= 0)
        close(file);
}

/* "cuMemAlloc" of "cuMemAlloc_v2_ptds". */
static void api_name(const char *abi, char *name, size_t size)
{
    snprintf(name, size, "%s", abi);
    char *suffix = strstr(name, "_pt");
    if (suffix)
        *suffix = '\0';
    suffix = strrchr(name, '_');
    if (suffix && suffix[1] == 'v')
        *suffix = '\0';
}

/* Every answer of the vendor's cuGetProcAddress for a hooked name must be an exported entry, or it escapes us. */
static void print_lookups(void *driver)
{
    static void *address[TESSERA_ENTRY_COUNT];
    get_proc_address lookup = (get_proc_address)dlsym(driver, "cuGetProcAddress_v2");
    unsigned exact = 0, unmatched = 0, hooked = 0, present = 0;
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++)
        address[i] = dlsym(driver, tessera_entry_name[i]);
    printf("\"lookups\":{\"unmatched\":[");
    for (unsigned h = 0; h < TESSERA_ENTRY_COUNT; h++) {
        if (!tessera_entry_hooked[h])
            continue;
        char name[128], last[128] = "";
        api_name(tessera_entry_name[h], name, sizeof name);
        hooked++;
        present += address[h] != NULL;
        for (unsigned v = 0; lookup && v < 2 * sizeof versions / sizeof *versions; v++) {
            void *answer = NULL;
            int status, found = 0;
            if (lookup(name, &answer, versions[v / 2], 1 + v % 2, &status) != CUDA_SUCCESS || !answer)
                continue;
            for (unsigned i = 0; i < TESSERA_ENTRY_COUNT && !found; i++)
                found = address[i] == answer;
            exact += (unsigned)found;
            if (!found && strcmp(last, name) != 0) {
                printf("%s", unmatched++ ? "," : "");
                text(name);
                memcpy(last, name, sizeof last);
            }
        }
    }
    printf("],\"hooked\":%u,\"present\":%u,\"exact\":%u},", hooked, present, exact);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--json") != 0) {
        fprintf(stderr, "usage: tessera-probe [--json]\nPrints what the preload library meets on this machine.\n");
        return 2;
    }
    char path[PATH_MAX] = "";
    void *driver = find_driver(path, sizeof path) ? loader_open(path) : NULL;
    const char *status = driver ? "ok" : path[0] ? dlerror() : "not found";
    int version = 0;
    if (driver) {
        CUresult (*get_version)(int *) = (CUresult(*)(int *))dlsym(driver, "cuDriverGetVersion");
        if (get_version)
            get_version(&version);
    }
    printf("{\"driver\":{\"path\":");
    text(path);
    printf(",\"version\":%d,\"status\":", version);
    text(status);
    printf("},");
    if (driver) {
        print_devices(driver);
        print_exports(path);
        print_lookups(driver);
    }
    printf("\"membarrier\":%s}\n", membarrier_register() ? "true" : "false");
    return 0;
}
