#include "direct/chunks/numa.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session/report.h"
#include "session/segment.h"
#include "tessera_entries.h"

#define PREFERRED 1 /* MPOL_PREFERRED, linux/mempolicy.h */
#define NODES 64    /* bits of the mask that is passed */
#define UNKNOWN (-2)

/* The NUMA node of a PCI device, from sysfs; -1: it has none, or the machine has one node. */
static int read_node(const char *bus_id)
{
    char path[96], text[16] = "";
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/numa_node", bus_id);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    int node = length > 0 ? atoi(text) : -1;
    return node < NODES ? node : -1;
}

static int node_of(unsigned device)
{
    static int nodes[TESSERA_MAX_DEVICES]; /* node - UNKNOWN; 0: not looked up yet */
    int known = __atomic_load_n(&nodes[device], __ATOMIC_RELAXED);
    if (known)
        return known + UNKNOWN;
    char bus_id[32] = "";
    int node = -1;
    if (REAL(cuDeviceGetPCIBusId)(bus_id, sizeof bus_id - 1, (CUdevice)device) == CUDA_SUCCESS) {
        for (char *c = bus_id; *c; c++) /* the driver writes upper case, sysfs lower case */
            *c = (char)tolower((unsigned char)*c);
        node = read_node(bus_id);
    }
    __atomic_store_n(&nodes[device], node - UNKNOWN, __ATOMIC_RELAXED);
    return node;
}

void numa_prefer(unsigned device, void *memory, uint64_t bytes)
{
    int node = node_of(device);
    if (node < 0)
        return;
    unsigned long mask = 1UL << node;
    if (syscall(SYS_mbind, memory, bytes, PREFERRED, &mask, NODES + 1, 0) != 0)
        report_error(-errno, "host memory cannot be asked for on node %d, next to device %u: %s", node, device,
                     strerror(errno));
}
