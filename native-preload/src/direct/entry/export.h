/* Exports that the driver cannot make, because a plan made the memory. */
#ifndef TESSERA_ENTRY_EXPORT_H
#define TESSERA_ENTRY_EXPORT_H

#include "driver/driver_types.h"

/*
 * For an export that is left to the driver, which cannot export memory that a plan made. Reports such memory; from then
 * on the driver makes the program's memory, because a program that shares memory once does so again. Any thread.
 */
void export_refused(CUdeviceptr pointer);

#endif
