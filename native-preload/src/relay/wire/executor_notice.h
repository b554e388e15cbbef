/* What the executor has to say to the user of this program, and what it asks the program to do. */
#ifndef TESSERA_RELAY_EXECUTOR_NOTICE_H
#define TESSERA_RELAY_EXECUTOR_NOTICE_H

#include "relay/wire/relay.h"

/*
 * To be called after a call has failed. Shows the new lines. If the executor asks for it (RELAY.md, section 9), starts
 * the program again in time sharing, and then does not return. Any thread.
 */
void relay_notice(struct relay_link *link);

/*
 * As relay_notice(), after the context's error was found. The GPU reports a stray write before the executor knows of it.
 * So the first such error of a device waits for the executor's line: some ms, 1 s at most.
 */
void relay_notice_of(struct relay_link *link, CUresult error);

/*
 * The program ends: shows the new lines, and does nothing else. Does not wait for the lock: this thread may hold it, if a
 * signal handler ends the program.
 */
void relay_notice_at_end(struct relay_link *link);

/*
 * The program ends: shows new lines, including those about work for which no call has waited. Waits for
 * that work, 1 s at most, and not for other threads.
 */
void relay_last_notices(void);

#endif
