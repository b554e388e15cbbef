/*
 * Questions to an executor that need a descriptor, either way: asked on its socket, where nothing else is said. One at a
 * time: the answer is received by who asked.
 */
#ifndef TESSERA_RELAY_QUESTION_H
#define TESSERA_RELAY_QUESTION_H

#include "relay/wire/relay.h"

#define QUESTION_ANSWER_BYTES 4096u

struct question {
    struct tessera_message *message; /* of `type` and `bytes`; its head is filled here */
    uint16_t type;
    uint32_t bytes;
    int descriptor; /* goes along; -1: none. Stays the caller's */
    uint16_t answer_type;
    uint32_t answer_bytes;
};

/*
 * Asks, and waits for the answer: 0 or CUDA_ERROR_CONTEXT_IS_DESTROYED, after which the link is lost. `answer` has
 * QUESTION_ANSWER_BYTES and is aligned to 8; `descriptor` is set where one came, and then the caller's (-EMFILE: this program has none left for it).
 */
CUresult question_ask(struct relay_link *link, const struct question *question, void *answer, int *descriptor);

#endif
