#include "session/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* SPEC.md, section 4 */
#define DEFAULT_MANAGER_TIMEOUT_MS 5000ULL
/* The time that a few hand-overs of a whole device may take. */
#define DEFAULT_MEMORY_WAIT_MS 30000u
#define MOST_BYTES ((uint64_t)INT64_MAX) /* the manager's numbers are signed */
#define LONGEST_TIMEOUT_S 31536000u      /* a year; the manager accepts no more */

static struct tessera_settings current;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void copy_text(char *to, size_t size, const char *from)
{
    size_t length = from ? strnlen(from, size - 1) : 0;
    if (length)
        memcpy(to, from, length);
    to[length] = '\0';
}

/* Keeps the first wrong variable for the report. */
static void refuse(const char *name, const char *value, const char *accepted)
{
    if (!current.wrong[0])
        snprintf(current.wrong, sizeof current.wrong, "%s=%.100s: %s", name, value, accepted);
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    if (!value || !*value || strcmp(value, "0") == 0)
        return false;
    bool is = strcmp(value, "1") == 0;
    if (!is)
        refuse(name, value, "1, or 0");
    return is;
}

/* A variable's value; `otherwise` if it is not set or wrong. */
static uint64_t number(const char *name, uint64_t otherwise, uint64_t least, uint64_t most)
{
    const char *value = getenv(name);
    if (!value || !*value)
        return otherwise;
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    if (*value >= '0' && *value <= '9' && *end == '\0' && errno == 0 && n >= least && n <= most)
        return n;
    char accepted[80];
    snprintf(accepted, sizeof accepted, "a whole number from %llu to %llu", (unsigned long long)least,
             (unsigned long long)most);
    refuse(name, value, accepted);
    return otherwise;
}

/* 1 + the index of a variable's value in `names`; 0: not set or wrong. */
static uint32_t choice(const char *name, const char *const *names)
{
    const char *value = getenv(name);
    if (!value || !*value)
        return 0;
    char accepted[80] = "one of";
    for (uint32_t i = 0; names[i]; i++) {
        if (strcmp(value, names[i]) == 0)
            return i + 1;
        size_t length = strlen(accepted);
        snprintf(accepted + length, sizeof accepted - length, "%s %s", i ? "," : "", names[i]);
    }
    refuse(name, value, accepted);
    return 0;
}

/* Opens the file, because access() allows root everything, but even root cannot create files in /proc. */
static bool opens(const char *path, int flags)
{
    int file = open(path, flags | O_CLOEXEC, 0600);
    return file >= 0 && close(file) == 0;
}

/* Whether a file can be appended to; creates it if it does not exist. */
static bool is_writable_file(const char *path)
{
    struct statx file; /* stat() is a different symbol in glibc before 2.33 */
    if (statx(AT_FDCWD, path, 0, STATX_TYPE, &file) == 0 && !S_ISREG(file.stx_mode))
        return !S_ISDIR(file.stx_mode) && access(path, W_OK) == 0;
    return opens(path, O_WRONLY | O_CREAT | O_APPEND);
}

static void check_writable_file(const char *name)
{
    const char *value = getenv(name);
    if (value && *value && !is_writable_file(value))
        refuse(name, value, "a file that can be written to");
}

