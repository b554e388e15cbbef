/* Which port the process uses, and where calls of exported entries go on: once for each setting, in a process of its own. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "driver/driver_types.h"
#include "driver/user.h"
#include "relay_stubs.h"
#include "tessera_abi.h"
#include "tessera_entries.h"

static void *hook_of(unsigned entry)
{
    for (unsigned h = 0; h < tessera_hooked_count; h++)
        if (tessera_hooked[h].entry == entry)
            return tessera_hooked[h].hook;
    return NULL;
}

static void *where(unsigned entry)
{
    void *first = driver_user()->choose(entry);
    CHECK(first && driver_user()->choose(entry) == first); /* for good */
    return first;
}

/* To our hooks, else to the vendor's library; none to the relay. */
static void direct(void)
{
    unsigned hooked = 0, passed = 0;
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++) {
        void *to = where(i), *hook = hook_of(i);
        CHECK(to == (hook ? hook : tessera_real[i]) && to != tessera_relay_port[i] && to == tessera_port[i]);
        hooked += hook != NULL;
        passed += hook == NULL;
    }
    CHECK(hooked > 100 && passed > 100);
}

/* Every entry to the relay: this library has them all, and the vendor's is not asked for. */
static void relay(void)
{
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++) {
        void *to = where(i);
        CHECK(to == tessera_relay_port[i] && to != hook_of(i) && to != tessera_real[i]);
    }
    CHECK(tessera_port[ENTRY_cuMemAlloc_v2] == (void *)relay_cuMemAlloc_v2);
}

/* What the driver layer asks of the library comes from the settings. */
static void set_wrong(void)
{
    CHECK(strstr(driver_user()->wrong(), "TESSERA_SHARE=somehow"));
    CHECK(strcmp(driver_user()->library(), "/opt/libcuda.so.1") == 0);
    direct();
}

static void check_with(const char *share, const char *disabled, const char *expected)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        setenv("TESSERA_SHARE", share, 1);
        setenv("TESSERA_DISABLE", disabled, 1);
        if (strcmp(expected, "wrong") == 0)
            setenv("TESSERA_DRIVER", "/opt/libcuda.so.1", 1);
        execl("/proc/self/exe", "port_test", expected, NULL);
        _exit(127);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0)
        fprintf(stderr, "port: TESSERA_SHARE=%s TESSERA_DISABLE=%s is not %s\n", share, disabled, expected);
    CHECK(status == 0);
}

static const char hangs[] = "", closes[] = "", shorter[] = "";

static struct sockaddr_un address = {.sun_family = AF_UNIX};

/* A manager in a process of its own, that gives one answer. */
static pid_t manager(const void *answer, size_t bytes)
{
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 4) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct tessera_sharing_ask ask;
        int client = accept(listener, NULL, NULL);
        CHECK(client >= 0 && recv(client, &ask, sizeof ask, MSG_TRUNC) == (ssize_t)sizeof ask);
        CHECK(ask.head.type == TESSERA_MSG_SHARING_ASK && strcmp(ask.tenant, "somebody") == 0);
        if (answer == hangs) /* longer than a program waits */
            pause();
        if (answer != closes)
            CHECK(send(client, answer, bytes, MSG_NOSIGNAL) == (ssize_t)bytes);
        _exit(0);
    }
    close(listener);
    return child;
}

static void check_auto(const void *answer, size_t bytes, const char *expected)
{
    int status;
    pid_t child = manager(answer, bytes);
    check_with("auto", "", expected);
    if (answer == hangs)
        CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, &status, 0) == child && (answer == hangs || status == 0));
    CHECK(unlink(address.sun_path) == 0);
}

/* The manager's choice is used. A wrong answer, or no manager, means time sharing. */
static void chosen(void)
{
    struct tessera_sharing answer = {.head = {.magic = TESSERA_MESSAGE_MAGIC,
                                              .type = TESSERA_MSG_SHARING,
                                              .version = TESSERA_ABI_VERSION,
                                              .bytes = sizeof answer},
                                     .space = 1};
    char folder[] = "/tmp/tessera-port-XXXXXX";
    CHECK(mkdtemp(folder) && setenv("TESSERA_RUNTIME_DIR", folder, 1) == 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/manager.sock", folder);
    setenv("TESSERA_NAME", "somebody", 1);
    check_auto(&answer, sizeof answer, "relay");
    setenv("TESSERA_PLAN", "auto", 1);
    check_auto(&answer, sizeof answer, "relay");
    answer.space = 0;
    check_auto(&answer, sizeof answer, "direct");
    answer.space = 2;
    check_auto(&answer, sizeof answer, "direct");
    answer.space = 1;
    answer.head.type = TESSERA_MSG_WELCOME;
    check_auto(&answer, sizeof answer, "direct");
    check_auto(shorter, 1, "direct");
    check_auto(closes, 0, "direct");
    check_auto(hangs, 0, "direct");
    check_with("auto", "", "direct"); /* nobody listens */
    CHECK(rmdir(folder) == 0);
    setenv("TESSERA_PLAN", "managed", 1); /* which only time sharing has */
    check_with("auto", "", "direct");
}

int main(int count, char **arguments)
{
    alarm(HANGS_S);
    if (count > 1) {
        if (strcmp(arguments[1], "direct") == 0)
            direct();
        else if (strcmp(arguments[1], "relay") == 0)
            relay();
        else
            set_wrong();
        return 0;
    }
    check_with("", "", "direct");
    check_with("time", "", "direct");
    check_with("space", "", "relay");
    check_with("space", "1", "direct");
    check_with("somehow", "", "wrong");
    chosen();
    return 0;
}
