package io.tessera.executor.window;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

/** Asks all tenants to give back unused memory when the device has none left. Thread-safe. */
final class MemoryPressureRetry {
    private final NanoClock clock;
    private final BooleanSupplier ask;

    /**
     * Creates an instance.
     *
     * @param ask asks the tenants without waiting; returns whether they have unused memory
     */
    MemoryPressureRetry(NanoClock clock, BooleanSupplier ask) {
        this.clock = clock;
        this.ask = ask;
    }

    /**
     * If an action found no memory, repeats it for a short time.
     *
     * @param outer  the wait that also bounds this one; null: none
     * @param first  the CUresult of the first attempt
     * @param action returns a CUresult
     */
    int again(BoundedWait outer, int first, IntSupplier action) {
        if (first != CudaResult.OUT_OF_MEMORY) {
            return first;
        }
        int result = first;
        BoundedWait wait = BoundedWait.begin(clock, WaitLimit.MEMORY_PRESSURE, outer);
        boolean any = ask.getAsBoolean();
        while (result == CudaResult.OUT_OF_MEMORY && any && !wait.isOver()) {
            wait.pause();
            any = ask.getAsBoolean();
            result = action.getAsInt();
        }
        return result;
    }
}
