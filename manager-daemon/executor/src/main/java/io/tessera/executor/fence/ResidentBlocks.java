package io.tessera.executor.fence;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;

/**
 * How many blocks of a kernel a device can run at once, as far as registers go. Other limits are the same for all code of one kernel.
 *
 * @param multiprocessors of the device; 0: not known, then no block is sure to run
 * @param registers       that each has, of 32 bits
 */
record ResidentBlocks(int multiprocessors, int registers) {
    /** CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT. */
    private static final int MULTIPROCESSORS = 16;
    /** CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR. */
    private static final int REGISTERS = 82;
    private static final int WARP = 32;
    /** Registers are given to warps in pieces of so many (CUDA's occupancy calculator, since compute capability 3.0). */
    private static final int PIECE = 256;

    /** Of a device, by its number. */
    static ResidentBlocks of(int device, DriverCalls driver) {
        return new ResidentBlocks(attribute(device, MULTIPROCESSORS, driver), attribute(device, REGISTERS, driver));
    }

    private static int attribute(int device, int attribute, DriverCalls driver) {
        int result = driver.call(DriverEntry.cuDeviceGetAttribute, driver.out(0), attribute, device);
        return result == CudaResult.SUCCESS ? driver.outInt(0) : 0;
    }

    /**
     * The most blocks that run at once.
     *
     * @param each    registers of a thread
     * @param threads of a block, at least 1 and at most what a block can have
     */
    long most(int each, double threads) {
        long warps = ((long) threads + WARP - 1) / WARP;
        long taken = warps * ((each * WARP + PIECE - 1) / PIECE * PIECE);
        return taken <= 0 ? 0 : registers / taken * multiprocessors;
    }
}
