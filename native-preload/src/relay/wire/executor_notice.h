/* What the executor has to say to the user of this program, and what it asks the program to do. */
#ifndef TESSERA_RELAY_EXECUTOR_NOTICE_H
#define TESSERA_RELAY_EXECUTOR_NOTICE_H

#include "relay/wire/relay.h"

/*
 * After a call that failed: shows the lines that are new, and starts the program again in time sharing if the executor
 * asks for that (RELAY.md, section 9); then it does not return. Any thread.
 */
void relay_notice(struct relay_link *link);

/*
 * As relay_notice(), after the context's error was found. The GPU writes the error of a stray write before the
 * executor knows of it, so the first time its line is waited for: some ms, 1 s at most.
 */
void relay_notice_of(struct relay_link *link, CUresult error);

/*
 * The program ends: shows the lines that are new, and does nothing else. Does not wait for the thread that shows lines: it may be
 * this one, in a signal handler that ends the program.
 */
void relay_notice_at_end(struct relay_link *link);

/*
 * The program ends: shows new lines, including those about work for which no call has waited. Waits for
 * that work, 1 s at most, and not for other threads.
 */
void relay_last_notices(void);

#endif
