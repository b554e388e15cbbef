package io.tessera.executor.fence.load;

import io.tessera.device.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.OwnStream;
import io.tessera.executor.fence.program.FencedImage;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.window.WindowAccess;
import io.tessera.guardian.machine.MachineCodeException;
import java.util.List;

/**
 * Fenced machine code whose variables have their memory in the client's window. Immutable.
 *
 * @param image    the image from which it was made
 * @param code     a cubin with the addresses of the variables
 * @param memory of the variables; the owner of the image frees it
 * @param number   the number that its threads write in reports; 0: it has none of its own
 */
public record PlacedImage(FencedImage image, byte[] code, HoistedMemory memory, int number) {
    /**
     * Takes memory for the variables, fills it, and writes their addresses.
     *
     * @throws ProgramRefusedException with OUT_OF_MEMORY, or the driver's result; then nothing is left allocated
     */
    public static PlacedImage place(FencedImage image, int number, WindowAccess window, ClientCharge charge, OwnStream stream, DriverCalls driver)
            throws ProgramRefusedException {
        HoistedMemory memory = HoistedMemory.place(List.of(image.moved().variables()), window, charge, stream, driver);
        if (image.moved().isEmpty()) {
            return new PlacedImage(image, image.code(), memory, number);
        }
        byte[] code = image.code().clone();
        try {
            image.moved().write(code, name -> memory.address(memory.find(name)));
        } catch (MachineCodeException e) {
            memory.free(window, charge);
            throw new ProgramRefusedException(CudaResult.INVALID_IMAGE, e.getMessage());
        }
        return new PlacedImage(image, code, memory, number);
    }

    /** Returns the same image after it was loaded: the driver has the code, and the reader of reports has the texts. */
    PlacedImage loaded() {
        return new PlacedImage(image.loaded(), new byte[0], memory, number);
    }

    /** Returns address and size of a variable in the window; null: the driver knows whether there is such a variable. */
    public long[] variable(String name) {
        HoistedMemory.Place place = memory.find(name);
        return place == null ? null : new long[] {memory.address(place), place.variable().sizeBytes()};
    }
}
