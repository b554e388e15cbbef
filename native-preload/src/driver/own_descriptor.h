/* Descriptors of the library above the three that a program's standard streams have: a program that starts with one of those
 * closed would otherwise write its output into a socket or a file of the library. */
#ifndef TESSERA_OWN_DESCRIPTOR_H
#define TESSERA_OWN_DESCRIPTOR_H

/* Takes a descriptor, or -1; returns it or, where it is a standard stream's, a copy above those, closed on exec, and closes it. -1 with errno
 * set: there is none. Any thread. */
int own_descriptor(int descriptor);

#endif
