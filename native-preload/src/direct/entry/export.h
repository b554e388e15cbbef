/* Exports that the driver cannot make of what a plan has put in the place of its own memory. */
#ifndef TESSERA_ENTRY_EXPORT_H
#define TESSERA_ENTRY_EXPORT_H

#include "driver/driver_types.h"

/*
 * The memory is about to be exported by the driver, which cannot do that for what a plan has put in the place of its own:
 * says so, and has what the program allocates from now on stay plain, since who shares memory once will do so again.
 */
void export_refused(CUdeviceptr pointer);

#endif
