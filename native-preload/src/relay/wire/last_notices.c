/*
 * At the end of a program, shows what the executor reports about work for which no call has waited, since no later
 * call can return it.
 */
#include "driver/clock.h"
#include "relay/wire/backoff.h"
#include "relay/wire/completion.h"
#include "relay/wire/context.h"
#include "relay/wire/executor_notice.h"

/* How long the end of a program may be put off in all. */
#define LAST_NS 1000000000ULL
static uint64_t last_until_ns;

static void wait_last(struct relay_context *context)
{
    struct relay_link *link = context->link;
    struct relay_backoff backoff = {0};
    if (__atomic_load_n(&link->segment->context_error, __ATOMIC_ACQUIRE))
        return; /* a lost context reports nothing new */
    /* Not completion_take(): it may take a lock, which this thread may hold if a signal interrupted it. */
    int word = relay_word_take(link, 0);
    if (word < 0)
        return;
    uint64_t value = completion_next(link, word);
    if (!relay_send_last_mark(context, word, value, last_until_ns))
        return;
    while (!relay_word_reached(link, word, value) && monotonic_ns() < last_until_ns && relay_backoff_step(&backoff, link))
        ;
}

void relay_last_notices(void)
{
    last_until_ns = monotonic_ns() + LAST_NS;
    for (unsigned i = 0; i < relay_link_count; i++) {
        if (relay_link_alive(&relay_links[i]))
            context_each(&relay_links[i], wait_last);
        relay_notice_at_end(&relay_links[i]);
    }
}

/* In the child of a fork there is no link. */
__attribute__((destructor)) static void end(void)
{
    relay_last_notices();
}
