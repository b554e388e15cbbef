/*
 * Memory. Device pointers are host addresses inside one reserved range, backed by one sparse memory file, so copies
 * and kernels really move bytes, and other processes can map an allocation by its place in that file.
 * Everything here runs under the driver's lock.
 */
#ifndef SCRIPTED_MEMORY_H
#define SCRIPTED_MEMORY_H

#include "driver.h"

enum allocation_kind {
    ALLOCATION_PLAIN,
    ALLOCATION_MANAGED,
    ALLOCATION_POOL,
    ALLOCATION_GRAPH,
    ALLOCATION_ARRAY,
    ALLOCATION_GLOBAL,     /* a variable of a module: part of its code, which the script's `code` stands for */
    ALLOCATION_HOST,       /* cuMemAllocHost, cuMemHostAlloc */
    ALLOCATION_REGISTERED, /* the program's own, registered */
    ALLOCATION_MAPPED,     /* cuMemMap */
    ALLOCATION_IMPORTED,   /* another process's, through IPC */
};

struct allocation {
    CUdeviceptr base;
    size_t bytes;  /* as asked for */
    size_t extent; /* of the address range, whole pages */
    enum allocation_kind kind;
    bool managed, freeing;
    int device;
    struct context *context;
    struct pool *pool;
    struct memory_object *object; /* of a mapping */
    bool present;                 /* of a mapping: this process's system knows of it */
    int access;                   /* of a mapping: 0, 1, 3 */
    unsigned peers;               /* of a mapping: bit per device that may access it */
    unsigned flags;
    uint64_t id;
    int sync_operations;
};

struct pool {
    int device;
    bool managed, is_default;
    uint64_t max_bytes, threshold;
    uint64_t used, used_high, reserved, reserved_high;
    int flags[4]; /* reuse attributes 1 to 3 */
    struct pool_properties properties;
    struct access_descriptor access[SCRIPT_MAX_DEVICES];
};

/* cuMemCreate: physical memory with a file of its own. */
struct memory_object {
    int fd;
    size_t bytes;
    int device;
    unsigned handles;    /* not released yet: without any, only mappings have it */
    unsigned references; /* handles and mappings */
    bool imported;
    bool counted; /* against the device's memory, by one process at a time */
    struct allocation_properties properties;
};

/* Takes an address range (extent: whole pages). 0: none left. `wish`: 0, or where it would be liked. */
CUdeviceptr range_take(size_t extent, size_t alignment, CUdeviceptr wish);
void range_give(CUdeviceptr base);
bool range_reserved(CUdeviceptr base, size_t extent); /* taken as one range that holds all of it */

struct allocation *allocation_add(CUdeviceptr base, size_t bytes, enum allocation_kind kind, struct context *context);
void allocation_remove(struct allocation *allocation);
struct allocation *allocation_at(CUdeviceptr base);      /* that begins there */
struct allocation *allocation_of(CUdeviceptr address);   /* that holds it */
struct allocation *allocation_freeing(CUdeviceptr base); /* given to cuMemFreeAsync, not reached yet */
struct allocation *allocation_each(size_t *position);    /* from 0; NULL at the end */

/* Backs a new range with memory and enters it. Counts it against the device unless managed, or a variable. */
CUresult memory_allocate(size_t bytes, enum allocation_kind kind, bool managed, struct context *context,
                         struct allocation **made);
/* Unmaps, uncounts and removes it. */
void memory_free(struct allocation *allocation);
void memory_graph_free(CUdeviceptr pointer);
void memory_context_gone(struct context *context);

/* Whether bytes from address on may be read (or written) by the device. Addresses outside of the range are the
 * program's own memory and *host is set. */
bool memory_reachable(CUdeviceptr address, size_t bytes, bool *host);
/* As above, for work that runs now: memory that a stream will free later still exists. */
bool memory_there(CUdeviceptr address, size_t bytes, bool *host);

/* The range of an address: first address, size, and the file behind it. */
bool memory_in_range(CUdeviceptr address);
int memory_file(void);
uint64_t memory_offset(CUdeviceptr address);

CUresult pool_new(const struct pool_properties *properties, struct pool **pool);
void pool_free(struct pool *pool);
CUresult pool_allocate(struct pool *pool, size_t bytes, struct context *context, CUdeviceptr *pointer);
void pool_release(struct allocation *allocation); /* the stream has reached the free */

/*
 * Has the system map what a mapping stands for; false if it does not. Where the same memory is mapped again and again
 * this waits until the mapping is reached: a system has some 65,000 mappings for a process (vm.max_map_count), and a
 * process that maps one piece of memory behind every address of many windows has more.
 */
bool mapping_present(struct allocation *mapping);

/* Whole pages. */
size_t page_round(size_t bytes);

#endif
