/*
 * The script of a test: TESSERA_SCRIPT holds it, or "@" and the path of a file that does. README.md describes the
 * statements. A statement that is not understood ends the process with a message: a test must not run without it.
 */
#ifndef SCRIPTED_SCRIPT_H
#define SCRIPTED_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"

#define SCRIPT_MAX_DEVICES 8

struct script {
    int devices;                 /* that this process sees */
    int gpu[SCRIPT_MAX_DEVICES]; /* the GPU behind each ordinal; the witness counts by GPU, everything else by ordinal */
    uint64_t memory_bytes[SCRIPT_MAX_DEVICES]; /* by GPU */
    uint64_t taken_bytes;                      /* of every GPU, used by nobody here: free memory tells */
    uint64_t hidden_bytes;  /* of every GPU, unavailable although size and free memory suggest otherwise */
    uint64_t context_bytes; /* of the device, that each context takes */
    uint64_t code_bytes;    /* of the device, that a kernel takes at its first launch */
    uint64_t arena;         /* where device addresses begin; 0: anywhere */
    int version;
    uint64_t copy_ns; /* GPU time of a copy or memset */
    bool slices;      /* processes share the GPU in slices instead of overlapping */
    uint64_t slice_ns, switch_ns;
    char checkpoints[256]; /* folder with a file for each process that is locked or checkpointed; empty: not supported */
    uint64_t bound_ns;     /* of a hang, and of a stream that waits for a value */
};

extern struct script script;

void script_read(void);

/* Applies the rules of an entry at its `call`-th call in this process (from 1): delays, hangs; returns what to fail
 * with, or 0. */
CUresult script_apply(unsigned entry, uint64_t call);

/* GPU time of a kernel that has no time of its own. */
uint64_t script_kernel_ns(const char *kernel);

/* Whether looking the kernel up fails. */
bool script_kernel_missing(const char *kernel);

#endif
