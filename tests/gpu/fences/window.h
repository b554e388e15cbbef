/* The window of the fenced kernels: 4 GiB, of which the start is memory. */
#ifndef FENCES_WINDOW_H
#define FENCES_WINDOW_H

#include "driver.h"

/* What fenced code must know; written into its constant __tessera_window, whose layout is WindowConstants.java's. */
struct window {
    CUdeviceptr base, report, stop;
    size_t mapped, used;
};

/* STOP_GO_ON is WindowConstants.GO_ON: rounds that a loop may run before it looks at the stop word again; 0 ends it. */
enum { WINDOW_DATA_MIB = 1024, REPORT_BYTES = 65536, STOP_GO_ON = 4096 };

void window_open(struct window *window, int device);
/* Memory for a case, from the start of the window. */
CUdeviceptr window_take(struct window *window, size_t bytes);
/* Fills the constant of a module fenced with that mode, and gives its hoisted variables, listed in a file, a place. */
void window_fill(struct window *window, CUmodule module, const char *mode, const char *variables);
/* Violations recorded since the last call. */
unsigned window_violations(struct window *window);

#endif
