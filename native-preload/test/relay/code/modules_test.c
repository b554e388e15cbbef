/* Modules, libraries and links with their images, and occupancy, against a thread that plays the executor. */
#include <stdio.h>
#include <string.h>

#include "relay/code/image.h"
#include "relay/player.h"
#include "relay_stubs.h"

static CUfunction function;
static const char ptx[] = ".version 8.0\n.target sm_90\n";

static void modules(void)
{
    CUmodule module;
    CUfunction again;
    CHECK(relay_cuModuleLoadData(&module, ptx) == CUDA_SUCCESS);
    CHECK(relay_cuModuleGetFunction(&function, module, "f") == CUDA_SUCCESS);
    CHECK(relay_cuModuleGetFunction(&again, module, "f") == CUDA_SUCCESS && again == function);
    CHECK(calls[ENTRY_cuModuleGetFunction] == 1);

    char log[64] = "";
    int options[] = {4, 3};
    void *values[] = {(void *)sizeof log, log};
    CHECK(relay_cuModuleLoadDataEx(&module, ptx, 2, options, values) == CUDA_SUCCESS);
    CHECK(strcmp(log, "ptxas says hello") == 0 && values[0] == (void *)17 && values[1] == log);
    int addresses[] = {17};
    CHECK(relay_cuModuleLoadDataEx(&module, ptx, 1, addresses, values) == CUDA_ERROR_NOT_SUPPORTED);
    CHECK(relay_cuModuleLoad(&module, "/no/such/file") == CUDA_ERROR_FILE_NOT_FOUND);
    CHECK(relay_cuModuleLoadData(&module, "MZ") == CUDA_ERROR_INVALID_IMAGE);
}

static void images(void)
{
    static struct {
        uint32_t magic;
        uint16_t version, header;
        uint64_t bytes;
        unsigned char entries[200000];
    } fatbin = {0xba55ed50u, 1, 16, 200000, {0}}, part = {0xba55ed50u, 1, 16, 24, {0}};
    struct {
        uint32_t magic, version;
        const void *data;
        const void *const *linked;
    } wrapper = {0x466243b1u, 1, &fatbin, NULL};
    const void *parts[] = {&part, NULL};
    struct image image;
    CHECK(image_measure(&wrapper, &image) == CUDA_SUCCESS && image.bytes == 200016 && image.data == &fatbin);
    wrapper.version = 2;
    wrapper.linked = parts;
    CHECK(image_measure(&wrapper, &image) == CUDA_SUCCESS && image.bytes == 16 + 16 + 200016 + 40);
    image_release(&image);
    part.bytes = ~0ULL;
    CHECK(image_measure(&part, &image) == CUDA_ERROR_INVALID_IMAGE);
    CHECK(image_measure("", &image) == CUDA_ERROR_INVALID_IMAGE);

    CUmodule module;
    bulk_bytes = 0;
    wrapper.version = 1;
    CHECK(relay_cuModuleLoadFatBinary(&module, &wrapper) == CUDA_SUCCESS);
    CHECK(bulk_bytes == 200016);
}

static void occupancy(void)
{
    int blocks = 0;
    for (int i = 0; i < 3; i++)
        CHECK(relay_cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 128, 0) == CUDA_SUCCESS &&
              blocks == 4);
    CHECK(calls[ENTRY_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags] == 1);
    CHECK(relay_cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 900) == CUDA_SUCCESS);
    CHECK(relay_cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 128, 0) == CUDA_SUCCESS);
    CHECK(calls[ENTRY_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags] == 2);
}

static void *ask_many(void *first)
{
    int blocks;
    relay_current = &context;
    for (size_t i = 0; i < 300; i++) /* twice as many as are kept */
        CHECK(relay_cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 128, (size_t)first + i) ==
              CUDA_SUCCESS);
    return NULL;
}

