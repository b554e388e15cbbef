package io.tessera.executor.jit;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Text or another image that a driver has compiled and loaded as a library. The compilation of a library blocks no other thread, whereas a driver lets no other
 * thread submit while it compiles a module (644 ms for 24 kernels; with a library, others were not affected. Driver 580). Immutable.
 *
 * @param result CUresult
 * @param handle the driver's handle; 0 where the result is not SUCCESS
 * @param info   the compiler's information
 * @param error  the compiler's errors; there may be some even if the driver accepts the image
 */
public record TextLibrary(int result, long handle, String info, String error) {
    /**
     * Loads.
     *
     * @param image memory that outlives the call; text with its final NUL
     */
    public static TextLibrary load(MemorySegment image, CodeOptions options, DriverCalls driver) {
        try (Arena arena = Arena.ofConfined()) {
            JitArguments arguments = new JitArguments(options, arena);
            int result = driver.call(DriverEntry.cuLibraryLoadData, driver.out(0), image.address(), arguments.numbers(),
                    arguments.values(), arguments.count(), 0, 0, 0);
            return result == CudaResult.SUCCESS ? new TextLibrary(result, driver.outLong(0), arguments.info(), arguments.error().strip())
                    : new TextLibrary(result, 0, "", arguments.error().strip());
        }
    }
}
