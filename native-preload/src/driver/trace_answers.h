/* What a line of TESSERA_TRACE tells beside result and arguments: numbers behind pointers, names, launch configurations. */
#ifndef TESSERA_TRACE_ANSWERS_H
#define TESSERA_TRACE_ANSWERS_H

#include <stddef.h>
#include <stdint.h>

/* Size of the longest text of one call, with its NUL. */
#define TRACE_ANSWERS_BYTES 400

/* Finds the entries whose answers are traced. To be called once, before the first trace_answers(). */
void trace_answers_prepare(void);

/*
 * Writes " ARGUMENT=VALUE" for each traced answer of a call, or an empty text. Numbers are decimal, handles hexadecimal. To be
 * called after the entry has returned; a pointer is read only if the result shows that it was valid.
 */
void trace_answers(unsigned entry, int result, const uintptr_t *arguments, char text[static TRACE_ANSWERS_BYTES]);

#endif
