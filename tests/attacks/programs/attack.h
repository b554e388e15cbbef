/*
 * One attack is one process: `PROGRAM NAME` with ATTACK_FACTS naming the file in which the victim says where everything
 * of it is. Results go to stdout, one line each: `answer CODE WHERE` for a call that should have been refused, `loot
 * HEX` for bytes that the attacker got. Whether they are a secret the runner judges. `PROGRAM --list` prints
 * `NAME<tab>MUST<tab>WHAT` for each attack.
 */
#ifndef ATTACKS_ATTACK_H
#define ATTACKS_ATTACK_H

#include "driver.h"

/* Stated with every attack: what must happen to the attacker. That the victim never notices goes without saying. */
#define REFUSED "refused"   /* every answer is an error */
#define HARMLESS "harmless" /* whatever it is answered */
#define ENDS "ends"         /* the attacker ends by itself, within its bound */

struct attack {
    const char *name, *must, *what;
    void (*run)(void);
};

int attack_main(int argc, char **argv, const struct attack *attacks, size_t count);
#define ATTACKS(table)                                                                                                 \
    int main(int argc, char **argv)                                                                                    \
    {                                                                                                                  \
        return attack_main(argc, argv, table, sizeof table / sizeof table[0]);                                         \
    }

/* What the victim says of itself; 0 where it has no such thing. */
uint64_t fact(const char *name);
void answer(CUresult result, const char *where);
void loot(const void *bytes, size_t count);
/* Ends the attack where not even its beginning works, which is not what it was to show. */
void need(CUresult result, const char *what);
#define NEED(call) need((call), #call)
#define ANSWER(call) answer((call), #call)
/* An asynchronous call's error may come with a later one: the answer is what both say. */
void later(CUresult result, const char *where);
#define LATER(call) later((call), #call)

/* A number of things to be made: a tenth of it in a build, which sets ATTACK_SHARE; bounds that an executor has lie below that or do not depend on it. */
int count_of(int whole);

/* Memory of the attacker's own, and bytes of the victim that attacks aim at. */
enum { OWN_BYTES = 1 << 20, LOOT_BYTES = 256 };
CUdeviceptr own_memory(void);
/* Takes what lies in the attacker's own memory for loot. */
void loot_device(CUdeviceptr from, size_t count);

#endif
