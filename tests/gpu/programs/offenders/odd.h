/* What the cases of `odd_calls` share: how a call is made and printed, what each case finds ready, and the tables of cases. */
#ifndef PROGRAMS_ODD_H
#define PROGRAMS_ODD_H

#include <cuda.h>
#include <stdint.h>
#include <string.h>

/* One case. It runs in a process of its own, so it need not free what it makes. */
struct odd_case {
    const char *name, *sentence;
    void (*run)(void);
};
#define ODD_CASE(function, sentence)                                                                                   \
    {                                                                                                                  \
#function, sentence, function                                                                                  \
    }

/* Each ends with a case without a name. */
extern const struct odd_case odd_children[], odd_bodies[], odd_nodes[], odd_node_kinds[], odd_executables[],
    odd_captures[], odd_captured[], odd_streams[], odd_copies[], odd_arrays[], odd_mappings[], odd_pools[],
    odd_modules[], odd_mutants[], odd_launches[], odd_contexts[];

/* What each case finds ready. */
extern struct odd_fixture {
    CUdevice device;
    CUcontext context;
    CUstream stream, other_stream;
    CUevent event;
    CUdeviceptr memory, other_memory; /* ODD_BYTES each */
    char *pinned;                     /* ODD_BYTES, mapped */
    CUmodule module;
    CUfunction add;   /* (pointer): adds 1 to the word */
    CUfunction spins; /* (nanoseconds): spins so long, at most some seconds */
    CUgraph graph, other_graph;
} the;

enum { ODD_BYTES = 1 << 20 };

/* Kernels and a variable, as text. */
extern const char *const odd_text;

/* The entry that odd_begin found. */
extern _Thread_local void *odd_entry;
/* Looks the entry up and prints the call. False: the library lacks it. */
int odd_begin(const char *name, const char *arguments);
/* Looks the entry up. */
int odd_find(const char *name);
/* Prints the result of the call that was printed last. Returns it. */
CUresult odd_end(CUresult result);
/* Prints a line of its own, for what is done many times. */
void odd_say(const char *line);
/* Ends the process with status 2 where a case cannot begin. */
void odd_need(CUresult result, const char *what);

#define ODD_NAME(name) #name
#define ODD_NAME_OF(entry) ODD_NAME(entry)
/* Prints the call, makes it, and prints its result. The name is that in the library (cuMemAlloc_v2). */
#define CALL(entry, ...)                                                                                               \
    odd_end(odd_begin(ODD_NAME_OF(entry), #__VA_ARGS__) ? ((__typeof__(&entry))odd_entry)(__VA_ARGS__)                 \
                                                        : CUDA_ERROR_NOT_FOUND)
/* Makes the call without a word. */
#define QUIET(entry, ...)                                                                                              \
    (odd_find(ODD_NAME_OF(entry)) ? ((__typeof__(&entry))odd_entry)(__VA_ARGS__) : CUDA_ERROR_NOT_FOUND)
/* The same, for what a case needs to begin. */
#define NEED(entry, ...) odd_need(QUIET(entry, __VA_ARGS__), ODD_NAME_OF(entry))

/* Nodes that many cases need; without a word. */
CUgraphNode odd_empty_node(CUgraph graph);
CUgraphNode odd_kernel_node(CUgraph graph);
CUgraphNode odd_memset_node(CUgraph graph);
CUgraphNode odd_memcpy_node(CUgraph graph);
CUgraphNode odd_child_node(CUgraph graph, CUgraph child);
CUgraph odd_new_graph(void);
/* The graph within a node. */
CUgraph odd_inner(CUgraphNode node);
/* What describes a launch of `add` on the memory, a fill and a copy of 4 KiB. */
CUDA_KERNEL_NODE_PARAMS odd_kernel_params(void);
CUDA_MEMSET_NODE_PARAMS odd_memset_params(void);
CUDA_MEMCPY3D odd_copy_params(void);
/* Instantiates, launches and waits, and prints each call. */
void odd_launch_graph(CUgraph graph);
/* Launches `spins` for some milliseconds in a stream; prints the call. */
void odd_keep_busy(CUstream stream, uint64_t milliseconds);
/* Launches a kernel of no or one parameter, one thread; prints the call. */
CUresult odd_launch(CUfunction function, CUstream stream);

/* Computes until its input ends. Returns the exit code. */
int odd_neighbour(void);

#endif
