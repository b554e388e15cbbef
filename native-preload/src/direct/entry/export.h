/* Exports that the driver cannot make of what a plan has put in the place of its own memory. */
#ifndef TESSERA_ENTRY_EXPORT_H
#define TESSERA_ENTRY_EXPORT_H

#include "driver/driver_types.h"

/*
 * The memory is about to be exported by the driver, which cannot export memory of a plan. Reports this, and has the
 * program's memory stay plain from now on: a program that shares memory once will do so again.
 */
void export_refused(CUdeviceptr pointer);

#endif
