/* Which port the process uses, and where calls of exported entries go on: once for each setting, in a process of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "driver/driver_types.h"
#include "driver/user.h"
#include "relay_stubs.h"
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

int main(int count, char **arguments)
{
    alarm(SANITIZED ? 600 : 60);
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
    return 0;
}
