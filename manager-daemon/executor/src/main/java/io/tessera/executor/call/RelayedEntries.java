package io.tessera.executor.call;

import io.tessera.device.EntryDescription;
import io.tessera.device.ParameterDescription;
import java.util.List;

/**
 * Which entries a CALL may name. Everything else is refused: what is answered in the client, and what would reach beyond
 * the client into the shared context or the executor's process. Stateless.
 */
final class RelayedEntries {
    /** By the name that programs write; a star ends a prefix. */
    private static final List<String> SERVED = List.of("cuDeviceGetTexture1DLinearMaxWidth",
            "cuDeviceGetDefaultMemPool", "cuDeviceGetMemPool", "cuDeviceSetMemPool", "cuDeviceGetGraphMemAttribute",
            "cuDeviceSetGraphMemAttribute", "cuDeviceGraphMemTrim", "cuCtxGetLimit", "cuCtxSetLimit",
            "cuCtxResetPersistingL2Cache", "cuModuleLoadData", "cuModuleLoadDataEx", "cuModuleLoadFatBinary",
            "cuModuleUnload", "cuModuleGet*", "cuModuleEnumerateFunctions", "cuLibraryLoadData", "cuLibraryUnload",
            "cuLibraryGetKernel", "cuLibraryGetModule", "cuLibraryGetGlobal", "cuLibraryGetKernelCount",
            "cuLibraryEnumerateKernels", "cuKernel*", "cuFunc*", "cuLinkCreate", "cuLinkAddData", "cuLinkComplete",
            "cuLinkDestroy", "cuOccupancy*", "cuMemAlloc", "cuMemAllocPitch", "cuMemFree", "cuMemAllocAsync",
            "cuMemAllocFromPoolAsync", "cuMemFreeAsync", "cuPointerGetAttribute", "cuPointerSetAttribute",
            "cuMemCreate", "cuMemRelease", "cuMemMap", "cuMemUnmap", "cuMemAddress*", "cuMemSetAccess",
            "cuMemGetAccess", "cuMemGetAllocation*", "cuMemRetainAllocationHandle", "cuMemPool*", "cuMemcpy*",
            "cuMemset*", "cuStreamCreate", "cuStreamCreateWithPriority", "cuStreamDestroy", "cuStreamGetAttribute",
            "cuStreamSetAttribute", "cuStreamCopyAttributes", "cuStreamBeginCapture", "cuStreamBeginCaptureToGraph",
            "cuStreamEndCapture", "cuStreamGetCaptureInfo", "cuStreamUpdateCaptureDependencies", "cuStreamWaitEvent",
            "cuStreamWaitValue32", "cuStreamWaitValue64", "cuStreamWriteValue32", "cuStreamWriteValue64",
            "cuStreamBatchMemOp", "cuEventCreate", "cuEventDestroy", "cuEventRecord", "cuEventRecordWithFlags",
            "cuEventElapsedTime", "cuGraph*", "cuArray*", "cuMipmappedArray*", "cuTexRef*", "cuSurfRef*",
            "cuTexObject*", "cuSurfObject*", "cuTensorMap*", "cuProfilerStart", "cuProfilerStop");
    private static final List<String> REFUSED = List.of("cuModuleGetLoadingMode", "cuKernelGetParamInfo",
            "cuFuncGetParamInfo", "cuMemPoolExport*", "cuMemPoolImport*", "cuMemGetAllocationGranularity_v1",
            "cuGraphics*", "cuGraphDebugDotPrint", "cuGraphRetainUserObject", "cuGraphReleaseUserObject",
            "cuGraphAddExternal*", "cuGraphExternal*", "cuGraphExecExternal*", "*_v1");
    /** What needs no context of the client. */
    private static final List<String> CONTEXTLESS = List.of("cuLibrary*", "cuKernel*", "cuLink*", "cuDevice*",
            "cuTensorMap*", "cuMemCreate", "cuMemRelease", "cuMemAddress*", "cuMemMap", "cuMemUnmap", "cuMemSetAccess",
            "cuMemGet*", "cuMemRetainAllocationHandle", "cuMemPool*", "cuGraph*", "cuOccupancy*", "cuFunc*");

    private RelayedEntries() {
    }

    /** Whether a CALL may name it. */
    static boolean served(EntryDescription description) {
        return description.known() && any(SERVED, description.api()) && !any(REFUSED, description.api())
                && !narrow(description);
    }

    /** The forms of before CUDA 3.2, with addresses and sizes of 32 bits. */
    private static boolean narrow(EntryDescription description) {
        return description.parameters().stream().map(ParameterDescription::type)
                .anyMatch(type -> type.endsWith("_v1") && !type.startsWith("CUDA_KERNEL_NODE"));
    }

    /** Whether it is served without a context too. */
    static boolean contextless(EntryDescription description) {
        return any(CONTEXTLESS, description.api());
    }

    private static boolean any(List<String> patterns, String name) {
        for (String pattern : patterns) {
            boolean fits = pattern.startsWith("*") ? name.endsWith(pattern.substring(1))
                    : pattern.endsWith("*") ? name.startsWith(pattern.substring(0, pattern.length() - 1))
                            : name.equals(pattern);
            if (fits) {
                return true;
            }
        }
        return false;
    }
}
