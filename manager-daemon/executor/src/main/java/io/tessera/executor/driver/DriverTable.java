package io.tessera.executor.driver;

import io.tessera.device.DriverEntry;
import java.util.Arrays;

/**
 * Behaviour of a driver's entries, with one row for each. It is separate from the call table of clients ({@code CallTable}), because a client's call may lead
 * to other entries than its own (cuMemFree unmaps pages of a window), and because the executor also calls the driver for itself. Immutable and
 * thread-safe.
 *
 * <p>Sources of the rows: measurements on driver 580 (the GPU suite {@code standing}; {@code tests/gpu/FINDINGS.md}).
 */
final class DriverTable {
    private static final DriverRow[] ROWS = new DriverRow[DriverEntry.values().length];

    static {
        enter(DriverRow.PLAIN.synchronizing(), DriverEntry.cuModuleUnload, DriverEntry.cuModuleGetGlobal_v2, DriverEntry.cuLibraryGetGlobal,
                DriverEntry.cuLibraryGetManaged, DriverEntry.cuLibraryUnload, DriverEntry.cuMemFree_v2, DriverEntry.cuMemFreeHost,
                DriverEntry.cuMemHostUnregister, DriverEntry.cuArrayDestroy, DriverEntry.cuMipmappedArrayDestroy);
        enter(DriverRow.PLAIN.synchronizing().needingRoom(), DriverEntry.cuModuleLoadData, DriverEntry.cuModuleLoadDataEx,
                DriverEntry.cuModuleLoadFatBinary, DriverEntry.cuModuleGetFunction, DriverEntry.cuLibraryGetModule, DriverEntry.cuKernelGetFunction,
                DriverEntry.cuFuncLoad, DriverEntry.cuCtxSetLimit);
        enter(DriverRow.PLAIN.needingRoom(), DriverEntry.cuLaunchKernel, DriverEntry.cuLaunchKernelEx, DriverEntry.cuLaunchCooperativeKernel,
                DriverEntry.cuLibraryLoadData, DriverEntry.cuLibraryGetKernel, DriverEntry.cuGraphLaunch, DriverEntry.cuGraphUpload,
                DriverEntry.cuEventCreate, DriverEntry.cuMemAlloc_v2);
        enter(DriverRow.PLAIN.onWholeGraphs().needingRoom(), DriverEntry.cuGraphInstantiateWithFlags, DriverEntry.cuGraphInstantiateWithParams);
        enter(DriverRow.PLAIN.onWholeGraphs(), DriverEntry.cuGraphClone, DriverEntry.cuGraphInstantiate, DriverEntry.cuGraphInstantiate_v2,
                DriverEntry.cuGraphExecUpdate, DriverEntry.cuGraphExecUpdate_v2, DriverEntry.cuGraphExecChildGraphNodeSetParams,
                DriverEntry.cuGraphAddChildGraphNode, DriverEntry.cuGraphAddNode, DriverEntry.cuGraphAddNode_v2, DriverEntry.cuGraphAddDependencies,
                DriverEntry.cuGraphAddDependencies_v2, DriverEntry.cuGraphDestroyNode, DriverEntry.cuGraphDestroy, DriverEntry.cuGraphExecDestroy,
                DriverEntry.cuStreamEndCapture);
        enter(DriverRow.PLAIN.openingStream().needingRoom().sharingChannel(), DriverEntry.cuStreamCreate, DriverEntry.cuStreamCreateWithPriority);
        enter(DriverRow.PLAIN.openingStream().needingRoom(), DriverEntry.cuGreenCtxStreamCreate);
        enter(DriverRow.PLAIN.endingStream(), DriverEntry.cuStreamDestroy, DriverEntry.cuStreamDestroy_v2);
        for (DriverEntry entry : DriverEntry.values()) {
            if (ROWS[entry.ordinal()] == null) {
                enter(DriverRow.PLAIN, entry);
            }
        }
    }

    private DriverTable() {
    }

    private static void enter(DriverRow row, DriverEntry... entries) {
        Arrays.stream(entries).filter(entry -> ROWS[entry.ordinal()] != null).findAny().ifPresent(entry -> {
            throw new IllegalStateException(entry + " has two rows");
        });
        for (DriverEntry entry : entries) {
            ROWS[entry.ordinal()] = row;
        }
    }

    static DriverRow row(DriverEntry entry) {
        return ROWS[entry.ordinal()];
    }
}
