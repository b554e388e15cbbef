#include "relay/entry/device_order.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relay/wire/vendor.h"

static int find_uuid(const struct executor_connection *connections, unsigned count, const unsigned char *uuid)
{
    for (unsigned i = 0; i < count; i++)
        if (memcmp(connections[i].segment->device.uuid, uuid, 16) == 0)
            return (int)i;
    return -1;
}

static bool add(unsigned *order, unsigned *known, int index)
{
    for (unsigned i = 0; i < *known; i++)
        if ((int)order[i] == index)
            return false; /* a device named twice: the driver then shows none */
    order[(*known)++] = (unsigned)index;
    return true;
}

/* Whether the UUID starts with the hexadecimal digits of `text`; dashes do not count. */
static bool starts_with(const unsigned char *uuid, const char *text, size_t length)
{
    unsigned digits = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '-')
            continue;
        if (!isxdigit((unsigned char)text[i]) || digits >= 32)
            return false;
        unsigned digit = (unsigned)(isdigit((unsigned char)text[i]) ? text[i] - '0'
                                                                    : tolower((unsigned char)text[i]) - 'a' + 10);
        if ((uuid[digits / 2] >> (digits % 2 ? 0 : 4) & 0xf) != digit)
            return false;
        digits++;
    }
    return digits > 0;
}

static int find_word(const struct executor_connection *connections, unsigned count, const char *word, size_t length)
{
    if (length > 4 && strncmp(word, "GPU-", 4) == 0) {
        int found = -1;
        for (unsigned i = 0; i < count; i++) {
            if (!starts_with(connections[i].segment->device.uuid, word + 4, length - 4))
                continue;
            if (found >= 0)
                return -1; /* matches several devices */
            found = (int)i;
        }
        return found;
    }
    char *end;
    unsigned long index = strtoul(word, &end, 10);
    return end == word + length && length > 0 && index < count ? (int)index : -1;
}

/* The list ends at the first word that names no device. */
static unsigned read_list(const struct executor_connection *connections, unsigned count, const char *list,
                          unsigned *order)
{
    unsigned known = 0;
    while (list) {
        while (*list == ' ')
            list++;
        size_t length = strcspn(list, ",");
        size_t trimmed = length;
        while (trimmed && list[trimmed - 1] == ' ')
            trimmed--;
        int index = find_word(connections, count, list, trimmed);
        if (index < 0)
            break;
        if (!add(order, &known, index))
            return 0;
        list = list[length] ? list + length + 1 : NULL;
    }
    return known;
}

/* The vendor's tables use the ordinals of its driver, so ours must be the same. */
static unsigned as_vendor(const struct executor_connection *connections, unsigned count, unsigned *order, char *reason,
                          size_t size)
{
    unsigned char uuids[TESSERA_MAX_DEVICES][16];
    unsigned devices = vendor_devices(uuids, TESSERA_MAX_DEVICES);
    unsigned known = 0;
    for (unsigned i = 0; i < devices; i++) {
        int index = find_uuid(connections, count, uuids[i]);
        if (index < 0 || !add(order, &known, index)) {
            snprintf(reason, size, "no executor serves device %u: choose others with CUDA_VISIBLE_DEVICES", i);
            return 0;
        }
    }
    return known;
}

unsigned device_order(const struct executor_connection *connections, unsigned count, unsigned *order, char *reason,
                      size_t size)
{
    bool software = true;
    for (unsigned i = 0; i < count; i++)
        software &= connections[i].segment->device.software != 0;
    if (!software && vendor_present())
        return as_vendor(connections, count, order, reason, size);
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    if (list)
        return read_list(connections, count, list, order);
    for (unsigned i = 0; i < count; i++)
        order[i] = i;
    return count;
}
