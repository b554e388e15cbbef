#include "relay/code/image_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u
#define COMPARED_BYTES (256u << 10)
/* Documentation/admin-guide/mm/pagemap.rst */
#define PAGE_PRESENT (1ULL << 63)
#define PAGE_SWAPPED (1ULL << 62)
#define PAGE_OF_FILE (1ULL << 61)

/* One line of /proc/self/maps, or several adjacent ones of one file. */
struct mapping {
    uintptr_t begin;
    uintptr_t end;
    uint64_t offset; /* in the file, of `begin` */
    unsigned device[2];
    uint64_t inode;
    char *path; /* allocated with strdup() */
};

static bool parse(const char *line, struct mapping *mapping)
{
    unsigned long begin, end, offset, inode;
    int path = 0;
    if (sscanf(line, "%lx-%lx %*4s %lx %x:%x %lu %n", &begin, &end, &offset, &mapping->device[0], &mapping->device[1],
               &inode, &path) != 6 ||
        path == 0)
        return false;
    mapping->begin = begin;
    mapping->end = end;
    mapping->offset = offset;
    mapping->inode = inode;
    mapping->path = NULL;
    if (line[path] != '/')
        return false;
    mapping->path = strdup(line + path);
    if (mapping->path)
        mapping->path[strcspn(mapping->path, "\n")] = '\0';
    return mapping->path != NULL;
}

static bool is_same_file(const struct mapping *a, const struct mapping *b)
{
    return a->inode == b->inode && a->device[0] == b->device[0] && a->device[1] == b->device[1];
}

static bool continues(const struct mapping *first, const struct mapping *next)
{
    return next->begin == first->end && is_same_file(first, next) &&
           next->offset == first->offset + (first->end - first->begin);
}

/* The mapping of one file that holds all of [begin, end). Its path is the caller's. */
static bool find_mapping(uintptr_t begin, uintptr_t end, struct mapping *found)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    *found = (struct mapping){0};
    while (maps && found->end < end && getline(&line, &room, maps) > 0) {
        struct mapping next = {0};
        bool known = parse(line, &next);
        if (known && !found->path && next.begin <= begin && begin < next.end) {
            *found = next;
            continue;
        }
        if (known && found->path && continues(found, &next))
            found->end = next.end;
        else if (found->path)
            break;
        free(next.path);
    }
    free(line);
    if (maps)
        fclose(maps);
    if (found->path && found->end >= end)
        return true;
    free(found->path);
    return false;
}

/*
 * Whether a name still leads to the mapped file. Both identities come from /proc/self/maps: stat() gives other numbers
 * on some file systems.
 */
static bool leads_to(int file, const struct mapping *mapping)
{
    void *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0);
    if (page == MAP_FAILED)
        return false;
    struct mapping own;
    bool found = find_mapping((uintptr_t)page, (uintptr_t)page + PAGE, &own);
    munmap(page, PAGE);
    bool same = found && is_same_file(&own, mapping);
    if (found)
        free(own.path);
    return same;
}

/*
 * Whether no page was written to: each is a page of the file, or was never touched. False if the kernel does not tell.
 */
static bool is_untouched(uintptr_t begin, uintptr_t end)
{
    int pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t page = begin / PAGE, last = (end - 1) / PAGE, entries[512];
    bool untouched = pages >= 0;
    while (untouched && page <= last) {
        size_t wanted = last - page + 1 < 512 ? last - page + 1 : 512;
        ssize_t got = pread(pages, entries, wanted * sizeof *entries, (off_t)(page * sizeof *entries));
        size_t count = got > 0 ? (size_t)got / sizeof *entries : 0;
        untouched = count != 0;
        for (size_t i = 0; i < count && untouched; i++)
            untouched = !(entries[i] & PAGE_SWAPPED) && (!(entries[i] & PAGE_PRESENT) || (entries[i] & PAGE_OF_FILE));
        page += count;
    }
    if (pages >= 0)
        close(pages);
    return untouched;
}

static bool is_equal(int file, uint64_t offset, const unsigned char *memory, size_t bytes)
{
    unsigned char *buffer = malloc(COMPARED_BYTES);
    size_t done = 0;
    while (buffer && done < bytes) {
        size_t wanted = bytes - done < COMPARED_BYTES ? bytes - done : COMPARED_BYTES;
        ssize_t got = pread(file, buffer, wanted, (off_t)(offset + done));
        if (got <= 0 || memcmp(buffer, memory + done, (size_t)got) != 0)
            break;
        done += (size_t)got;
    }
    free(buffer);
    return done == bytes;
}

bool image_file_find(const void *address, size_t bytes, int *file, uint64_t *offset)
{
    uintptr_t begin = (uintptr_t)address, end = begin + bytes;
    struct mapping mapping;
    if (bytes == 0 || end < begin || !find_mapping(begin, end, &mapping))
        return false;
    *offset = mapping.offset + (begin - mapping.begin);
    *file = open(mapping.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* the path may name a pipe by now */
    bool same = *file >= 0 &&
                ((leads_to(*file, &mapping) && is_untouched(begin, end)) || is_equal(*file, *offset, address, bytes));
    free(mapping.path);
    if (!same && *file >= 0)
        close(*file);
    return same;
}
