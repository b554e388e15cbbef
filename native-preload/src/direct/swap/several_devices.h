/*
 * Plan auto in a program that has contexts on more than one device. Any of them may copy from, or reach into, the memory of
 * another at any time, while turns and moves are each device's own; and memory that the driver did not allocate is copied
 * between devices only where it is mapped for both. So what the program has already stays where it is, mapped for all, and
 * what it allocates from then on is the driver's.
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
