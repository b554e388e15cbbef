/* Settings from the environment. Read once, before the first use; constant afterwards, except for settings_choose_space(). */
#ifndef TESSERA_SETTINGS_H
#define TESSERA_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "tessera_abi.h"

struct tessera_settings {
    bool disabled;                    /* TESSERA_DISABLE: hooks pass everything through */
    bool required;                    /* TESSERA_REQUIRE: cuInit fails without a manager */
    bool managed;                     /* TESSERA_PLAN=managed */
    bool swap;                        /* TESSERA_PLAN=swap or auto, for devices that support it */
    bool automatic;                   /* TESSERA_PLAN=auto: managed memory where swap is not possible */
    bool space;                       /* TESSERA_SHARE=space, or auto and the manager chose it: the relay port */
    bool chosen;                      /* TESSERA_SHARE=auto: the manager chooses the port */
    uint32_t fence;                   /* TESSERA_FENCE: TESSERA_FENCE_*; 0: the manager's default */
    uint32_t unfenced;                /* TESSERA_UNFENCED: TESSERA_UNFENCED_*; 0: the manager's default */
    bool fence_alone;                 /* TESSERA_FENCE_ALONE */
    uint32_t kernel_timeout_s;        /* TESSERA_KERNEL_TIMEOUT, seconds; 0: the manager's default */
    bool quiet;                       /* TESSERA_QUIET: no lines on stderr */
    uint64_t limit_bytes;             /* TESSERA_MEMORY, bytes per device; 0: no limit */
    uint64_t memory_wait_ns;          /* TESSERA_MEMORY_WAIT_MS: how long a call waits for memory of other clients */
    uint64_t guarantee_bytes;         /* TESSERA_MEMORY_GUARANTEE: bytes that plan swap keeps on the device; 0: none */
    uint64_t swap_file_bytes;         /* TESSERA_SWAP_FILE_BYTES, with a directory; unset: as the file system allows */
    uint64_t manager_timeout_ns;      /* TESSERA_MANAGER_TIMEOUT_MS: silence after which gates open */
    char wrong[512];                  /* the first variable with a wrong value, and the accepted values; empty: none */
    char tenant[TESSERA_LABEL];       /* TESSERA_NAME, else the command */
    char command[TESSERA_LABEL];      /* name of the program */
    char driver[PATH_MAX];            /* TESSERA_DRIVER; empty: search */
    char swap_directory[PATH_MAX];    /* TESSERA_SWAP_DIRECTORY; empty: nothing is swapped to a file */
    char runtime_directory[PATH_MAX]; /* TESSERA_RUNTIME_DIR; empty: the usual ones */
};

/* Sets `space` to the manager's choice for TESSERA_SHARE=auto. Only while the port is chosen (port.c). */
void settings_choose_space(bool space);

/* The settings; reads the environment at the first call. Safe from any thread. */
const struct tessera_settings *settings(void);

#endif
