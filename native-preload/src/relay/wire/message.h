/*
 * CALL records whose data a call description cannot express: images, options with buffers, structures that hold
 * pointers. The caller itself lays out the data of every pointer (RELAY.md, section 8).
 */
#ifndef TESSERA_RELAY_MESSAGE_H
#define TESSERA_RELAY_MESSAGE_H

#include "relay/wire/relay.h"

struct message_argument {
    uint64_t value; /* of a number or handle; ignored for pointers */
    const void *in; /* in-data; may be NULL where in_bytes is 0 */
    void *out;      /* where out-data goes; may be NULL where out_bytes is 0 */
    uint32_t in_bytes;
    uint32_t out_bytes;
    bool pointer;
};

#define MESSAGE_MAX_ARGUMENTS 16u

#define VALUE(number) ((struct message_argument){.value = (uint64_t)(number)})
#define NOTHING ((struct message_argument){.value = 0}) /* a null pointer */
#define IN(data, size) ((struct message_argument){.in = (data), .in_bytes = (uint32_t)(size), .pointer = true})
#define OUT(room, size) ((struct message_argument){.out = (room), .out_bytes = (uint32_t)(size), .pointer = true})
#define INOUT(data, size)                                                                                              \
    ((struct message_argument){                                                                                        \
        .in = (data), .out = (data), .in_bytes = (uint32_t)(size), .out_bytes = (uint32_t)(size), .pointer = true})
#define OUT_OR_NOTHING(room, size) ((room) ? OUT(room, size) : NOTHING)
#define IN_OR_NOTHING(data, size) ((data) ? IN(data, size) : NOTHING)

/*
 * Sends the call and waits for its answer. Copies the out-data that the executor sent, also after an error. Returns the
 * executor's result, or why there is none: OUT_OF_MEMORY (too much in-data), INVALID_VALUE (out-data), the link's state.
 */
CUresult message_call(struct relay_context *context, unsigned entry, const struct message_argument *arguments,
                      unsigned count);

/* Sends a call without out-data and does not wait. As message_call() if in-data exceeds TESSERA_RELAY_INLINE_MAX. */
CUresult message_post(struct relay_context *context, unsigned entry, const struct message_argument *arguments,
                      unsigned count);

/* As message_post(); *span: where the record lies, empty if nothing was sent or the call was waited for. */
CUresult message_post_telling(struct relay_context *context, unsigned entry, const struct message_argument *arguments,
                              unsigned count, struct ring_span *span);

/* MESSAGE_CALL(context, ENTRY_name, argument, ...) */
#define MESSAGE_CALL(context, entry, ...)                                                                              \
    message_call(context, entry, (const struct message_argument[]){__VA_ARGS__},                                       \
                 sizeof((const struct message_argument[]){__VA_ARGS__}) / sizeof(struct message_argument))
#define MESSAGE_POST(context, entry, ...)                                                                              \
    message_post(context, entry, (const struct message_argument[]){__VA_ARGS__},                                       \
                 sizeof((const struct message_argument[]){__VA_ARGS__}) / sizeof(struct message_argument))

#endif
