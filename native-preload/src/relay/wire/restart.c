#include "relay/wire/restart.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "relay/wire/vendor.h"
#include "session/report.h"

#define MOST_ARGUMENT_BYTES (2u << 20)

static pid_t began_as;
static char began_in[PATH_MAX];

/* Relative file names among the arguments start from the directory in which the program began. */
__attribute__((constructor)) static void remember(void)
{
    began_as = getpid();
    if (!getcwd(began_in, sizeof began_in))
        began_in[0] = '\0';
}

/* The process's arguments, NUL-terminated one after the other; their bytes, or 0. Never freed: exec follows. */
static size_t read_arguments(char **text)
{
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    *text = file < 0 ? NULL : malloc(MOST_ARGUMENT_BYTES);
    size_t bytes = 0;
    while (*text && bytes < MOST_ARGUMENT_BYTES) {
        ssize_t got = read(file, *text + bytes, MOST_ARGUMENT_BYTES - bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        bytes += (size_t)got;
    }
    if (file >= 0)
        close(file);
    return bytes == MOST_ARGUMENT_BYTES || bytes == 0 || (*text)[bytes - 1] != '\0' ? 0 : bytes;
}

static char **split(char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += text[i] == '\0';
    char **arguments = calloc(count + 1, sizeof *arguments);
    char *at = text;
    for (size_t i = 0; arguments && i < count; i++) {
        arguments[i] = at;
        at += strlen(at) + 1;
    }
    return arguments;
}

/* Does not wait for a thread that is writing and holds the lock: its unfinished output is lost. */
static void flush(FILE *stream)
{
    if (ftrylockfile(stream) == 0) {
        fflush_unlocked(stream);
        funlockfile(stream);
    }
}

void restart_in_time_sharing(void)
{
    if (getpid() != began_as) {
        report_line("this program has kernels that cannot be fenced, and a forked child cannot be started again: run "
                    "it with --share time");
        return;
    }
    if (!vendor_present()) {
        report_line("this program has kernels that cannot be fenced, and without a GPU driver there is no time sharing");
        return;
    }
    char *text = NULL;
    size_t bytes = read_arguments(&text);
    char **arguments = bytes ? split(text, bytes) : NULL;
    if (!arguments || setenv("TESSERA_SHARE", "time", 1) != 0 || (began_in[0] && chdir(began_in) != 0)) {
        report_line("the program cannot be started again in time sharing (%s): run it with --share time",
                    strerror(errno));
        return;
    }
    report_line("this program has kernels that cannot be fenced: it starts again in time sharing");
    flush(stdout);
    flush(stderr);
    execv("/proc/self/exe", arguments);
    report_line("the program cannot be started again in time sharing (%s): run it with --share time", strerror(errno));
}
