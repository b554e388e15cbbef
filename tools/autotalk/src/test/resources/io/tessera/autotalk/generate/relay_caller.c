/* Calls what was generated for the relay port of relay_driver.h, and looks at what arrives where it is sent. */
#include <stdio.h>
#include <string.h>

#include "relay/entry/lookup.h"
#include "relay/wire/unsupported.h"
#include "relay/streams/forward_call.h"
#include "relay_stubs.h"

static const struct relay_description *last;
static uint64_t slots[32];
static int waited, failures, refused, content;

static CUresult note(const struct relay_description *description, const uint64_t *arguments, int waits)
{
    last = description;
    waited = waits;
    memset(slots, 0, sizeof slots);
    for (unsigned i = 0; i < description->parameters; i++) {
        const struct relay_parameter *p = &description->parameter[i];
        slots[i] = arguments[i];
        if (p->extent == RELAY_EXTENT_GIVEN)
            slots[p->index] = arguments[p->index];
        if (p->shape == RELAY_STRUCTURE)
            content = *(const unsigned char *)(uintptr_t)arguments[i];
    }
    return 77;
}

CUresult relay_call(const struct relay_description *description, const uint64_t *arguments)
{
    return note(description, arguments, 1);
}

CUresult relay_post(const struct relay_description *description, const uint64_t *arguments)
{
    return note(description, arguments, 0);
}

CUresult relay_unsupported(const char *name, const char *reason)
{
    refused = strcmp(name, "cuMemAllocManaged") == 0 && strlen(reason) > 0;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static void check(int holds, const char *what)
{
    if (!holds) {
        printf("wrong: %s\n", what);
        failures++;
    }
}

static void numbers(void)
{
    CUstream stream = (CUstream)0x600001000010;
    check(relay_cuMemsetD8Async(0x7f0000001000, 0xff, 1ull << 33, stream) == 77, "the answer comes back");
    check(!waited && last->entry == ENTRY_cuMemsetD8Async && last->parameters == 4 && last->stream == 3, "memset");
    check(slots[0] == 0x7f0000001000 && slots[1] == 0xff && slots[2] == 1ull << 33 && slots[3] == 0x600001000010,
          "its slots");
    relay_cuMemsetD8Async_ptsz(1, 2, 3, NULL);
    check(last->entry == ENTRY_cuMemsetD8Async && slots[3] == TESSERA_STREAM_PER_THREAD, "a twin's stream 0");
    relay_cuMemsetD8Async_ptsz(1, 2, 3, stream);
    check(slots[3] == 0x600001000010, "a twin's other streams");
    relay_cuTexRefSetMipmapLevelBias((CUtexref)16, -1.5f);
    check(slots[1] == 0xbfc00000, "a float");
    relay_cuTexRefSetAddressMode((CUtexref)16, -7, 3);
    check(slots[1] == (uint64_t)-7 && last->stream == RELAY_NO_STREAM, "a negative number");
}

static void lengths(void)
{
    CUdeviceptr address;
    CUtexref reference;
    CUgraphNode nodes[5];
    size_t count = 5;
    check(relay_send_cuMemAlloc_v2(&address, 4096) == 77 && waited, "an allocation waits");
    check(relay_bytes(last, 0, slots) == sizeof address && relay_bytes(last, 1, slots) == 0, "one element; a number");
    check(last->parameter[0].direction == RELAY_OUT, "a result");
    relay_cuModuleGetTexRef(&reference, (CUmodule)32, "texture");
    check(relay_bytes(last, 2, slots) == 8 && last->parameter[2].direction == RELAY_IN, "text with its zero");
    check(last->parameter[0].handle == TESSERA_HANDLE_TEXREF && last->parameter[1].handle == TESSERA_HANDLE_MODULE,
          "kinds of handles");
    relay_cuGraphGetNodes((CUgraph)48, nodes, &count);
    check(relay_bytes(last, 1, slots) == sizeof nodes && last->parameter[2].direction == (RELAY_IN | RELAY_OUT),
          "as many as stand behind a parameter");
    relay_cuGraphGetNodes((CUgraph)48, NULL, &count);
    check(relay_bytes(last, 1, slots) == 0 && relay_bytes(last, 2, slots) == 8, "a null pointer");
    unsigned long long dimensions[5] = {0};
    relay_cuTensorMapEncode(5, dimensions, dimensions);
    check(relay_bytes(last, 1, slots) == 40 && relay_bytes(last, 2, slots) == 32, "a parameter's value, and one less");
    relay_cuTensorMapEncode(0, dimensions, dimensions);
    check(relay_bytes(last, 2, slots) == 0, "never below nothing");
    CUmodule module;
    relay_send_cuModuleLoadData(&module, "image", 5);
    check(last->parameters == 2 && relay_bytes(last, 1, slots) == 5, "a length that the front gives");
    struct tessera_value_64 handle = {{42}};
    relay_cuIpcOpenMemHandle(&address, handle, 1);
    check(relay_bytes(last, 1, slots) == 64 && content == 42 && last->parameter[1].direction == RELAY_IN,
          "a structure by value");
}

static void refusals(void)
{
    CUresult (*managed)(void) = (CUresult(*)(void))tessera_relay_port[ENTRY_cuMemAllocManaged];
    check(managed() == CUDA_ERROR_NOT_SUPPORTED && refused, "a refusal");
    check(tessera_relay_port[ENTRY_cuMemsetD8Async] == (void *)relay_cuMemsetD8Async, "the port's table");
    check(!tessera_relay_port[ENTRY_cuInit], "what is hand-written is not here");
}

/* What a client's cuGetProcAddress does with the table. */
static int find(const char *name, int version, int per_thread)
{
    int found = -1;
    for (unsigned i = 0; i < relay_lookup_count; i++)
        if (strcmp(relay_lookups[i].name, name) == 0 && relay_lookups[i].since <= version &&
            (relay_lookups[i].per_thread == 0 || per_thread))
            found = relay_lookups[i].entry;
    return found;
}

static void lookups(void)
{
    for (unsigned i = 1; i < relay_lookup_count; i++)
        check(strcmp(relay_lookups[i - 1].name, relay_lookups[i].name) <= 0, "the order of names");
    check(find("cuMemAlloc", 3010, 0) == ENTRY_cuMemAlloc && find("cuMemAlloc", 13000, 1) == ENTRY_cuMemAlloc_v2,
          "versions");
    check(find("cuMemsetD8Async", 12000, 1) == ENTRY_cuMemsetD8Async_ptsz &&
              find("cuMemsetD8Async", 12000, 0) == ENTRY_cuMemsetD8Async &&
              find("cuMemsetD8Async", 6000, 1) == ENTRY_cuMemsetD8Async,
          "twins");
    check(find("cuMemAlloc", 1000, 0) == -1 && find("cuModuleLoadData", 13000, 0) == -1, "what is not there");
}

int main(void)
{
    numbers();
    lengths();
    refusals();
    lookups();
    printf("%d failures\n", failures);
    return failures != 0;
}
