/* IPC handles of memory and events: the driver's own, 64 bytes by value. */
#include "runtime.h"

#define DEVICE(pointer) ((CUdeviceptr)(uintptr_t)(pointer))

FORWARD(cudaIpcGetMemHandle, cuIpcGetMemHandle, (void *handle, void *memory), (handle, DEVICE(memory)))
FORWARD(cudaIpcOpenMemHandle, cuIpcOpenMemHandle_v2, (void **memory, struct tessera_value_64 handle, unsigned flags),
        ((CUdeviceptr *)memory, handle, flags))
FORWARD(cudaIpcCloseMemHandle, cuIpcCloseMemHandle, (void *memory), (DEVICE(memory)))
FORWARD(cudaIpcGetEventHandle, cuIpcGetEventHandle, (void *handle, CUevent event), (handle, event))
FORWARD(cudaIpcOpenEventHandle, cuIpcOpenEventHandle, (CUevent * event, struct tessera_value_64 handle), (event, handle))
