/*
 * Completion words whose values only grow. A word changes owners, and the device may still write a value that an earlier
 * owner asked for. So a word gets a new owner only after its last value was written. All values are even: device printf
 * adds one.
 */
#ifndef TESSERA_RELAY_COMPLETION_H
#define TESSERA_RELAY_COMPLETION_H

#include "relay/wire/relay.h"

/* A word for MARK or WATCH_EVENT; -1: no more than `leave` are left. */
int completion_take(struct relay_link *link, unsigned leave);

/* The next value to ask for. Calls for one word must not run concurrently. */
uint64_t completion_next(const struct relay_link *link, int word);

/* Gives a word back (-1: none). It is reused only after the last value asked for was written. */
void completion_give(struct relay_link *link, int word);

/*
 * Waits briefly for the word to reach `value`, which a record just sent asks for, at ring position `position` or later.
 * Gives up COMPLETION_SOON_NS after the executor has read the record, and after COMPLETION_READ_NS in all.
 */
#define COMPLETION_SOON_NS 30000u
#define COMPLETION_SOFTWARE_NS 20000000u /* replaces both on a software GPU, which runs on a busy CPU */
#define COMPLETION_READ_NS 300000u
bool completion_reached_soon(struct relay_link *link, int word, uint64_t value, uint64_t position);

#endif
