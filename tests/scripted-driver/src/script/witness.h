/*
 * The witness: a file that every process of a test maps, in which the driver says what it sees while it sees it.
 * README.md describes the layout for readers in other languages; io.tessera.system.DriverActivity is its Java reader.
 *
 * All fields are written with atomic operations, from any process. A process that is killed leaves its slot as it
 * was; a slot counts only while the process of that pid and start time lives and is no zombie.
 */
#ifndef SCRIPTED_WITNESS_H
#define SCRIPTED_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

#define WITNESS_MAGIC 0x0053534e54495753ULL
#define WITNESS_VERSION 1
#define WITNESS_DEVICES 8
#define WITNESS_PROCESSES 256
#define WITNESS_NAMES 1024
#define WITNESS_RING 8192
#define WITNESS_OVERLAPS 32

enum { WITNESS_INSIDE = 1, WITNESS_EXECUTING = 2 };

/* Two processes that had work on one device at the same time. */
struct witness_overlap {
    uint32_t entering_pid, present_pid;
    uint64_t at_ns; /* CLOCK_MONOTONIC */
};

/* An interval of one process: inside a submission, or executing it. Valid once sequence is its index plus one. */
struct witness_interval {
    uint64_t sequence;
    uint32_t pid, kind;
    uint64_t begin_ns, end_ns;
};

struct witness_device {
    uint64_t overlaps;        /* entries that found another process with work */
    uint64_t most_processes;  /* most processes that ever had work at once */
    uint64_t slice;           /* the time slice that runs (timeshare.c); 0: none yet */
    uint64_t slice_wanted_ns; /* when a process last waited for a slice */
    uint64_t slice_last;      /* slot that ran last, plus one */
    uint64_t slice_switches;
    uint64_t intervals; /* written so far, the ring keeps the last WITNESS_RING */
    uint64_t pad;
    struct witness_overlap overlap[WITNESS_OVERLAPS]; /* the first of them */
    struct witness_interval ring[WITNESS_RING];
};

struct witness_process {
    uint32_t pid; /* 0: free */
    uint32_t ready;
    uint64_t start_ticks;                 /* field 22 of /proc/PID/stat */
    uint64_t busy[WITNESS_DEVICES];       /* submissions inside, plus work submitted and not complete */
    uint64_t used_bytes[WITNESS_DEVICES]; /* device memory held, without managed memory */
    uint64_t submissions[WITNESS_DEVICES];
    uint64_t executed[WITNESS_DEVICES]; /* pieces of work completed */
};

struct witness {
    uint64_t magic;
    uint32_t version;
    uint32_t devices, processes, names, ring, pad;
    uint64_t reserved[508];
    uint64_t calls[WITNESS_NAMES]; /* by position in the sorted list of exported names, over all processes */
    struct witness_process process[WITNESS_PROCESSES];
    struct witness_device device[WITNESS_DEVICES];
};

_Static_assert(sizeof(struct witness_process) == 272, "README.md");
_Static_assert(sizeof(struct witness_device) == 64 + 512 + 262144, "README.md");

/* Maps TESSERA_SCRIPT_WITNESS, or private memory of the same shape where it is unset. Ends the process with a message
 * when the file cannot be mapped: a test must not run unwatched. */
void witness_open(void);

extern struct witness *witness;

/* In the child of a fork: the next use takes a slot of its own. */
void witness_forked(void);

void witness_count(unsigned name);

/* Devices are ordinals of this process here; the file counts by GPU (script.h). */

/* A submission to the device entered, or work became outstanding; `amount` pieces at once. */
void witness_busy(int device, uint64_t amount);
void witness_idle(int device, uint64_t amount);
void witness_submitted(int device);
void witness_interval(int device, int kind, uint64_t begin_ns, uint64_t end_ns);

/* The slot of this process, and whether the process of a slot lives and has work on the GPU. */
unsigned witness_slot(void);
bool witness_slot_busy(unsigned slot, int gpu);

/* Takes device memory if all live processes together stay within `total_bytes`. */
bool witness_take(int device, uint64_t bytes, uint64_t total_bytes);
void witness_give(int device, uint64_t bytes);
uint64_t witness_used(int device);

/* Whether the process of a pid lives (and is no zombie). */
bool witness_alive(uint32_t pid);

#endif
