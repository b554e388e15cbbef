#include "session/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct tessera_segment *tessera_segment;
/* Used only if not even the segment's 128 KiB can be mapped. */
static struct tessera_segment last_resort;
/* The file of the manager's segment, while one is mapped. */
static struct {
    char path[256];
    uint64_t inode;
} file_of;
/* Held for reading to change fields, for writing to exchange the mapping. */
static pthread_rwlock_t guard = PTHREAD_RWLOCK_INITIALIZER;

void segment_change_begin(void)
{
    pthread_rwlock_rdlock(&guard);
}

void segment_change_end(void)
{
    pthread_rwlock_unlock(&guard);
}

static struct tessera_segment *map_anonymous(void *at)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0);
    void *memory = mmap(at, TESSERA_SEGMENT_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool segment_open(void)
{
    if (__atomic_load_n(&tessera_segment, __ATOMIC_ACQUIRE))
        return true;
    struct tessera_segment *mine = map_anonymous(NULL);
    if (!mine)
        return false;
    struct tessera_segment *none = NULL;
    if (!__atomic_compare_exchange_n(&tessera_segment, &none, mine, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        munmap(mine, TESSERA_SEGMENT_BYTES);
    return true;
}

struct tessera_segment *segment_get(void)
{
    struct tessera_segment *known = __atomic_load_n(&tessera_segment, __ATOMIC_ACQUIRE);
    if (known)
        return known;
    return segment_open() ? tessera_segment : &last_resort;
}

/* For tools inside the process that show the counters. The address stays the same when the segment is exchanged. */
__attribute__((visibility("default"))) struct tessera_segment *tessera_client_segment(void);

struct tessera_segment *tessera_client_segment(void)
{
    return segment_get();
}

/* Copies the fields that the client owns. The manager's header and orders in `to` stay. */
static void copy_client_fields(struct tessera_segment *to, const struct tessera_segment *from)
{
    to->client_shares = from->client_shares;
    memcpy(to->counters, from->counters, sizeof to->counters);
    memcpy(to->threads, from->threads, sizeof to->threads);
    memcpy(to->errors, from->errors, sizeof to->errors);
    for (int i = 0; i < TESSERA_MAX_DEVICES; i++) {
        struct tessera_device *device = &to->devices[i];
        const struct tessera_device *old = &from->devices[i];
        memcpy(device->uuid, old->uuid, sizeof device->uuid);
        device->total_bytes = old->total_bytes;
        device->ordinal = old->ordinal;
        memcpy(device->name, old->name, sizeof device->name);
        size_t answers = offsetof(struct tessera_device, ack);
        memcpy((char *)device + answers, (const char *)old + answers, sizeof *device - answers);
        device->ack = 0;
        size_t held = offsetof(struct tessera_residency, resident_bytes);
        memcpy((char *)&to->residency[i] + held, (const char *)&from->residency[i] + held,
               sizeof to->residency[i] - held);
    }
    /*
     * No marks are copied: a thread that ends its synchronisation before the mappings are exchanged clears its mark only in
     * the old segment, so a copied one would stay set. No submission is inside the driver.
     */
    for (int i = 0; i < TESSERA_MAX_THREADS; i++)
        to->threads[i].syncing = to->threads[i].inside = 0;
}

static int check(const struct tessera_segment *segment)
{
    if (__atomic_load_n(&segment->version, __ATOMIC_ACQUIRE) != TESSERA_ABI_VERSION)
        return -EPROTONOSUPPORT;
    if (segment->magic != TESSERA_ABI_MAGIC || segment->segment_bytes != TESSERA_SEGMENT_BYTES ||
        segment->device_slots != TESSERA_MAX_DEVICES || segment->thread_slots != TESSERA_MAX_THREADS)
        return -EBADMSG;
    return 0;
}

/* Remembers the file for remove_file(). If its name cannot be found, the next manager removes it. */
static void remember_file(int descriptor, uint64_t inode)
{
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, file_of.path, sizeof file_of.path);
    if (length < 0 || length >= (ssize_t)sizeof file_of.path)
        length = 0;
    file_of.path[length] = '\0';
    file_of.inode = inode;
}

/*
 * The manager that made the file is dead or has dropped this client, so nobody else would remove the file before the next
 * manager. In another user's runtime directory this process may not remove it.
 */
static void remove_file(void)
{
    struct statx named;
    if (file_of.path[0] && statx(AT_FDCWD, file_of.path, AT_SYMLINK_NOFOLLOW, STATX_INO, &named) == 0 &&
        named.stx_ino == file_of.inode)
        unlink(file_of.path);
    file_of.path[0] = '\0';
}

int segment_adopt(int descriptor, uint64_t bytes)
{
    struct statx file; /* statx, because fstat() is a different symbol in glibc before 2.33 */
    if (statx(descriptor, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &file) != 0)
        return -errno;
    if (bytes != TESSERA_SEGMENT_BYTES || !S_ISREG(file.stx_mode) || file.stx_size != TESSERA_SEGMENT_BYTES)
        return -EBADMSG;
    void *memory = mmap(NULL, TESSERA_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED)
        return -errno;
    int status = check(memory);
    if (status == 0) {
        pthread_rwlock_wrlock(&guard);
        copy_client_fields(memory, tessera_segment);
        /* A child must not write into the parent's segment. */
        madvise(memory, TESSERA_SEGMENT_BYTES, MADV_DONTFORK);
        /* Moves the mapping onto the old address in one step: no reader ever sees a hole. */
        void *moved = mremap(memory, TESSERA_SEGMENT_BYTES, TESSERA_SEGMENT_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
                             tessera_segment);
        status = moved == MAP_FAILED ? -errno : 0;
        pthread_rwlock_unlock(&guard);
        if (status == 0) {
            remove_file(); /* the previous file, of a manager that was killed */
            remember_file(descriptor, file.stx_ino);
            return 0;
        }
    }
    munmap(memory, TESSERA_SEGMENT_BYTES);
    return status;
}

/* Clears the manager's orders: without it, no targets for residency hold, and nobody would end a suspension. */
static void forget_orders(struct tessera_segment *segment)
{
    for (int i = 0; i < TESSERA_MAX_DEVICES; i++)
        memset(&segment->residency[i], 0, offsetof(struct tessera_residency, resident_bytes));
}

/* If there is no memory for the copy, the manager's file stays mapped. */
void segment_detach(void)
{
    remove_file();
    struct tessera_segment *copy = map_anonymous(NULL);
    pthread_rwlock_wrlock(&guard);
    if (copy)
        memcpy(copy, tessera_segment, sizeof *copy);
    forget_orders(copy ? copy : tessera_segment);
    if (copy && mremap(copy, TESSERA_SEGMENT_BYTES, TESSERA_SEGMENT_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
                       tessera_segment) == MAP_FAILED) {
        munmap(copy, TESSERA_SEGMENT_BYTES);
        forget_orders(tessera_segment);
    }
    pthread_rwlock_unlock(&guard);
}

void segment_forked(void)
{
    /* At the old address the child has nothing (MADV_DONTFORK) or a private copy. In both cases it takes a new segment. */
    pthread_rwlock_init(&guard, NULL);
    file_of.path[0] = '\0';
    tessera_segment = map_anonymous(NULL);
}
