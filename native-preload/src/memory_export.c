#include "memory_export.h"

#include "memory.h"
#include "report.h"
#include "segment.h"
#include "settings.h"
#include "swap.h"
#include "tessera_entries.h"

CUresult memory_exported(CUresult result)
{
    if (result == CUDA_SUCCESS)
        segment_count(TESSERA_COUNTER_EXPORTED, 1);
    return result;
}

CUresult memory_imported(CUresult result)
{
    if (result == CUDA_SUCCESS)
        segment_count(TESSERA_COUNTER_IMPORTED, 1);
    return result;
}

/* Whether the address lies in memory that a plan has put in the place of the driver's own. */
static bool converted(CUdeviceptr pointer)
{
    struct allocation known;
    CUdeviceptr start = pointer;
    if (settings()->swap && swap_find(pointer, NULL))
        return true;
    REAL(cuPointerGetAttribute)((void *)&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, pointer);
    return allocations_find(ALLOCATION_POINTER, start, &known) && known.managed;
}

void memory_export_refused(CUdeviceptr pointer)
{
    const char *plan = settings()->automatic ? "auto" : settings()->swap ? "swap" : "managed";
    if (!settings()->managed && !settings()->swap)
        return;
    bool refused = converted(pointer);
    if (refused || settings()->managed)
        memory_stay_plain();
    if (!refused)
        return;
    segment_count(TESSERA_COUNTER_EXPORT_REFUSALS, 1);
    report_error(CUDA_ERROR_INVALID_VALUE, "the program exports memory that plan %s has converted: run it with --plan plain",
                 plan);
    report_line("this program exports GPU memory (CUDA IPC), which plan %s cannot do for what it has converted: run it with "
                "--plan plain", plan);
}
