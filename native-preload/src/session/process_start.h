/* The start time of this process. Together with the process id it identifies the process among all since the system's start. */
#ifndef TESSERA_PROCESS_START_H
#define TESSERA_PROCESS_START_H

#include <stdint.h>

/* Field 22 of /proc/self/stat, in clock ticks since the system's start; 0: it could not be read. Any thread. */
uint64_t process_start_ticks(void);

#endif
