/*
 * A relayed program that spoils the segment it shares with its executor.
 *     relay_hostile PART SEED
 * PART: ring, claimed, replies, header, words, or all. Says "spoilt", calls on, whatever comes back, and says "done".
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "cuda_calls.h"
#include "tessera_relay.h"

enum { CALLS = 20 };

/* The only shared mapping of the segment's size that begins with its magic. */
static struct tessera_relay_segment *segment(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps)) {
        uintptr_t from, to;
        char rights[8];
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &from, &to, rights) != 3 || strcmp(rights, "rw-s") != 0 ||
            to - from != sizeof(struct tessera_relay_segment))
            continue;
        struct tessera_relay_segment *found = (struct tessera_relay_segment *)from;
        if (found->magic == TESSERA_RELAY_MAGIC) {
            fclose(maps);
            return found;
        }
    }
    CHECK(!"a relay segment is mapped");
    return NULL;
}

static void rubbish(void *to, size_t bytes)
{
    unsigned char *at = to;
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(random() >> 7);
}

int main(int argc, char **argv)
{
    void *context;
    CUdeviceptr pointer;
    size_t free_bytes, total;
    CHECK(argc == 3);
    const char *part = argv[1];
    int all = strcmp(part, "all") == 0;
    srandom((unsigned)atol(argv[2]));
    alarm(60);
    OKAY(cuInit(0));
    OKAY(cuDevicePrimaryCtxRetain(&context, 0));
    OKAY(cuCtxSetCurrent(context));
    OKAY(cuMemAlloc_v2(&pointer, 1 << 20));
    struct tessera_relay_segment *s = segment();
    if (all || strcmp(part, "replies") == 0)
        rubbish(s->reply, sizeof s->reply);
    if (all || strcmp(part, "words") == 0)
        rubbish(s->word, sizeof s->word);
    if (all || strcmp(part, "header") == 0)
        rubbish(s, 4096);
    if (all || strcmp(part, "ring") == 0)
        rubbish(s->ring, sizeof s->ring);
    if (all || strcmp(part, "claimed") == 0)
        __atomic_store_n(&s->claimed, ((uint64_t)random() << 32) ^ (uint64_t)random(), __ATOMIC_SEQ_CST);
    printf("spoilt\n");
    fflush(stdout);
    for (int i = 0; i < CALLS; i++) {
        cuMemsetD8Async(pointer, 1, 16, NULL);
        cuMemGetInfo_v2(&free_bytes, &total);
    }
    printf("done\n");
    fflush(stdout);
    _exit(0);
}
