package io.tessera.software.driver.entry.memory;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.device.MemoryType;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.context.Stream;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;

/** Copies of bytes in a row. */
public final class CopyEntries implements EntryGroup {
    private final DriverState state;
    private final Transfers transfers;

    /** Creates an instance over a driver's state. */
    public CopyEntries(DriverState state) {
        this.state = state;
        transfers = new Transfers(state);
    }

    @Override
    public void register(EntryTable table) {
        int host = MemoryType.HOST;
        int device = MemoryType.DEVICE;
        int unified = MemoryType.UNIFIED;
        table.on(DriverEntry.cuMemcpy, call -> now(call, unified, unified))
                .on(DriverEntry.cuMemcpyHtoD_v2, call -> now(call, device, host))
                .on(DriverEntry.cuMemcpyDtoH_v2, call -> now(call, host, device))
                .on(DriverEntry.cuMemcpyDtoD_v2, call -> now(call, device, device))
                .on(DriverEntry.cuMemcpyAsync, call -> later(call, unified, unified))
                .on(DriverEntry.cuMemcpyHtoDAsync_v2, call -> later(call, device, host))
                .on(DriverEntry.cuMemcpyDtoHAsync_v2, call -> later(call, host, device))
                .on(DriverEntry.cuMemcpyDtoDAsync_v2, call -> later(call, device, device))
                .on(DriverEntry.cuMemcpyPeer, call -> {
                    peers(call);
                    transfers.copy(call.stream(0L), transfers.flat(device, call.word(2), device, call.word(0),
                            call.word(4)), false);
                })
                .on(DriverEntry.cuMemcpyPeerAsync, call -> {
                    peers(call);
                    transfers.copy(call.stream(5), transfers.flat(device, call.word(2), device, call.word(0),
                            call.word(4)), false);
                })
                .on(DriverEntry.cuMemcpyBatchAsync, call -> batch(call, 8, 7))
                .on(DriverEntry.cuMemcpyBatchAsync_v2, call -> batch(call, 7, -1));
    }

    /** Between device addresses the entry need not wait; with host memory it does. */
    private void now(Call call, int targetType, int sourceType) {
        Stream stream = call.stream(0L);
        Transfers.Checked checked = transfers.flat(sourceType, call.word(1), targetType, call.word(0), call.word(2));
        transfers.copy(stream, checked, sourceType != MemoryType.DEVICE || targetType != MemoryType.DEVICE);
    }

    private void later(Call call, int targetType, int sourceType) {
        Stream stream = call.stream(3);
        transfers.copy(stream, transfers.flat(sourceType, call.word(1), targetType, call.word(0), call.word(2)),
                false);
    }

    private void peers(Call call) {
        call.context(1).check();
        call.context(3).check();
    }

    /** Every copy may run at any time among the others; in order is one of the ways. All are checked before one is made. */
    private void batch(Call call, int streamIndex, int failIndex) {
        Stream stream = call.stream(streamIndex);
        long count = call.word(3);
        DriverException.require(count > 0 && call.word(streamIndex) != 0, CudaError.INVALID_VALUE);
        Transfers.Checked[] copies = new Transfers.Checked[Math.toIntExact(count)];
        for (int i = 0; i < copies.length; i++) {
            try {
                copies[i] = transfers.flat(MemoryType.UNIFIED, HostMemory.getLong(call.pointer(1) + 8L * i),
                        MemoryType.UNIFIED, HostMemory.getLong(call.pointer(0) + 8L * i),
                        HostMemory.getLong(call.pointer(2) + 8L * i));
            } catch (DriverException e) {
                if (failIndex >= 0) {
                    call.offerLong(failIndex, i);
                }
                throw e;
            }
        }
        for (Transfers.Checked copy : copies) {
            transfers.copy(stream, copy, false);
        }
    }
}
