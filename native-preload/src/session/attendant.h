/*
 * The thread that talks to the manager: registers, receives orders and quotas, beats the heart, and notices when the
 * manager is gone. It never calls the driver, so nothing the GPU does can keep it from answering.
 */
#ifndef TESSERA_ATTENDANT_H
#define TESSERA_ATTENDANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * At the first cuInit: tries to register, waiting as long as for a sign of life, and starts the thread. False: no
 * manager although TESSERA_REQUIRE asks for one. Idempotent.
 */
bool attendant_start(void);

/* Tells the manager of a device whose slot is filled. Any thread; never waits. */
void attendant_announce(unsigned device);

/* In the child of a fork. */
void attendant_forked(void);

/* Why there was no manager when one was last looked for. Any thread. */
void attendant_why(char *to, size_t size);

#endif
