/*
 * Which port the process uses: direct, to the vendor's library and a context of its own, or relay, to an executor. It
 * is chosen once, at the first use of any entry, from the settings; every exported symbol jumps through tessera_port.
 */
#ifndef TESSERA_PORT_H
#define TESSERA_PORT_H

#include <stdbool.h>

/* Fills the table at the first call. Any thread; calls nothing of the driver. */
void tessera_choose_port(void);

/* Called by the stubs that the table starts with (trampolines.S): where the entry goes on, never NULL. */
void *tessera_choose(unsigned index);

/* Whether the process uses the relay port; chooses. */
bool port_is_relay(void);

#endif
