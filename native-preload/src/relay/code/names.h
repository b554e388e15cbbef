/* Results of lookups by name in modules and libraries; the executor is asked once for each name. Any thread. */
#ifndef TESSERA_RELAY_NAMES_H
#define TESSERA_RELAY_NAMES_H

#include <stdbool.h>
#include <stdint.h>

enum name_kind {
    NAME_FUNCTION = 1, /* of a module: CUfunction */
    NAME_KERNEL = 2,   /* of a library: CUkernel */
    NAME_GLOBAL = 3,   /* device address */
    NAME_MANAGED = 4,
};

struct name_answer {
    uint64_t value; /* handle or address */
    uint64_t bytes; /* of a global */
};

/* The remembered answer for a name, if there is one. `owner`: the executor's handle of the module or library. */
bool names_find(uint64_t owner, enum name_kind kind, const char *name, struct name_answer *answer);

/*
 * Remembers an answer. name NULL: the value has no name, but is forgotten with its owner. Without memory the next
 * lookup asks the executor again.
 */
void names_put(uint64_t owner, enum name_kind kind, const char *name, struct name_answer answer);

/* The name under which a value was found, or NULL; lives as long as its owner. */
const char *names_of(uint64_t value, enum name_kind kind);

/* Sets the function that is called for each CUfunction and CUkernel that is forgotten with its owner. At cuInit. */
void names_on_forget(void (*forgotten)(uint64_t function));

/* Forgets an owner's names and the ranges of its globals. */
void names_forget(uint64_t owner);

#endif
