/* User objects: the program's own things that graphs keep alive. They never leave the client. */
#ifndef TESSERA_RELAY_USER_OBJECTS_H
#define TESSERA_RELAY_USER_OBJECTS_H

#include "relay/wire/relay.h"

struct user_object;

/* Gives references back; the last one runs the program's destructor, on the calling thread. */
void user_object_release(struct user_object *object, unsigned count);

#endif
