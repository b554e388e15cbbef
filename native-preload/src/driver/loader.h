/*
 * The wrapper of dlopen: a program that opens the vendor's libcuda or NVML by a path of its own gets ours. Every other
 * call goes to glibc's dlopen by a tail jump (loader.S), so that glibc sees the true caller and its RUNPATH.
 */
#ifndef TESSERA_LOADER_H
#define TESSERA_LOADER_H

/* Opens a file with glibc's own dlopen, not our wrapper, with RTLD_NOW | RTLD_LOCAL. NULL: see dlerror. */
void *loader_open(const char *path);

/* Called by the wrapper: returns the name to open, which may be `name` itself. Sets tessera_next_dlopen. */
const char *tessera_dlopen_name(const char *name);
extern void *tessera_next_dlopen;

#endif
