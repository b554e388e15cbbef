package io.tessera.software.driver.entry;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.operation.KernelLaunch;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/** Messages of the driver beside its results: a line for each lost context, and counts of entries that it lacks. Thread-safe. */
public final class DriverLog implements KernelLaunch.FaultReport {
    /** Lines of which a second one is not written; a bound for the memory that they take. */
    private static final int REMEMBERED = 1000;

    private final Consumer<String> lines;
    private final Set<String> said = ConcurrentHashMap.newKeySet();
    private final Map<DriverEntry, LongAdder> refused = new ConcurrentHashMap<>();

    /** Creates an instance with a place for lines. */
    public DriverLog(Consumer<String> lines) {
        this.lines = lines;
    }

    @Override
    public void lost(CudaError error, String kernel, String message) {
        lines.accept("software GPU: " + error.symbol() + " in kernel " + kernel + ": " + message);
    }

    @Override
    public void failed(String kernel, Throwable failure) {
        defect("kernel " + kernel + ", which ends its program alone,", failure);
    }

    /** Something failed in a way that has no documented error. */
    public void defect(String where, Throwable failure) {
        lines.accept("software GPU: " + where + " failed: " + failure);
        for (StackTraceElement frame : failure.getStackTrace()) {
            lines.accept("    at " + frame);
        }
    }

    /** An image or a kernel in it cannot be used; said once, also if a program tries again and again. */
    public void rejected(String what, String reason) {
        String line = "software GPU: " + what + ": " + reason;
        if (said.size() >= REMEMBERED || said.add(line)) {
            lines.accept(line);
        }
    }

    /** An entry that the driver lacks was called; said once for each. */
    public void refused(DriverEntry entry) {
        LongAdder counter = refused.computeIfAbsent(entry, _ -> new LongAdder());
        counter.increment();
        if (counter.sum() == 1) {
            lines.accept("software GPU: " + entry + " is not supported");
        }
    }

    /** Returns how often which entries were called that the driver lacks. */
    public Map<DriverEntry, Long> refusals() {
        Map<DriverEntry, Long> counts = new EnumMap<>(DriverEntry.class);
        refused.forEach((entry, counter) -> counts.put(entry, counter.sum()));
        return counts;
    }
}
