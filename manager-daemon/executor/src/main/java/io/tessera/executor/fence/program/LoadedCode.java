package io.tessera.executor.fence.program;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;

/**
 * Code that a driver has loaded. Immutable.
 *
 * @param handle  the driver's handle of a module or library
 * @param library whether the handle is a library's
 * @param whole   the library to which the module belongs, and with which it ends; 0: none
 */
public record LoadedCode(long handle, boolean library, long whole) {
    /** Returns whether code with these first bytes is machine code; all other code is text that the driver compiles. */
    public static boolean isMachineCode(byte first, byte second) {
        return first == 0x7f && second == 'E';
    }

    /** Unloads it. Returns the CUresult. */
    public int unload(DriverCalls driver) {
        if (whole != 0) {
            return driver.call(DriverEntry.cuLibraryUnload, whole);
        }
        return handle == 0 ? CudaResult.SUCCESS : driver.call(library ? DriverEntry.cuLibraryUnload : DriverEntry.cuModuleUnload, handle);
    }
}
