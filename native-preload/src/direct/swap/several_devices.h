/*
 * Plan auto in a program with contexts on several devices. Each device may access the memory of another at any time,
 * but turns and moves are separate for each device. Also, the driver copies memory that it did not allocate between
 * devices only if it is mapped for both. So the program's memory becomes resident and mapped for all devices, and later
 * allocations are the driver's.
 */
#ifndef TESSERA_SEVERAL_DEVICES_H
#define TESSERA_SEVERAL_DEVICES_H

#include <stdbool.h>

/*
 * The process may have a context on one more device; cheap if it has not. Waits for its turns on the others, as a launch would, if memory is there
 * that has to stay. The calling thread holds no lock and is in no submission.
 */
void several_devices_opened(void);

/*
 * The device that the calling thread allocates on: its slot; -1: not governed, pass through. Calls several_devices_opened(),
 * since a context may have come to life out of our sight.
 */
int several_devices_current(void);

/* In the child of a fork. */
void several_devices_forked(void);

#endif
