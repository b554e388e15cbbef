/*
 * How the library speaks: distinct errors in the segment, and one line on stderr where the user must know.
 * Neither ever ends or blocks the host.
 */
#ifndef TESSERA_REPORT_H
#define TESSERA_REPORT_H

#include <stdint.h>

#include "driver/driver_types.h"

/* Counts a distinct error (same code and text) in the segment's log. Any thread. */
void report_error(int32_t code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * As report_error(), for the result of a driver call. Does not count success, nor DEINITIALIZED: the process is
 * ending and the driver has released everything. Any thread.
 */
void report_failure(CUresult result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Writes "tessera: ..." and a newline to stderr in one write, unless TESSERA_QUIET. Control characters in the text,
 * which may come from others, are written as '?'. Any thread.
 */
void report_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
