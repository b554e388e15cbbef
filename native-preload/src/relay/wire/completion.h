/*
 * Completion words with an order of values. Words change owners, and the device may still write what an earlier owner
 * asked for: so the values of a word only grow, all are even (device printf adds one), and a word is handed on only when
 * its last value was written.
 */
#ifndef TESSERA_RELAY_COMPLETION_H
#define TESSERA_RELAY_COMPLETION_H

#include "relay/wire/relay.h"

/* A word for MARK or WATCH_EVENT; -1: no more than `leave` are left. */
int completion_take(struct relay_link *link, unsigned leave);

/* The next value to ask for. The caller orders its own calls for one word. */
uint64_t completion_next(const struct relay_link *link, int word);

/* Gives a word back as soon as the last value asked for was written. */
void completion_give(struct relay_link *link, int word);

/*
 * Looks whether the answer to a question comes that was sent just now, at ring position `position` or later: until the
 * executor has read it and some time more (COMPLETION_SOON_NS), in all at most COMPLETION_READ_NS.
 */
#define COMPLETION_SOON_NS 30000u
#define COMPLETION_SOFTWARE_NS 20000000u /* instead of both, where threads of a busy machine are the device */
#define COMPLETION_READ_NS 300000u
bool completion_reached_soon(struct relay_link *link, int word, uint64_t value, uint64_t position);

#endif
