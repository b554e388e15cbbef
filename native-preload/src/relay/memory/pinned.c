/* Memory that client and executor map at one address (RELAY.md, section 6). */
#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "relay/executor/fd_request.h"
#include "relay/memory/pinned.h"
#include "relay/wire/executor_notice.h"
#include "relay/wire/relay.h"
#include "session/report.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define ATTEMPTS 16u
#define ADDRESS_STEP (1ULL << 30)

/* Says it once, since a program may try again and again. */
static void tell_no_descriptor(uint64_t bytes)
{
    static int told;
    struct rlimit most = {0};
    if (__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED))
        return;
    getrlimit(RLIMIT_NOFILE, &most);
    report_line("%" PRIu64
                " bytes of pinned memory are refused: this program may open %llu descriptors, and has none left for them; "
                "close files, or raise the limit (ulimit -n)",
                bytes, (unsigned long long)most.rlim_cur);
}

static CUresult ask(struct relay_link *link, uint64_t bytes, uint64_t not_below, struct tessera_pinned *pinned,
                    int *descriptor)
{
    struct tessera_pin pin = {.bytes = bytes, .not_below = not_below};
    const struct fd_request request = {&pin.head, TESSERA_MSG_PIN, sizeof pin, -1, TESSERA_MSG_PINNED, sizeof *pinned};
    _Alignas(8) char buffer[FD_REQUEST_ANSWER_BYTES];
    CUresult result = fd_request_send(link, &request, buffer, descriptor);
    if (result != CUDA_SUCCESS)
        return result;
    const struct tessera_pinned *answer = (const struct tessera_pinned *)(const void *)buffer;
    *pinned = *answer;
    if (answer->result != CUDA_SUCCESS) {
        relay_notice(link);
        return answer->result;
    }
    if (*descriptor >= 0 && answer->bytes >= bytes)
        return CUDA_SUCCESS;
    relay_query(link, TESSERA_QUERY_UNPIN, answer->id, NULL, 0);
    if (*descriptor == -EMFILE)
        tell_no_descriptor(bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static bool map(const struct tessera_pinned *pinned, int descriptor)
{
    void *wanted = (void *)(uintptr_t)pinned->address;
    void *memory = mmap(wanted, pinned->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, descriptor, 0);
    if (memory != MAP_FAILED && memory != wanted) { /* kernels before 4.17 treat the address as a hint */
        munmap(memory, pinned->bytes);
        return false;
    }
    return memory != MAP_FAILED;
}

/* One attempt; `taken` is set where the address is not free here. */
static CUresult pin_once(struct relay_link *link, uint64_t bytes, uint64_t not_below, struct tessera_pinned *pinned,
                         bool *taken)
{
    int descriptor = -1;
    CUresult result = ask(link, bytes, not_below, pinned, &descriptor);
    if (result == CUDA_SUCCESS && !map(pinned, descriptor)) {
        *taken = true;
        relay_query(link, TESSERA_QUERY_UNPIN, pinned->id, NULL, 0);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (descriptor >= 0)
        close(descriptor);
    return result;
}

CUresult relay_pin(struct relay_link *link, uint64_t bytes, struct relay_pinned *out)
{
    struct tessera_pinned pinned;
    uint64_t not_below = 0;
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < ATTEMPTS; i++) {
        bool taken = false;
        result = pin_once(link, bytes, not_below, &pinned, &taken);
        if (!taken)
            break;
        not_below = pinned.address + ADDRESS_STEP;
    }
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t device_address = 0;
    result = relay_query(link, TESSERA_QUERY_PINNED, pinned.id, &device_address, sizeof device_address);
    if (result == CUDA_SUCCESS && device_address != pinned.address)
        result = CUDA_ERROR_NOT_SUPPORTED; /* this device has another address for it than the host */
    *out = (struct relay_pinned){pinned.id, (void *)(uintptr_t)pinned.address, pinned.bytes};
    if (result != CUDA_SUCCESS)
        relay_unpin(link, out);
    return result;
}

CUresult relay_unpin(struct relay_link *link, const struct relay_pinned *pinned)
{
    CUresult result = relay_query(link, TESSERA_QUERY_UNPIN, pinned->id, NULL, 0);
    munmap(pinned->address, pinned->bytes);
    return result;
}
