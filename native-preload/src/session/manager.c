#include "session/manager.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "session/connection.h"
#include "session/settings.h"
#include "tessera_relay.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int manager = -1;      /* the socket; sent to with the lock, closed by the manager client's thread alone */
static uint32_t unsent_bells; /* one bit for each device whose doorbell found a full socket */

int manager_socket(void)
{
    return __atomic_load_n(&manager, __ATOMIC_ACQUIRE);
}

bool manager_connected(void)
{
    return manager_socket() >= 0;
}

void manager_set_socket(int socket)
{
    pthread_mutex_lock(&lock);
    int old = manager;
    __atomic_store_n(&manager, socket, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    if (old >= 0)
        close(old);
}

int manager_send(struct tessera_message *message, uint16_t type, uint32_t bytes, unsigned device)
{
    pthread_mutex_lock(&lock);
    int result = manager < 0 ? -ENOTCONN : connection_send(manager, message, type, bytes, device);
    pthread_mutex_unlock(&lock);
    return result;
}

void manager_ring(unsigned device)
{
    struct tessera_doorbell bell;
    if (manager_send(&bell.head, TESSERA_MSG_DOORBELL, sizeof bell, device) == -EAGAIN)
        __atomic_fetch_or(&unsent_bells, 1u << device, __ATOMIC_RELAXED); /* the next tick rings again */
}

uint32_t manager_unrung(void)
{
    return __atomic_exchange_n(&unsent_bells, 0, __ATOMIC_RELAXED);
}

bool manager_quota(uint16_t type, unsigned device, uint64_t bytes)
{
    struct tessera_quota message = {.bytes = bytes};
    return manager_send(&message.head, type, sizeof message, device) == 0;
}

bool manager_ask_relay(void)
{
    struct tessera_relay_ask message = {
        .fence = settings()->fence,
        .unfenced = settings()->unfenced,
        .fence_alone = settings()->fence_alone,
        .kernel_timeout_s = settings()->kernel_timeout_s,
    };
    return manager_send(&message.head, TESSERA_MSG_RELAY_ASK, sizeof message, 0) == 0;
}

void manager_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    if (manager >= 0)
        close(manager); /* closes the child's descriptor; the parent's connection stays open */
    manager = -1;
    unsent_bells = 0;
}