/* Checks the ELF magic only; loading shows whether it is the right library. */
static void check_library(const char *name, const char *accepted)
{
    const char *value = getenv(name);
    if (!value || !*value)
        return;
    char begin[4] = "";
    int file = open(value, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t bytes = file >= 0 ? read(file, begin, sizeof begin) : 0;
    if (file >= 0)
        close(file);
    if (bytes != (ssize_t)sizeof begin || memcmp(begin, "\177ELF", sizeof begin) != 0)
        refuse(name, value, accepted);
}

/* A relative path is wrong: the program may change its working directory, and a manager has another one. */
static void check_absolute(const char *name)
{
    const char *value = getenv(name);
    if (value && *value && *value != '/')
        refuse(name, value, "an absolute path");
}

/* Checks paths and labels now, because an error could not be reported well at their later use. */
static void check_texts(void)
{
    check_writable_file("TESSERA_TRACE");
    check_writable_file("TESSERA_MOVE_TRACE");
    check_library("TESSERA_DRIVER", "a library that can be read (libcuda.so.1)");
    check_library("TESSERA_NVML", "a library that can be read (libnvidia-ml.so.1)");
    check_absolute("TESSERA_RUNTIME_DIR");
    const char *directory = getenv("TESSERA_SWAP_DIRECTORY"), *name = getenv("TESSERA_NAME");
    if (directory && *directory && !opens(directory, O_TMPFILE | O_RDWR))
        refuse("TESSERA_SWAP_DIRECTORY", directory, "a directory that can be written to");
    if (name && strlen(name) >= TESSERA_LABEL)
        refuse("TESSERA_NAME", name, "a label of at most 63 bytes");
}

static void read_fence(void)
{
    static const char *const fences[] = {"mask", "modulo", "check", NULL};
    static const char *const policies[] = {"refuse", "time", "trusted", "own", NULL};
    current.fence = choice("TESSERA_FENCE", fences);
    current.unfenced = choice("TESSERA_UNFENCED", policies);
    current.fence_alone = is_set("TESSERA_FENCE_ALONE");
    current.kernel_timeout_s = (uint32_t)number("TESSERA_KERNEL_TIMEOUT", 0, 1, LONGEST_TIMEOUT_S);
}

static void read_environment(void)
{
    current.disabled = is_set("TESSERA_DISABLE");
    current.required = is_set("TESSERA_REQUIRE");
    current.quiet = is_set("TESSERA_QUIET");
    static const char *const plans[] = {"managed", "swap", "auto", "plain", NULL};
    static const char *const shares[] = {"time", "space", "auto", NULL};
    uint32_t plan = choice("TESSERA_PLAN", plans);
    current.managed = plan == 1;
    current.swap = plan == 2 || plan == 3;
    current.automatic = plan == 3;
    uint32_t share = choice("TESSERA_SHARE", shares);
    current.space = share == 2;
    current.chosen = share == 3;
    read_fence();
    current.limit_bytes = number("TESSERA_MEMORY", 0, 0, MOST_BYTES);
    current.memory_wait_ns = number("TESSERA_MEMORY_WAIT_MS", DEFAULT_MEMORY_WAIT_MS, 0, LONGEST_TIMEOUT_S * 1000ULL) *
                             1000000ULL;
    current.guarantee_bytes = number("TESSERA_MEMORY_GUARANTEE", 0, 0, MOST_BYTES);
    current.swap_file_bytes = number("TESSERA_SWAP_FILE_BYTES", UINT64_MAX, 0, MOST_BYTES);
    copy_text(current.swap_directory, sizeof current.swap_directory, getenv("TESSERA_SWAP_DIRECTORY"));
    current.manager_timeout_ns =
        number("TESSERA_MANAGER_TIMEOUT_MS", DEFAULT_MANAGER_TIMEOUT_MS, 1, LONGEST_TIMEOUT_S * 1000ULL) * 1000000ULL;
    check_texts();
    extern char *program_invocation_short_name;
    copy_text(current.command, sizeof current.command, program_invocation_short_name);
    const char *name = getenv("TESSERA_NAME");
    copy_text(current.tenant, sizeof current.tenant, name && *name ? name : current.command);
    copy_text(current.driver, sizeof current.driver, getenv("TESSERA_DRIVER"));
    copy_text(current.runtime_directory, sizeof current.runtime_directory, getenv("TESSERA_RUNTIME_DIR"));
}

void settings_choose_space(bool space)
{
    current.space = space;
}

const struct tessera_settings *settings(void)
{
    pthread_once(&once, read_environment);
    return &current;
}

/* Runs before main, when no other thread can change the environment. */
__attribute__((constructor)) static void read_early(void)
{
    settings();
}
