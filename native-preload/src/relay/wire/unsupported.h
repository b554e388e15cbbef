/* What the relay does not serve: refused by name, counted in the error log. */
#ifndef TESSERA_RELAY_UNSUPPORTED_H
#define TESSERA_RELAY_UNSUPPORTED_H

#include "driver/driver_types.h"

/*
 * A call that the relay cannot serve: counted by name in the error log, and the user gets one line for each reason.
 * Always NOT_SUPPORTED.
 */
CUresult relay_unsupported(const char *entry, const char *why);

/* As relay_unsupported(), without a line, for a query whose caller continues after NOT_SUPPORTED. */
CUresult relay_unsupported_query(const char *entry, const char *why);

/* A bound of the library's own: OUT_OF_MEMORY, with a line for the user. `said` is the caller's, one for each bound. */
CUresult relay_limit_reached(int *said, const char *line);

/* As relay_limit_reached(), for a list of functions that does not fit into a reply. */
CUresult relay_too_many_functions(void);

#endif
