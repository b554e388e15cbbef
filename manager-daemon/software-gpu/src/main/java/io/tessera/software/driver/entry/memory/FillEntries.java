package io.tessera.software.driver.entry.memory;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.context.Stream;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.memory.AddressRange;
import io.tessera.software.driver.operation.Fill;
import io.tessera.software.driver.work.Task;

/** Memory set to a value. */
public final class FillEntries implements EntryGroup {
    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public FillEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        row(table, DriverEntry.cuMemsetD8_v2, DriverEntry.cuMemsetD8Async, 1);
        row(table, DriverEntry.cuMemsetD16_v2, DriverEntry.cuMemsetD16Async, 2);
        row(table, DriverEntry.cuMemsetD32_v2, DriverEntry.cuMemsetD32Async, 4);
        rows(table, DriverEntry.cuMemsetD2D8_v2, DriverEntry.cuMemsetD2D8Async, 1);
        rows(table, DriverEntry.cuMemsetD2D16_v2, DriverEntry.cuMemsetD2D16Async, 2);
        rows(table, DriverEntry.cuMemsetD2D32_v2, DriverEntry.cuMemsetD2D32Async, 4);
    }

    private void row(EntryTable table, DriverEntry now, DriverEntry later, int bytes) {
        table.on(now, call -> fill(call.stream(0L), row(call, bytes)))
                .on(later, call -> fill(call.stream(3), row(call, bytes)));
    }

    private void rows(EntryTable table, DriverEntry now, DriverEntry later, int bytes) {
        table.on(now, call -> fill(call.stream(0L), rows(call, bytes)))
                .on(later, call -> fill(call.stream(5), rows(call, bytes)));
    }

    private static Fill row(Call call, int bytes) {
        return new Fill(call.word(0), 0, call.number(1), bytes, call.word(2), 1);
    }

    private static Fill rows(Call call, int bytes) {
        return new Fill(call.word(0), call.word(1), call.number(2), bytes, call.word(3), call.word(4));
    }

    /** Ends the entry unless all that is set is memory of the device. */
    public static void check(DriverState state, Fill fill) {
        AddressRange known = state.memory().addresses().containing(fill.address());
        DriverException.require(fill.span() == 0 || known != null && known.kind() != AddressRange.Kind.ARRAY
                && state.memory().addresses().covers(fill.address(), fill.span()), CudaError.INVALID_VALUE);
    }

    private void fill(Stream stream, Fill fill) {
        check(state, fill);
        Task task = stream.submit(fill);
        AddressRange known = state.memory().addresses().containing(fill.address());
        // The driver waits for host memory, whose content the program may look at next.
        if (task != null && known != null && known.synchronous()) {
            task.await();
        }
    }
}
