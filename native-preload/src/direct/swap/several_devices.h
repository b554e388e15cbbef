/*
 * Plan auto in a program with contexts on several devices. Each device may access the memory of another at any time,
 * but each device has its own turns and moves. Also, the driver copies mapped memory between devices only if it is
 * mapped for both. So the program's memory is fixed and mapped for all devices, and the driver makes later allocations.
 */
#ifndef TESSERA_SEVERAL_DEVICES_H
#define TESSERA_SEVERAL_DEVICES_H

#include <stdbool.h>

/*
 * To be called when the process may have a context on one more device; cheap if it has not. If memory has to be fixed,
 * waits for turns on the other devices, as a launch does. The calling thread holds no lock and is in no submission.
 */
void several_devices_opened(void);

/*
 * The slot of the device that the calling thread allocates on; -1: no turns there, so pass through. Calls
 * several_devices_opened(), because a context may have been created without a call of the library.
 */
int several_devices_current(void);

/* In the child of a fork. */
void several_devices_forked(void);

#endif
