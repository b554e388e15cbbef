package io.tessera.executor.jit;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Text or another image that a driver has compiled and loaded as a library. A library's compilation holds nobody up: while a module is
 * compiled the driver lets no other thread submit (644 ms for 24 kernels; a library's others did not notice. Driver 580). Immutable.
 *
 * @param result CUresult
 * @param handle the driver's; 0 where the result is not SUCCESS
 * @param info   what the compiler said
 * @param error  what was wrong, in the compiler's words; also where a driver takes the image all the same
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
