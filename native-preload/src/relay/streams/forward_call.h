/* How a generated sender's call goes to the executor. */
#ifndef TESSERA_RELAY_FORWARD_CALL_H
#define TESSERA_RELAY_FORWARD_CALL_H

#include "relay/wire/call_description.h"

/* Sends a call and waits for its answer: the CUresult, with out-data written behind the pointers. Any thread. */
CUresult relay_call(const struct relay_description *description, const uint64_t *arguments) RELAY_HANDWRITTEN;

/* Sends a call without waiting for its answer. Returns the result of sending; a later call reports an error of the call itself. */
CUresult relay_post(const struct relay_description *description, const uint64_t *arguments) RELAY_HANDWRITTEN;

#endif
