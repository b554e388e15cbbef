/*
 * cuGetExportTable: tables of our own under the ids that the CUDA runtime asks for. Their functions answer
 * NOT_SUPPORTED; what a test checks is that the table reaches the program as the driver gave it, same address.
 */
#include <string.h>

#include "entry.h"

static CUresult not_served(void)
{
    return ERROR_NOT_SUPPORTED;
}

enum { MAX_WORDS = 40 };

struct table {
    const char *id;
    unsigned words;
    int headless; /* without the size in front */
    const void *content[MAX_WORDS];
};

static struct table tables[] = {
    {"\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9", 13, 0, {0}},
    {"\xa0\x94\x79\x8c\x2e\x74\x2e\x74\x93\xf2\x08\x00\x20\x0c\x0a\x66", 7, 0, {0}},
    {"\x42\xd8\x5a\x81\x23\xf6\xcb\x47\x82\x98\xf6\xe7\x8a\x3a\xec\xdc", 4, 0, {0}},
    {"\xc6\x93\x33\x6e\x11\x21\xdf\x11\xa8\xc3\x68\xf3\x55\xd8\x95\x93", 4, 1, {0}},
    {"\x26\x3e\x88\x60\x7c\xd2\x61\x43\x92\xf6\xbb\xd5\x00\x6d\xfa\x7e", 4, 0, {0}},
    {"\xd4\x08\x20\x55\xbd\xe6\x70\x4b\x8d\x34\xba\x12\x3c\x66\xe1\xf2", 3, 0, {0}},
    {"\x21\x31\x8c\x60\x97\x14\x32\x48\x8c\xa6\x41\xff\x73\x24\xc8\xf2", 40, 0, {0}},
    {"\x17\x34\xdc\x26\x80\x0d\x47\x45\x87\x26\xc0\xf1\xe7\xdd\x8b\xca", 5, 0, {0}},
    {"\x6e\x16\x3f\xbe\xb9\x58\x44\x4d\x83\x5c\xe1\x82\xaf\xf1\x99\x1e", 8, 0, {0}},
};

EXPORT CUresult cuGetExportTable(const void **out, const CUuuid *id)
{
    ENTER_EARLY(cuGetExportTable);
    if (!out || !id)
        return ERROR_INVALID_VALUE;
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++) {
        struct table *table = &tables[t];
        if (memcmp(table->id, id->bytes, sizeof id->bytes) != 0)
            continue;
        for (unsigned i = 0; i < table->words; i++) /* the same every time: racing threads write the same words */
            table->content[i] = (const void *)(uintptr_t)not_served;
        if (!table->headless)
            table->content[0] = (const void *)(uintptr_t)(table->words * sizeof(void *));
        *out = table->content;
        return OK;
    }
    return ERROR_NOT_FOUND;
}
