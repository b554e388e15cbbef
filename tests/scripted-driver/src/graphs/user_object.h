/*
 * User objects: things of the program that live as long as the graphs that hold them, the executables made of those,
 * and their launches. Everything here runs under the driver's lock.
 */
#ifndef SCRIPTED_USER_OBJECT_H
#define SCRIPTED_USER_OBJECT_H

#include <stddef.h>

struct user_object;

/* One reference each. */
struct user_objects {
    struct user_object **items;
    size_t count;
};

/* Adds a reference to each of `from` to the list. */
void user_objects_share(struct user_objects *to, const struct user_objects *from);

/* Releases the references of the list; objects without references are destroyed by a separate thread. */
void user_objects_release(struct user_objects *list);

#endif
