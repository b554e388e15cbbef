package io.tessera.software.driver;

import io.tessera.device.CudaError;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import io.tessera.device.EntryDescriptions;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.context.Services;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DeviceProfile;
import io.tessera.software.driver.entry.DriverLog;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.entry.Handler;
import io.tessera.software.driver.memory.DriverMemory;
import io.tessera.software.driver.work.WordPoller;
import io.tessera.software.driver.work.Workers;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A CUDA driver with a software GPU. Where there are several, each is the device of a driver in a process of its own, which
 * counts the others and reaches none of them. Thread-safe. Pointers are addresses of this process, and a wrong
 * host pointer ends it, as it does with the vendor's driver; device pointers are checked.
 */
public final class SoftwareDriver implements DriverPort {
    private final DriverState state;
    private final EntryTable table;
    private final DriverLog log;
    private final boolean[] perThread = new boolean[DriverEntry.values().length];
    /** The reason of INVALID_PTX in a thread's last call that returned it. */
    private final ThreadLocal<String> invalid = new ThreadLocal<>();
    private volatile boolean closed;

    /**
     * Starts the device.
     *
     * @param options configuration of the processor
     * @param machine identification of this machine, for the device's UUID
     * @param ordinal number of the device among the machine's software GPUs
     * @param devices number of the machine's software GPUs
     * @param lines   takes lines about lost contexts, refused images and entries that are not supported
     */
    public SoftwareDriver(ProcessorOptions options, String machine, int ordinal, int devices,
            Consumer<String> lines) {
        log = new DriverLog(lines);
        SoftwareProcessor processor = new SoftwareProcessor(options);
        WordPoller poller = new WordPoller(options.clock());
        // Kernels bring their own threads; these carry streams, of which several should be able to make progress.
        Workers workers = new Workers(Math.max(2, options.workers()), options.clock(), poller,
                (task, failure) -> log.defect(task.operation().getClass().getSimpleName(), failure));
        state = new DriverState(processor, new Services(new DriverMemory(processor.memory()), workers,
                options.clock()), new DeviceProfile(options.limits(), machine, ordinal, devices), log);
        table = new EntryTable();
        EntryGroups.of(state).forEach(group -> group.register(table));
        for (DriverEntry entry : DriverEntry.values()) {
            perThread[entry.ordinal()] = EntryDescriptions.of(entry).perThread();
        }
    }

    @Override
    public String name() {
        return DeviceProfile.NAME + ", CUDA " + DeviceProfile.DRIVER_VERSION / 1000 + "."
                + DeviceProfile.DRIVER_VERSION % 1000 / 10;
    }

    /** Returns true: memory is a new, zeroed file of the system each time. */
    @Override
    public boolean makesZeroedMemory() {
        return true;
    }

    @Override
    public boolean hasSinks() {
        return true;
    }

    @Override
    public boolean software() {
        return true;
    }

    @Override
    public boolean supports(DriverEntry entry) {
        return table.of(entry) != null;
    }

    @Override
    public int call(DriverEntry entry, MemorySegment slots) {
        if (closed) {
            return CudaError.DEINITIALIZED.code();
        }
        Handler handler = table.of(entry);
        if (handler == null) {
            log.refused(entry);
            return CudaResult.NOT_SUPPORTED;
        }
        try {
            handler.handle(new Call(state, slots, perThread[entry.ordinal()]));
            return CudaResult.SUCCESS;
        } catch (DriverException e) {
            if (e.error() == CudaError.INVALID_PTX) {
                log.rejected(entry.toString(), e.getMessage());
                invalid.set(e.getMessage());
            }
            return e.error().code();
        } catch (RuntimeException e) {
            log.defect(entry.toString(), e);
            return CudaError.UNKNOWN.code();
        } catch (StackOverflowError | OutOfMemoryError e) {
            log.defect(entry.toString(), e);
            return CudaError.OUT_OF_MEMORY.code();
        } catch (LinkageError | VirtualMachineError e) {
            log.defect(entry.toString(), e);
            return CudaError.UNKNOWN.code();
        }
    }

    @Override
    public String whyInvalid() {
        String reason = invalid.get();
        return reason == null ? "" : reason;
    }

    /** Returns how often which entries were called that the driver lacks. */
    public Map<DriverEntry, Long> refusals() {
        return log.refusals();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            state.close();
        }
    }
}
