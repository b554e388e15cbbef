/*
 * Which values of CUDA_VISIBLE_DEVICES give the user a line, when there is no device, and how often. Each case is a
 * process.
 */
#include "session/visible_devices.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define LONG 3000

/* What two calls write to the standard error output; `quiet`: TESSERA_QUIET, which is read before main. */
static const char *said(const char *self, const char *list, const char *quiet)
{
    static char text[2 * LONG];
    int ends[2], status;
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK((list ? setenv("CUDA_VISIBLE_DEVICES", list, 1) : unsetenv("CUDA_VISIBLE_DEVICES")) == 0);
        CHECK(setenv("TESSERA_QUIET", quiet, 1) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv("/proc/self/exe", (char *[]){(char *)self, "say", NULL});
        _exit(1);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0;)
        length += (size_t)got;
    close(ends[0]);
    text[length] = '\0';
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return text;
}

static bool tells(const char *self, const char *list)
{
    char wanted[LONG];
    snprintf(wanted, sizeof wanted,
             "tessera: CUDA_VISIBLE_DEVICES=%.100s (--device of tessera run) begins with no device of this machine: the "
             "program sees no GPU\n",
             list);
    return strcmp(said(self, list, "0"), wanted) == 0; /* once */
}

int main(int argc, char **argv)
{
    alarm(HANGS_S);
    if (argc > 1) {
        visible_devices_say_none();
        visible_devices_say_none();
        return 0;
    }
    static char all[LONG];
    memset(all, '7', sizeof all - 1);
    CHECK(tells(argv[0], "7") && tells(argv[0], "GPU-none,0") && tells(argv[0], "-1,0") && tells(argv[0], " "));
    CHECK(tells(argv[0], "%s%n") && tells(argv[0], all));
    const char *const hiding[] = {NULL, "", "-1"}; /* that is how programs hide all devices from themselves */
    for (unsigned i = 0; i < sizeof hiding / sizeof *hiding; i++)
        CHECK(strcmp(said(argv[0], hiding[i], "0"), "") == 0);
    CHECK(strcmp(said(argv[0], "7", "1"), "") == 0);
    return 0;
}
