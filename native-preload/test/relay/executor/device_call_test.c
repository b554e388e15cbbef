/* In which context a call about a device is made. */
#include "relay/executor/device_call.h"

#include "relay/player.h"
#include "relay/wire/context.h"

static void callers(void)
{
    struct relay_context *primary = relay_primary(&relay_links[1]), *caller;
    CHECK(device_caller(-1, &caller) == CUDA_ERROR_INVALID_DEVICE &&
          device_caller(2, &caller) == CUDA_ERROR_INVALID_DEVICE);
    CHECK(device_caller(0, &caller) == CUDA_SUCCESS && caller == &context);
    CHECK(device_caller(1, &caller) == CUDA_SUCCESS && caller->link == &relay_links[1] && !caller->alive &&
          caller->number == 0);
    CHECK(context_retain(primary) == CUDA_SUCCESS && device_caller(1, &caller) == CUDA_SUCCESS && caller == primary);
    context.alive = false; /* destroyed, but still current */
    CHECK(device_caller(0, &caller) == CUDA_SUCCESS && caller != &context && caller->link == &relay_links[0]);
    context.alive = true;
}

static void locations(void)
{
    const struct device_location host = {2, 77}, device = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
    struct device_location travelling;
    struct relay_context *caller;
    CHECK(device_caller_at(NULL, &travelling, &caller) == CUDA_ERROR_INVALID_VALUE);
    CHECK(device_caller_at(&device, &travelling, &caller) == CUDA_SUCCESS && caller->link == &relay_links[1]);
    CHECK(travelling.type == CU_MEM_LOCATION_TYPE_DEVICE && travelling.id == 0); /* an executor has one device */
    CHECK(device_caller_at(&host, &travelling, &caller) == CUDA_SUCCESS && caller == &context && travelling.id == 77);
    relay_current = NULL;
    CHECK(device_caller_at(&host, &travelling, &caller) == CUDA_ERROR_INVALID_CONTEXT);
    relay_current = &context;
}

static void lost(void)
{
    struct relay_context *caller;
    __atomic_store_n(&relay_links[1].lost, 1, __ATOMIC_RELEASE);
    CHECK(device_caller(1, &caller) == CUDA_ERROR_CONTEXT_IS_DESTROYED && device_caller(0, &caller) == CUDA_SUCCESS);
}

int main(void)
{
    player_begin();
    relay_links[1] = (struct relay_link){.segment = segment, .device = 1, .number = 1, .socket = -1};
    relay_link_count = 2;
    context_prepare_primary(&relay_links[0], NULL);
    context_prepare_primary(&relay_links[1], NULL);
    callers();
    locations();
    lost();
    player_end();
    return 0;
}
