#include "relay/wire/message.h"

#include <string.h>

#include "relay/wire/unsupported.h"

#define POINTER (1ULL << 63)
#define BULK_PIECE 61440u /* bytes in a BULK record: several such records fit into the ring at once */

static uint64_t padded(uint64_t bytes)
{
    return (bytes + 7) & ~7ULL;
}

/* Copies a part of the in-data as if it were one run of bytes, without building that run. */
static void copy_in(unsigned char *to, uint64_t from, uint64_t bytes, const struct message_argument *arguments,
                    unsigned count)
{
    uint64_t place = 0;
    for (unsigned i = 0; i < count && bytes != 0; place += padded(arguments[i].in_bytes), i++) {
        uint64_t size = arguments[i].in_bytes, room = padded(size);
        if (from >= place + room)
            continue;
        uint64_t skip = from - place, length = room - skip < bytes ? room - skip : bytes;
        uint64_t real = skip < size ? (size - skip < length ? size - skip : length) : 0;
        if (real)
            memcpy(to, (const unsigned char *)arguments[i].in + skip, real);
        memset(to + real, 0, length - real);
        to += length;
        from += length;
        bytes -= length;
    }
}

static bool send_bulk(struct relay_context *context, uint32_t slot, uint64_t total,
                      const struct message_argument *arguments, unsigned count)
{
    for (uint64_t done = 0; done < total;) {
        uint64_t piece = total - done < BULK_PIECE ? total - done : BULK_PIECE;
        struct relay_claimed claimed = relay_claim(context->link, TESSERA_RELAY_BULK,
                                                   sizeof(struct tessera_bulk) + piece, RELAY_NO_END);
        if (!claimed.record)
            return false;
        claimed.record->slot = slot;
        claimed.record->context = context->alive ? context->number : 0; /* libraries need none */
        struct tessera_bulk *bulk = claimed.body;
        *bulk = (struct tessera_bulk){(uint32_t)done, (uint32_t)piece};
        copy_in((unsigned char *)(bulk + 1), done, piece, arguments, count);
        relay_commit(context->link, claimed);
        done += piece;
    }
    return true;
}

/* slot: as in the record, 0 for none. */
static bool send(struct relay_context *context, unsigned entry, uint32_t slot, uint64_t in_bytes,
                 const struct message_argument *arguments, unsigned count, struct ring_span *span)
{
    bool bulk = in_bytes > TESSERA_RELAY_INLINE_MAX;
    if (bulk && !send_bulk(context, slot, in_bytes, arguments, count))
        return false;
    size_t bytes = count * sizeof(uint64_t) + (bulk ? 0 : in_bytes);
    struct relay_claimed claimed = relay_claim(context->link, TESSERA_RELAY_CALL, bytes, RELAY_NO_END);
    if (!claimed.record)
        return false;
    claimed.record->entry = (uint16_t)entry;
    claimed.record->slot = slot;
    claimed.record->context = context->alive ? context->number : 0; /* libraries need none */
    claimed.record->flags = bulk ? TESSERA_RELAY_FLAG_BULK : 0;
    uint64_t *words = claimed.body;
    for (unsigned i = 0; i < count; i++)
        words[i] = arguments[i].pointer ? POINTER | (uint64_t)arguments[i].out_bytes << 32 | arguments[i].in_bytes
                                        : arguments[i].value;
    if (in_bytes != 0 && !bulk)
        copy_in((unsigned char *)(words + count), 0, in_bytes, arguments, count);
    *span = claimed.span;
    relay_commit(context->link, claimed);
    return true;
}

static void copy_out(const struct tessera_reply *reply, const struct message_argument *arguments, unsigned count)
{
    const unsigned char *from = (const unsigned char *)(reply + 1);
    uint64_t place = 0, sent = reply->bytes < TESSERA_RELAY_REPLY_MAX ? reply->bytes : TESSERA_RELAY_REPLY_MAX;
    for (unsigned i = 0; i < count && place < sent; i++) {
        uint64_t size = arguments[i].out_bytes < sent - place ? arguments[i].out_bytes : sent - place;
        if (size && arguments[i].out)
            memcpy(arguments[i].out, from + place, size);
        place += padded(arguments[i].out_bytes);
    }
}

struct totals {
    uint64_t in, out;
};

static struct totals totals_of(const struct message_argument *arguments, unsigned count)
{
    struct totals total = {0, 0};
    for (unsigned i = 0; i < count; i++) {
        if (arguments[i].in_bytes != 0)
            total.in += padded(arguments[i].in_bytes);
        if (arguments[i].out_bytes != 0)
            total.out += padded(arguments[i].out_bytes);
    }
    return total;
}

CUresult message_call(struct relay_context *context, unsigned entry, const struct message_argument *arguments,
                      unsigned count)
{
    struct totals total = totals_of(arguments, count);
    if (total.in > TESSERA_RELAY_BULK_MAX) {
        static int said;
        return relay_limit_reached(
            &said,
            "one call (an image, or nodes of a graph) carries at most 2 GiB in space sharing: pass less in one call, "
            "or run the program with --share time");
    }
    if (total.out > TESSERA_RELAY_REPLY_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    struct relay_slot slot;
    if (!relay_slot_take(context->link, &slot))
        return relay_link_state(context->link);
    CUresult result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    struct ring_span span;
    if (send(context, entry, slot.index + 1, total.in, arguments, count, &span)) {
        result = relay_slot_wait(context->link, &slot);
        copy_out(slot.reply, arguments, count);
    }
    relay_slot_give(context->link, &slot);
    return result;
}

CUresult message_post_telling(struct relay_context *context, unsigned entry, const struct message_argument *arguments,
                              unsigned count, struct ring_span *span)
{
    uint64_t in_bytes = totals_of(arguments, count).in;
    *span = (struct ring_span){0};
    if (in_bytes > TESSERA_RELAY_INLINE_MAX)
        return message_call(context, entry, arguments, count);
    return send(context, entry, 0, in_bytes, arguments, count, span) ? CUDA_SUCCESS : relay_link_state(context->link);
}

CUresult message_post(struct relay_context *context, unsigned entry, const struct message_argument *arguments,
                      unsigned count)
{
    struct ring_span span;
    return message_post_telling(context, entry, arguments, count, &span);
}
