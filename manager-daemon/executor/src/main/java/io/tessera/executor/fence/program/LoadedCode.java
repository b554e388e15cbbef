package io.tessera.executor.fence.program;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;

/**
 * Code that a driver has loaded. Immutable.
 *
 * @param handle  the driver's, of a module or library
 * @param library whether it is a library's
 * @param whole   a library that it is the module of, and goes with; 0: none
 */
public record LoadedCode(long handle, boolean library, long whole) {
    /** What the driver loads beside this is text that it compiles. */
    public static boolean isMachineCode(byte first, byte second) {
        return first == 0x7f && second == 'E';
    }

    /** Ends it. Returns the CUresult. */
    public int unload(DriverCalls driver) {
        if (whole != 0) {
            return driver.call(DriverEntry.cuLibraryUnload, whole);
        }
        return handle == 0 ? CudaResult.SUCCESS : driver.call(library ? DriverEntry.cuLibraryUnload : DriverEntry.cuModuleUnload, handle);
    }
}
