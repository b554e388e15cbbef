/*
 * Requests to an executor that carry a file descriptor, or whose answer does. They are sent on its socket, which nothing else
 * uses, one at a time: the thread that sent a request receives its answer.
 */
#ifndef TESSERA_RELAY_FD_REQUEST_H
#define TESSERA_RELAY_FD_REQUEST_H

#include "relay/wire/relay.h"

#define FD_REQUEST_ANSWER_BYTES 4096u

struct fd_request {
    struct tessera_message *message; /* of `type` and `bytes`; its head is filled here */
    uint16_t type;
    uint32_t bytes;
    int descriptor; /* is sent along; -1: none. Stays the caller's */
    uint16_t answer_type;
    uint32_t answer_bytes;
};

/*
 * Asks, and waits for the answer: 0 or CUDA_ERROR_CONTEXT_IS_DESTROYED, after which the link is lost. `answer` has
 * FD_REQUEST_ANSWER_BYTES and is aligned to 8. `descriptor` is set if one came, and is then the caller's (-EMFILE: this
 * program may open no more).
 */
CUresult fd_request_send(struct relay_link *link, const struct fd_request *request, void *answer, int *descriptor);

#endif
