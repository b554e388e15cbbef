/*
 * Runs a program with the preload library and counts its system calls.
 *     syscalls PROGRAM
 * The library to preload is LD_PRELOAD_OF_CHILD, by default those of TESSERA_TEST_PRELOAD.
 */
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void become(char *program)
{
    const char *preload = getenv("LD_PRELOAD_OF_CHILD");
    if (!preload)
        preload = getenv("TESSERA_TEST_PRELOAD");
    if (preload && *preload)
        setenv("LD_PRELOAD", preload, 1);
    CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
    raise(SIGSTOP);
    execl(program, program, (char *)NULL);
    _exit(1);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    long all = 0, sockets = 0, clones = 0;
    int status, entering = 1;
    pid_t pid = fork();
    if (pid == 0)
        become(argv[1]);
    EQUAL(pid, waitpid(pid, &status, 0));
    CHECK(ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) == 0);
    for (;;) {
        CHECK(ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0);
        EQUAL(pid, waitpid(pid, &status, 0));
        if (WIFEXITED(status))
            break;
        if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80))
            continue;
        if (entering) {
            struct user_regs_struct r;
            CHECK(ptrace(PTRACE_GETREGS, pid, NULL, &r) == 0);
            all++;
            sockets += r.orig_rax == SYS_socket || r.orig_rax == SYS_connect;
            clones += r.orig_rax == SYS_clone || r.orig_rax == SYS_clone3;
        }
        entering = !entering;
    }
    EQUAL(0, WEXITSTATUS(status));
    printf("all %ld socket %ld clone %ld\n", all, sockets, clones);
    return 0;
}
