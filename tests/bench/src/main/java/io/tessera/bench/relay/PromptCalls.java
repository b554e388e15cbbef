package io.tessera.bench.relay;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;

/**
 * A driver whose work is complete when it is submitted, without a real call, so that only the executor's own cost is measured. As
 * thread-safe as the driver.
 */
final class PromptCalls implements DriverPort {
    private static final Set<DriverEntry> PROMPT = EnumSet.of(DriverEntry.cuLaunchKernel, DriverEntry.cuLaunchKernelEx,
            DriverEntry.cuMemsetD8Async, DriverEntry.cuEventRecord, DriverEntry.cuEventQuery);

    private final DriverPort driver;

    /** Owns the driver. */
    PromptCalls(DriverPort driver) {
        this.driver = driver;
    }

    @Override
    public String name() {
        return driver.name();
    }

    @Override
    public boolean software() {
        return driver.software();
    }

    @Override
    public boolean supports(DriverEntry entry) {
        return driver.supports(entry);
    }

    @Override
    public int call(DriverEntry entry, MemorySegment slots) {
        return PROMPT.contains(entry) ? CudaResult.SUCCESS : driver.call(entry, slots);
    }

    @Override
    public void close() {
        driver.close();
    }
}
