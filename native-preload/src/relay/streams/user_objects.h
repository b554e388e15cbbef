/* User objects: the program's own things that graphs keep alive. They never leave the client. */
#ifndef TESSERA_RELAY_USER_OBJECTS_H
#define TESSERA_RELAY_USER_OBJECTS_H

#include "relay/wire/relay.h"

struct user_object;

/* Makes an object with `count` references; 0: no memory. `destroy` is called with `data` when the last reference goes. */
uint64_t user_object_make(void (*destroy)(void *data), void *data, unsigned count);

/* The object of a handle; NULL: none. */
struct user_object *user_object_of(uint64_t handle);

void user_object_retain(struct user_object *object, unsigned count);

/* Gives references back; the last one runs the program's destructor, on the calling thread. */
void user_object_release(struct user_object *object, unsigned count);

/* As user_object_release(), for the program, which may release too many. False: it did, and nothing is released. */
bool user_object_give_back(struct user_object *object, unsigned count);

#endif
