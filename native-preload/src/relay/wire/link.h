/* Creation of links. Include relay.h first. */
#ifndef TESSERA_RELAY_LINK_H
#define TESSERA_RELAY_LINK_H

#include "relay/wire/relay.h"

/* Fills one link in. At cuInit, before link_watch(). The link owns segment and socket from now on. */
void link_open(unsigned device, unsigned number, struct tessera_relay_segment *segment, int socket);

/* Makes the first `count` links known and starts the thread that watches them. False: no thread. */
bool link_watch(unsigned count);

/* Gives a link up, with a line that says why; a second time does nothing. Any thread. */
void link_lose(struct relay_link *link, const char *why);

/* In the child of a fork: no link is left. */
void link_forked(void);

#endif
