/* Whether cuInit has succeeded in this process: what relay_started() answers (relay.h). Any thread. */
#ifndef TESSERA_RELAY_INIT_STATE_H
#define TESSERA_RELAY_INIT_STATE_H

#include <stdbool.h>

/* cuInit has succeeded. */
void init_state_begin(void);

/* In the child of a fork: as if cuInit had not been called. Whether it had succeeded in the parent. */
bool init_state_forked(void);

#endif
