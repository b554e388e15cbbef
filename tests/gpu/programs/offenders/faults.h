/* Kernels that do what ends a context. */
#pragma once

/* Launches the kernel of a name with 4 KiB of the device's memory. False: there is none. */
bool launch_fault(const char *name, int *memory);
