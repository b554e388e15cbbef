/* Where a library is looked for, and that it is neither ours nor below a relative path; and descriptors above the standard streams. */
#include "driver/find_library.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "driver/loader.h"
#include "driver/own_descriptor.h"

#define NAME "libtessera-nowhere.so.1" /* no system has it */

static char folder[] = "/tmp/tessera-find-XXXXXX";
static char path[PATH_MAX];

static const char *in(const char *below)
{
    static char joined[PATH_MAX];
    snprintf(joined, sizeof joined, "%s/%s", folder, below);
    return joined;
}

static void search(const char *format)
{
    char list[PATH_MAX * 4];
    snprintf(list, sizeof list, format, folder, folder);
    CHECK(setenv("LD_LIBRARY_PATH", list, 1) == 0);
}

static void touch(const char *below)
{
    int file = open(in(below), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(file >= 0 && close(file) == 0);
}

static void on_the_path(void)
{
    touch("second/" NAME);
    search("%s/first:%s/second");
    CHECK(find_library(NAME, path, sizeof path) && strcmp(path, in("second/" NAME)) == 0);
    touch("first/" NAME);
    CHECK(find_library(NAME, path, sizeof path) && strcmp(path, in("first/" NAME)) == 0);
    search("::%s/second"); /* empty parts */
    CHECK(find_library(NAME, path, sizeof path) && strcmp(path, in("second/" NAME)) == 0);
    int before = open(".", O_PATH | O_CLOEXEC);
    CHECK(before >= 0 && chdir(folder) == 0 && setenv("LD_LIBRARY_PATH", "first:.", 1) == 0);
    CHECK(!find_library(NAME, path, sizeof path) && path[0] == '\0'); /* relative */
    CHECK(fchdir(before) == 0 && close(before) == 0);
    search("%s/second");
    CHECK(!find_library(NAME, path, strlen(in("second/" NAME)))); /* no room for its end */
    CHECK(find_library(NAME, path, strlen(in("second/" NAME)) + 1));
}

/* A folder, a link that leads nowhere, and the file that this code is in, under whatever name, are passed over. */
static void no_other_library(void)
{
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    CHECK(length > 0);
    own[length] = '\0';
    CHECK(unlink(in("first/" NAME)) == 0 && mkdir(in("first/" NAME), 0700) == 0);
    search("%s/first:%s/second");
    CHECK(find_library(NAME, path, sizeof path) && strcmp(path, in("second/" NAME)) == 0);
    CHECK(rmdir(in("first/" NAME)) == 0 && symlink("/nowhere", in("first/" NAME)) == 0);
    CHECK(find_library(NAME, path, sizeof path) && strcmp(path, in("second/" NAME)) == 0);
    CHECK(unlink(in("first/" NAME)) == 0 && symlink(own, in("first/" NAME)) == 0);
    CHECK(find_library(NAME, path, sizeof path) && strcmp(path, in("second/" NAME)) == 0);
    CHECK(unlink(in("second/" NAME)) == 0 && !find_library(NAME, path, sizeof path));
}

/* Without a search path: the loader's cache, or a usual folder. */
static void in_the_system(void)
{
    CHECK(unsetenv("LD_LIBRARY_PATH") == 0);
    CHECK(find_library("libc.so.6", path, sizeof path) && path[0] == '/' && access(path, R_OK) == 0);
    CHECK(!find_library(NAME, path, sizeof path));
}

/* A program that opens the vendor's file by a path gets ours, which is loaded; other names stay as they are. */
static void opened_by_path(void)
{
    const char *same[] = {NULL,
                          "libcuda.so",
                          "libcuda.so.1",
                          "/usr/lib/libcuda.sofa",
                          "/usr/lib/libcudart.so.12",
                          "/usr/lib/libcuda.so.1x",
                          "/usr/lib/libcuda.so1",
                          "/opt/libcuda.so.1/libm.so.6",
                          "/usr/lib/libnvidia-ml.so.1"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        CHECK(tessera_dlopen_name(same[i]) == same[i]); /* our NVML is not there */
    CHECK(strcmp(tessera_dlopen_name("/usr/lib/libcuda.so"), "libcuda.so.1") == 0);
    CHECK(strcmp(tessera_dlopen_name("/usr/lib/libcuda.so.580.12.01"), "libcuda.so.1") == 0);
    CHECK(tessera_next_dlopen);
    CHECK(find_library("libc.so.6", path, sizeof path) && loader_open(path) && !loader_open(in(NAME)));
}

static void descriptors(void)
{
    int high = open("/dev/null", O_RDONLY | O_CLOEXEC), output = dup(STDOUT_FILENO);
    CHECK(high > STDERR_FILENO && own_descriptor(high) == high && fcntl(high, F_GETFD) == FD_CLOEXEC);
    errno = EPERM;
    CHECK(own_descriptor(-1) == -1 && errno == EPERM);
    close(STDOUT_FILENO);
    int low = open("/dev/null", O_RDONLY);
    CHECK(low == STDOUT_FILENO);
    int above = own_descriptor(low);
    CHECK(above > STDERR_FILENO && fcntl(above, F_GETFD) == FD_CLOEXEC && fcntl(low, F_GETFD) == -1 && errno == EBADF);
    CHECK(dup2(output, STDOUT_FILENO) == STDOUT_FILENO);
    close(above);
    close(high);
    close(output);
}

int main(void)
{
    CHECK(mkdtemp(folder) && mkdir(in("first"), 0700) == 0 && mkdir(in("second"), 0700) == 0);
    on_the_path();
    no_other_library();
    in_the_system();
    opened_by_path();
    descriptors();
    unlink(in("first/" NAME));
    CHECK(rmdir(in("first")) == 0 && rmdir(in("second")) == 0 && rmdir(folder) == 0);
    return 0;
}
