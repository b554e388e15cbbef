package io.tessera.software.driver.entry.launch;

import io.tessera.device.CudaEnums.FunctionAttribute;
import io.tessera.software.driver.module.DeviceFunction;
import io.tessera.software.launch.DeviceLimits;

/**
 * Number of blocks of a kernel that a multiprocessor runs at once, by the rules of compute capability 9.0: threads in whole warps, shared memory in units,
 * including the system's share, registers by warp, and a number of blocks.
 */
final class Occupancy {
    private static final int WARP = 32;
    private static final int SHARED_UNIT = 128;
    private static final int REGISTERS = 65536;
    private static final int REGISTER_UNIT = 256;

    private Occupancy() {
    }

    /** Blocks that a multiprocessor takes; 0 if it takes none. */
    static int blocks(DeviceFunction function, DeviceLimits limits, long threads, long dynamicShared) {
        if (threads <= 0 || threads > function.maxThreads()) {
            return 0;
        }
        long warps = (threads + WARP - 1) / WARP;
        long byThreads = limits.residentThreads() / (warps * WARP);
        long shared = sharedBytes(function, dynamicShared);
        long byShared = sharedOfMultiprocessor(limits) / shared;
        if (shared - DeviceLimits.RESERVED_SHARED_BYTES > limits.sharedBytesPerBlock()) {
            return 0;
        }
        long registers = (function.attribute(FunctionAttribute.NUM_REGS) * (long) WARP + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
        long byRegisters = REGISTERS / (registers * warps);
        return (int) Math.min(Math.min(byThreads, byShared), Math.min(byRegisters, limits.residentBlocks()));
    }

    private static long sharedOfMultiprocessor(DeviceLimits limits) {
        return limits.sharedBytesPerBlock() + DeviceLimits.RESERVED_SHARED_BYTES;
    }

    private static long sharedBytes(DeviceFunction function, long dynamicShared) {
        long bytes = function.kernel().staticSharedBytes() + dynamicShared + DeviceLimits.RESERVED_SHARED_BYTES;
        return (bytes + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT;
    }

    /** Dynamic shared memory that is left to a block if this many are to run at once. */
    static long sharedLeft(DeviceFunction function, DeviceLimits limits, int blocks) {
        long each = sharedOfMultiprocessor(limits) / blocks / SHARED_UNIT * SHARED_UNIT;
        long left = each - DeviceLimits.RESERVED_SHARED_BYTES - function.kernel().staticSharedBytes();
        return Math.max(0, Math.min(left, limits.sharedBytesPerBlock() - function.kernel().staticSharedBytes()));
    }
}
