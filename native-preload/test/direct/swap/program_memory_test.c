/* Exportable memory of a program (cuMemCreate): large memory moves in chunks, and becomes one allocation when it is exported. */
#define DRIVER_SCRIPT "devices 1; memory 256MiB"
#define DRIVER_MEMORY (256ULL << 20)
#include "direct/swap/program_mapping.h"
#include "direct/swap/program_memory.h"
#include "moving_program.h"

#define CAPACITY (64 * MIB) /* a chunk is a 32nd of it */
#define CHUNK (2 * MIB)
#define LARGE (17 * CHUNK) /* more than is one allocation from the start */
#define SMALL (16 * CHUNK)

static const struct driver_allocation_properties exportable = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .requested_handle_types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
    .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
};

static unsigned long long create(uint64_t bytes)
{
    unsigned long long handle = 0;
    CHECK(program_takes(0, bytes, &exportable, 0));
    CHECK(program_create(&handle, bytes, 0, &exportable) == CUDA_SUCCESS);
    return handle;
}

static unsigned allocations(unsigned long long handle)
{
    unsigned count = 0;
    residency_lock();
    for (const struct chunk *chunk = program_find(handle)->chunks; chunk; chunk = chunk->sibling)
        count++;
    residency_unlock();
    return count;
}

static CUdeviceptr map(unsigned long long handle, uint64_t bytes)
{
    struct driver_access access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr at = 0;
    CHECK(REAL(cuMemAddressReserve)(&at, bytes, 0, 0, 0) == CUDA_SUCCESS);
    CHECK(program_map(at, bytes, 0, handle, 0) == CUDA_SUCCESS);
    CHECK(program_set_access(at, &access, 1) == CUDA_SUCCESS);
    return at;
}

static void unmap(unsigned long long handle, CUdeviceptr at, uint64_t bytes)
{
    CHECK(program_unmap(at) == CUDA_SUCCESS && program_release(handle) == CUDA_SUCCESS);
    CHECK(REAL(cuMemAddressFree)(at, bytes) == CUDA_SUCCESS);
    CHECK(driver_held() == 0 && now().needed == 0 && now().fixed == 0);
}

/* A framework allocates most of the device so and writes little of it: only that is copied. */
static void large_memory_moves_in_parts(void)
{
    unsigned long long handle = create(LARGE), real;
    CHECK(allocations(handle) == LARGE / CHUNK);
    CUdeviceptr at = map(handle, LARGE);
    memset((void *)(uintptr_t)at, 0, LARGE);
    struct held written = {.at = at + 3 * CHUNK, .bytes = 2 * MIB, .seed = 5};
    fill(&written);
    await_pinned();
    uint64_t before = words()->moved_out_bytes;
    leave();
    CHECK(words()->moved_out_bytes - before == written.bytes);
    come_back();
    verify(&written);
    CHECK(program_fix(handle, &real) == CUDA_ERROR_NOT_PERMITTED); /* a kernel may use it */
    leave();
    come_back();
    verify(&written);
    unmap(handle, at, LARGE);
}

static void what_is_exported_first_is_one_allocation(void)
{
    unsigned long long handle = create(LARGE), real = 0, again = 0;
    order(LARGE + CHUNK);
    CHECK(program_fix(handle, &real) == CUDA_ERROR_OUT_OF_MEMORY); /* no room for a second one */
    CHECK(allocations(handle) == LARGE / CHUNK && driver_held() == LARGE && now().resident == LARGE);
    order(DRIVER_MEMORY);
    CHECK(program_fix(handle, &real) == CUDA_SUCCESS && real != 0 && allocations(handle) == 1);
    CHECK(driver_held() == LARGE && now().fixed == LARGE && now().resident == 0);
    CHECK(program_fix(handle, &again) == CUDA_SUCCESS && again == real);
    CUdeviceptr at = map(handle, LARGE);
    struct held written = {.at = at + LARGE - 2 * MIB, .bytes = 2 * MIB, .seed = 6};
    fill(&written);
    verify(&written);
    unmap(handle, at, LARGE);
}

static unsigned long long released;

static CUresult release_meanwhile(unsigned long long *handle, size_t bytes, const void *properties,
                                  unsigned long long flags)
{
    if (released)
        CHECK(program_release(released) == CUDA_SUCCESS);
    released = 0;
    return INJECTED(cuMemCreate)(handle, bytes, properties, flags);
}

/* Another thread may do that at any time. */
static void memory_that_is_released_while_it_becomes_one(void)
{
    unsigned long long real;
    released = create(LARGE);
    HOOK(cuMemCreate, release_meanwhile);
    CHECK(program_fix(released, &real) == CUDA_SUCCESS && !released);
    HOOK(cuMemCreate, INJECTED(cuMemCreate));
    CHECK(driver_held() == 0 && now().needed == 0 && now().fixed == 0 && now().resident == 0);
}

static void smaller_memory_can_be_exported_at_any_time(void)
{
    unsigned long long handle = create(SMALL), real = 0;
    CHECK(allocations(handle) == 1);
    CUdeviceptr at = map(handle, SMALL);
    CHECK(program_fix(handle, &real) == CUDA_SUCCESS && real != 0);
    unmap(handle, at, SMALL);
}

static void without_a_handle_type(void)
{
    struct driver_allocation_properties private = exportable;
    private.requested_handle_types = 0;
    unsigned long long handle = 0, real;
    CHECK(program_create(&handle, 2 * CHUNK, 0, &private) == CUDA_SUCCESS);
    CHECK(program_fix(handle, &real) == CUDA_ERROR_NOT_SUPPORTED);
    CHECK(program_release(handle) == CUDA_SUCCESS && driver_held() == 0);
}

int main(int count, char **arguments)
{
    (void)count;
    ensure_settings(arguments);
    alarm(HANGS_S);
    driver_load();
    open_device(true);
    words()->capacity_bytes = CAPACITY;
    residency_orders(0);
    large_memory_moves_in_parts();
    what_is_exported_first_is_one_allocation();
    memory_that_is_released_while_it_becomes_one();
    smaller_memory_can_be_exported_at_any_time();
    without_a_handle_type();
    printf("program_memory: ok\n");
    return 0;
}
