/*
 * Messages of the library: distinct errors in the segment's log, and one line on stderr if the user must know. Neither
 * ends the program.
 */
#ifndef TESSERA_REPORT_H
#define TESSERA_REPORT_H

#include <stdint.h>

#include "driver/driver_types.h"

/* Counts a distinct error (same code and text) in the segment's log. Any thread. */
void report_error(int32_t code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * As report_error(), for the result of a driver call. Counts neither success nor DEINITIALIZED, with which the driver
 * answers when the process is ending and everything is released. Any thread.
 */
void report_failure(CUresult result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Writes "tessera: ..." and a newline to stderr in one write, unless TESSERA_QUIET is set. Control characters are written
 * as '?', because the text may contain names that others chose. Any thread.
 */
void report_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
