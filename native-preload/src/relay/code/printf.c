#include "relay/code/printf.h"

#include <pthread.h>
#include <stdio.h>

void printf_flush(struct relay_link *link)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct tessera_relay_segment *segment = link->segment;
    uint64_t printed = __atomic_load_n(&segment->printed, __ATOMIC_ACQUIRE);
    if (printed == __atomic_load_n(&segment->print_taken, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&lock);
    uint64_t taken = segment->print_taken;
    printed = __atomic_load_n(&segment->printed, __ATOMIC_ACQUIRE);
    if (printed - taken > TESSERA_RELAY_PRINT_BYTES) /* an error of the executor: the buffer holds no more than this */
        taken = printed;
    while (taken != printed) {
        uint64_t place = taken & (TESSERA_RELAY_PRINT_BYTES - 1);
        uint64_t bytes = printed - taken;
        if (bytes > TESSERA_RELAY_PRINT_BYTES - place)
            bytes = TESSERA_RELAY_PRINT_BYTES - place;
        fwrite(segment->print + place, 1, bytes, stdout);
        taken += bytes;
    }
    __atomic_store_n(&segment->print_taken, taken, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}
