/* What calls answered beside their result, for the lines of TESSERA_TRACE: numbers behind pointers, names, launch configurations. */
#ifndef TESSERA_TRACE_ANSWERS_H
#define TESSERA_TRACE_ANSWERS_H

#include <stddef.h>
#include <stdint.h>

/* Longest text of one call, with its end. */
#define TRACE_ANSWERS_BYTES 400

/* Finds out which entries have something to tell. Once, before the first call. */
void trace_answers_prepare(void);

/*
 * Writes " ARGUMENT=VALUE" for what an entry's call answered, or an empty text: decimal numbers, handles in hexadecimal, names as they
 * are. Call it once the entry has returned; what is behind pointers is read only where the result says that they were good.
 */
void trace_answers(unsigned entry, int result, const uintptr_t *arguments, char text[static TRACE_ANSWERS_BYTES]);

#endif
