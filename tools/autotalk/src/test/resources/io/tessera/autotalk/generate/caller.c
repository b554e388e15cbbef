/* A program that knows the driver only by dlsym, as real ones do. Arguments: our library, the vendor's. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block { char bytes[64]; };
struct pair { double weight; long count; };
struct point { float x, y, z; };
struct place { int type; int id; };

struct noted {
    unsigned resolved;
    unsigned misaligned;
    int shallowest;
    unsigned entered;
    unsigned left;
    unsigned kind;
    uintptr_t stream;
    int result;
    unsigned waits;
};

static void *ours;
static void *vendor;
static struct noted *noted;
static int failures;

static void *find(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        printf("%s is missing\n", name);
        exit(2);
    }
    return symbol;
}

static void check(const char *what, int holds)
{
    if (!holds) {
        printf("wrong: %s\n", what);
        failures++;
    }
}

/* The same call three times, of the vendor's entry and of ours: the first of ours goes through the stub. */
#define COMPARE(type, name, call)                                                                                     \
    do {                                                                                                              \
        type entry = (type)find(vendor, name);                                                                        \
        __typeof__(call) expected = call;                                                                             \
        entry = (type)find(ours, name);                                                                               \
        unsigned before = noted->resolved;                                                                            \
        check(name " first", (call) == expected);                                                                     \
        check(name " is looked up", noted->resolved == before + 1);                                                   \
        check(name " again", (call) == expected);                                                                     \
        check(name " is looked up once", noted->resolved == before + 1);                                              \
        check(name " starts with endbr64", memcmp((void *)entry, "\xf3\x0f\x1e\xfa", 4) == 0);                        \
    } while (0)

typedef double (*mixed)(int, double, long, float, unsigned char, double, long long, short, double, unsigned, double,
                        void *, double, double, double, double, size_t);
typedef int (*open2)(struct block, int, struct pair, struct point, struct place, const void *);
typedef int (*push)(unsigned long long, struct block, struct place, struct point, struct pair, void *);
typedef int (*wait)(void *);
typedef int (*own)(int);
typedef unsigned long long (*wide)(void);
typedef int (*copy)(unsigned long long, unsigned long long, size_t);

static void passed_on(struct block block, struct pair pair, struct point point, struct place place)
{
    int last = 77;
    COMPARE(mixed, "cuMixed",
            entry(-1, 2.5, -3L, 4.25f, 200, -6.5, 1LL << 40, -8, 9.125, 4000000000u, 11.0, (void *)0x1234, 13.5, 14.5,
                  15.5, 16.5, (size_t)1 << 33));
    COMPARE(open2, "cuOpen_v2", entry(block, 5, pair, point, place, &last));
    COMPARE(own, "cuOpen", entry(4321));
    COMPARE(wide, "cuWide", entry());
}

static void submitted(struct block block, struct pair pair, struct point point, struct place place)
{
    COMPARE(push, "cuPush", entry(99, block, place, point, pair, (void *)0x40));
    check("kind of a launch", noted->kind == 0);
    check("stream of a launch", noted->stream == 0x40);
    COMPARE(push, "cuPush_ptsz", entry(99, block, place, point, pair, NULL));
    check("per-thread stream", noted->stream == 2);
    COMPARE(copy, "cuCopy", entry(100, 40, 3));
    check("kind of a copy", noted->kind == 2);
    check("legacy stream", noted->stream == 1);
    check("result is seen", noted->result == 63);
    check("every submission enters and leaves", noted->entered == 6 && noted->left == 6);
    COMPARE(wait, "cuWait", entry((void *)0x55));
    check("every wait is seen", noted->waits == 2);
}

static void hooked(void)
{
    own entry = (own)find(ours, "cuOwn");
    check("our own entry calls the vendor's", entry(6) == 43);
    unsigned (*where)(const void *) = (unsigned (*)(const void *))find(ours, "hooked_where");
    const char *(*name)(unsigned) = (const char *(*)(unsigned))find(ours, "entry_name");
    for (int i = 0; i < 4; i++) {
        const char *hook = (const char *[]){"cuOwn", "cuPush", "cuPush_ptsz", "cuWait"}[i];
        check(hook, strcmp(name(where(find(ours, hook))), hook) == 0);
    }
    check("what is passed on is no hook", strcmp(name(where(find(ours, "cuMixed"))), "none") == 0);
    check("internals are hidden", !dlsym(ours, "tessera_real") && !dlsym(ours, "tessera_resolve"));
}

int main(int count, char **arguments)
{
    /* The vendor's first and for everybody: ours must not bind its own entries to the vendor's of the same name. */
    vendor = count == 3 ? dlopen(arguments[2], RTLD_NOW | RTLD_GLOBAL) : NULL;
    ours = count == 3 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!ours || !vendor) {
        printf("%s\n", dlerror());
        return 2;
    }
    noted = find(ours, "noted");
    ((void (*)(const char *))find(ours, "use_vendor"))(arguments[2]);
    struct block block;
    for (size_t i = 0; i < sizeof block.bytes; i++) {
        block.bytes[i] = (char)(i * 3 + 1);
    }
    struct pair pair = {2.5, -4000};
    struct point point = {1.5f, -2.5f, 3.5f};
    struct place place = {11, -13};
    passed_on(block, pair, point, place);
    submitted(block, pair, point, place);
    hooked();
    check("the stack is aligned in the resolver", noted->misaligned == 0);
    check("a debugger sees through the stub", noted->shallowest >= 4);
    printf("%d failures, %u looked up\n", failures, noted->resolved);
    return failures != 0;
}
