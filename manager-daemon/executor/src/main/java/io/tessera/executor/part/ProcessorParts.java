package io.tessera.executor.part;

import io.tessera.device.CudaEnums.DeviceResource;
import io.tessera.device.CudaEnums.GreenContextFlag;
import io.tessera.device.CudaEnums.StreamFlag;
import io.tessera.device.CudaLayouts.CUdevResource;
import io.tessera.device.CudaLayouts.CUdevSmResource;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.DriverFailedException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Parts of the device's processors, as green contexts of its primary context. Kernels of the primary context run on their streams
 * unchanged. Parts are made when the executor starts, because making one waits for all work queued on the device. Immutable and thread-safe;
 * {@link #close} is called once, when no stream of a part is left.
 */
public final class ProcessorParts implements AutoCloseable {
    /** All processors: the device's own context. */
    public static final int WHOLE = 0;
    /** All but {@link #RESERVE} of the processors. */
    public static final int MOST = 1;
    /** All but {@link #LARGE_RESERVE} of them. */
    public static final int FEWER = 2;
    /**
     * A quarter of the processors. On an H200 (132 processors), with matrix products on the rest, the 99th percentile of a small model's requests
     * was 3.4 ms, against 2.3 ms alone, and the products kept 0.85 of their speed.
     */
    static final double RESERVE = 0.25;
    /** Reserve for tenants of class interactive. */
    static final double LARGE_RESERVE = 0.30;
    /** With fewer processors no part is made. */
    private static final int FEWEST_PROCESSORS = 16;
    private static final Logger LOG = LoggerFactory.getLogger(ProcessorParts.class);

    private final DeviceContext device;
    private final int processors;
    private final int highest;
    private final List<Part> parts;

    private record Part(long context, int processors) {
    }

    private ProcessorParts(DeviceContext device, int processors, int highest, List<Part> parts) {
        this.device = device;
        this.highest = highest;
        this.processors = processors;
        this.parts = List.copyOf(parts);
    }

    /** Returns an instance without parts: for a driver that cannot make them. */
    public static ProcessorParts none() {
        return new ProcessorParts(null, 0, 0, List.of());
    }

    /** Makes the parts; the context is current. None if the driver cannot make them. */
    public static ProcessorParts make(DeviceContext device) {
        if (device.port().software()) {
            return none();
        }
        try (Arena arena = Arena.ofConfined()) {
            DriverCalls driver = new DriverCalls(device.port(), arena);
            return make(device, driver, arena);
        } catch (DriverFailedException e) {
            LOG.info("the driver divides no processors: {}", e.getMessage());
            return none();
        }
    }

    private static ProcessorParts make(DeviceContext device, DriverCalls driver, Arena arena) throws DriverFailedException {
        MemorySegment all = arena.allocate(CUdevResource.BYTES, Long.BYTES);
        DriverFailedException.check(DriverApi.cuDeviceGetDevResource,
                driver.call(DriverEntry.cuDeviceGetDevResource, device.device(), all.address(), DeviceResource.SM));
        int processors = all.get(ValueLayout.JAVA_INT, CUdevResource.sm + CUdevSmResource.smCount);
        int least = Math.max(1, all.get(ValueLayout.JAVA_INT, CUdevResource.sm + CUdevSmResource.minSmPartitionSize));
        DriverFailedException.check(DriverApi.cuCtxGetStreamPriorityRange,
                driver.call(DriverEntry.cuCtxGetStreamPriorityRange, driver.out(0), driver.out(1)));
        int highest = driver.outInt(1);
        List<Part> parts = new ArrayList<>();
        if (processors < FEWEST_PROCESSORS) {
            return none();
        }
        try {
            for (double reserve : new double[] {RESERVE, LARGE_RESERVE}) {
                int reserved = (int) Math.max(1, Math.round(reserve * processors / least)) * least;
                parts.add(without(driver, device.device(), all, reserved, arena));
            }
        } catch (DriverFailedException e) {
            end(driver, parts);
            throw e;
        }
        LOG.info("{} processors; parts of {} and {}", processors, parts.get(0).processors, parts.get(1).processors);
        return new ProcessorParts(device, processors, highest, parts);
    }

    private static Part without(DriverCalls driver, int device, MemorySegment all, int reserved, Arena arena) throws DriverFailedException {
        MemorySegment first = arena.allocate(CUdevResource.BYTES, Long.BYTES);
        MemorySegment rest = arena.allocate(CUdevResource.BYTES, Long.BYTES);
        MemorySegment groups = arena.allocate(ValueLayout.JAVA_INT);
        groups.set(ValueLayout.JAVA_INT, 0, 1);
        DriverFailedException.check(DriverApi.cuDevSmResourceSplitByCount, driver.call(DriverEntry.cuDevSmResourceSplitByCount,
                first.address(), groups.address(), all.address(), rest.address(), 0, reserved));
        DriverFailedException.check(DriverApi.cuDevResourceGenerateDesc,
                driver.call(DriverEntry.cuDevResourceGenerateDesc, driver.out(0), rest.address(), 1));
        long description = driver.outLong(0);
        DriverFailedException.check(DriverApi.cuGreenCtxCreate,
                driver.call(DriverEntry.cuGreenCtxCreate, driver.out(0), description, device, GreenContextFlag.DEFAULT_STREAM));
        return new Part(driver.outLong(0), rest.get(ValueLayout.JAVA_INT, CUdevResource.sm + CUdevSmResource.smCount));
    }

    /** Returns whether the processors can be divided. */
    public boolean isAvailable() {
        return !parts.isEmpty();
    }

    /**
     * Returns the priority of a client's stream on all processors, given the one that the client asked for: a step above that of streams on parts, whose
     * kernels use some of the same processors. Graphs keep the priority of the streams in which they were captured.
     *
     * @param priority as the driver counts: the lower the more urgent
     */
    public int raised(int priority) {
        return isAvailable() ? Math.max(priority - 1, highest) : priority;
    }

    /** Returns the priority that a client asked for, from {@link #raised}; the two highest ones are the same. */
    public int lowered(int priority) {
        return isAvailable() ? Math.min(priority + 1, 0) : priority;
    }

    /** Returns the number of processors of a part. */
    public int processors(int part) {
        return part == WHOLE || part > parts.size() ? processors : parts.get(part - 1).processors;
    }

    /**
     * Makes a non-blocking stream whose kernels run on a part; its events order it with every other stream of the device.
     *
     * @param part not {@link #WHOLE}
     * @return the CUresult; the stream is the first result of the calls
     */
    public int stream(DriverCalls driver, int part, int priority) {
        if (part > parts.size()) {
            return CudaResult.NOT_SUPPORTED;
        }
        return driver.call(DriverEntry.cuGreenCtxStreamCreate, driver.out(0), parts.get(part - 1).context, StreamFlag.NON_BLOCKING, priority);
    }

    private static void end(DriverCalls driver, List<Part> parts) {
        parts.forEach(part -> driver.call(DriverEntry.cuGreenCtxDestroy, part.context));
    }

    /** Ends the parts. */
    @Override
    public void close() {
        if (parts.isEmpty()) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            end(new DriverCalls(device.port(), arena), parts);
        }
    }
}
