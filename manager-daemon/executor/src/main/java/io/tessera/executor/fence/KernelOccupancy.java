package io.tessera.executor.fence;

import io.tessera.device.CudaEnums.FunctionAttribute;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.protocol.relay.RelayHandle;

/** Occupancy: the number of blocks of a kernel that a multiprocessor holds. One owner thread. */
final class KernelOccupancy {
    private final DriverCalls driver;
    private final KernelAttributes attributes;

    KernelOccupancy(DriverCalls driver, int device) {
        this.driver = driver;
        this.attributes = new KernelAttributes(driver, device);
    }

    /** As {@link ClientKernels#blocksPerProcessor}. The last answer for a kernel is kept: programs launch it with the same blocks repeatedly. */
    int of(Launchable kernel, long function, long threads, long sharedBytes) {
        Launchable.Held last = kernel.held();
        if (last == null || last.function() != function || last.threads() != threads || last.sharedBytes() != sharedBytes) {
            last = kernel.held(new Launchable.Held(function, threads, sharedBytes, ask(kernel, function, threads, sharedBytes)));
        }
        return last.blocks();
    }

    private int ask(Launchable kernel, long function, long threads, long sharedBytes) {
        int result = driver.call(DriverEntry.cuOccupancyMaxActiveBlocksPerMultiprocessor, driver.out(0), function, threads, sharedBytes);
        if (result != CudaResult.SUCCESS) {
            return ClientKernels.NOT_SAID;
        }
        int blocks = driver.outInt(0);
        boolean shared = function == kernel.function && RelayHandle.type(kernel.handle) == HandleKind.KERNEL.number();
        for (int attribute = FunctionAttribute.REQUIRED_CLUSTER_WIDTH; attribute <= FunctionAttribute.REQUIRED_CLUSTER_DEPTH; attribute++) {
            int width = attributes.get(function, shared, attribute);
            if (width < 0) {
                return ClientKernels.NOT_SAID;
            }
            blocks = width > 1 ? -Math.abs(blocks) : blocks;
        }
        return blocks;
    }
}
