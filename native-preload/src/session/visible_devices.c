#include "session/visible_devices.h"

#include <stdlib.h>
#include <string.h>

#include "session/report.h"

void visible_devices_say_none(void)
{
    static int said;
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    /* With an empty list or -1, programs hide all devices on purpose. */
    if (list && *list && strcmp(list, "-1") != 0 && !__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        report_line(
            "CUDA_VISIBLE_DEVICES=%.100s (--device of tessera run) begins with no device of this machine: the program sees no GPU",
            list);
}