/* Answers that one thread forgets are not used by another one. */
static void occupancy_by_threads(void)
{
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, ask_many, (void *)(1000 + i * 1000)) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* A library gets to a second device as to the first one: with the program's options, but without room for values and logs. */
static void library_on_two_devices(void)
{
    struct relay_context other = {.link = &relay_links[1], .number = 6, .alive = true};
    unsigned char *sent = last_call[ENTRY_cuLibraryLoadData], before[512], log[64] = "";
    int options[] = {CU_JIT_MAX_REGISTERS, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER};
    void *values[] = {(void *)24, (void *)sizeof log, log};
    size_t arguments = 8 * sizeof(uint64_t);
    CUlibrary library;
    CUkernel kernel;
    relay_links[1] = (struct relay_link){.segment = segment, .device = 1, .number = 1, .socket = -1};
    relay_link_count = 2;
    CHECK(relay_cuLibraryLoadData(&library, ptx, options, values, 3, NULL, NULL, 0) == CUDA_SUCCESS);
    memcpy(before, sent, sizeof before);
    values[0] = (void *)77; /* the program's array is its own again */
    relay_current = &other;
    CHECK(relay_cuLibraryGetKernel(&kernel, library, "f") == CUDA_SUCCESS);
    CHECK(calls[ENTRY_cuLibraryLoadData] == 2 && ((uint64_t *)(void *)sent)[4] == 3);
    CHECK(memcmp(sent + arguments, before + arguments, sizeof before - arguments) == 0 && values[0] == (void *)77);
    relay_current = &context;
    relay_link_count = 1;
}

#define LINK_PIECE 61440u /* of an image, in one answer */

static uint64_t linked_bytes[2]; /* the size of the linked image, as the executor gives it with each piece */

static bool links(const struct tessera_record *record)
{
    static unsigned char piece[LINK_PIECE + sizeof(uint64_t)];
    static unsigned pieces;
    uint64_t linker = HANDLE(TESSERA_HANDLE_LINKER, 3);
    if (record->kind != TESSERA_RELAY_CALL)
        return false;
    if (record->entry == ENTRY_cuLinkCreate_v2)
        answer(record, CUDA_SUCCESS, &linker, sizeof linker);
    else if (record->entry == ENTRY_cuLinkComplete) {
        memcpy(piece + LINK_PIECE, &linked_bytes[pieces++ % 2], sizeof(uint64_t));
        answer(record, CUDA_SUCCESS, piece, sizeof piece);
    }
    return record->entry == ENTRY_cuLinkCreate_v2 || record->entry == ENTRY_cuLinkComplete;
}

static CUresult link_of(uint64_t first, uint64_t second)
{
    CUlinkState state;
    void *image;
    size_t bytes = 0;
    linked_bytes[0] = first;
    linked_bytes[1] = second;
    CHECK(relay_cuLinkCreate_v2(0, NULL, NULL, &state) == CUDA_SUCCESS);
    CUresult result = relay_cuLinkComplete(state, &image, &bytes);
    CHECK(result != CUDA_SUCCESS || bytes == first);
    CHECK(relay_cuLinkDestroy(state) == CUDA_SUCCESS);
    return result;
}

static void linker(void)
{
    player_serves = links;
    CHECK(link_of(LINK_PIECE + 100, LINK_PIECE + 100) == CUDA_SUCCESS);
    CHECK(link_of(LINK_PIECE + 100, LINK_PIECE * 2) == CUDA_ERROR_INVALID_IMAGE); /* more than there is room for */
    CHECK(link_of(LINK_PIECE + 100, LINK_PIECE - 1) == CUDA_ERROR_INVALID_IMAGE);
    player_settle();
    player_serves = NULL;
}

/* Answers a handle that no table takes, as if the table were full. */
static bool makes_too_many(const struct tessera_record *record)
{
    static const uint64_t handle = 1;
    bool makes = record->kind == TESSERA_RELAY_CALL &&
                 (record->entry == ENTRY_cuLinkCreate_v2 || record->entry == ENTRY_cuLibraryLoadData);
    if (makes)
        answer(record, CUDA_SUCCESS, &handle, sizeof handle);
    return makes;
}

/* What the client has no room for ends in the executor, too. */
static void too_many(void)
{
    CUlinkState state;
    CUlibrary library;
    unsigned links_ended = calls[ENTRY_cuLinkDestroy], libraries_ended = calls[ENTRY_cuLibraryUnload];
    player_serves = makes_too_many;
    CHECK(relay_cuLinkCreate_v2(0, NULL, NULL, &state) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(relay_cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0) == CUDA_ERROR_OUT_OF_MEMORY);
    player_settle();
    player_serves = NULL;
    CHECK(calls[ENTRY_cuLinkDestroy] == links_ended + 1 && calls[ENTRY_cuLibraryUnload] == libraries_ended + 1);
}

int main(void)
{
    player_begin();
    modules();
    images();
    occupancy();
    occupancy_by_threads();
    library_on_two_devices();
    linker();
    too_many();
    player_end();
    return 0;
}
