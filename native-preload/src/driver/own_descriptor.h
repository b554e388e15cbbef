/* Keeps the library's descriptors above those of the three standard streams: a program that starts with one of these closed
 * would otherwise write its output into a socket or a file of the library. */
#ifndef TESSERA_OWN_DESCRIPTOR_H
#define TESSERA_OWN_DESCRIPTOR_H

/* Takes a descriptor, or -1. Returns it; if it is 0, 1 or 2, closes it and returns a close-on-exec duplicate above 2. -1 with
 * errno set: `descriptor` was -1, or there is no free descriptor. Any thread. */
int own_descriptor(int descriptor);

#endif
