package io.tessera.software.driver.entry.memory;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.memory.AddressRange;

/** What is known of a pointer. */
public final class PointerEntries implements EntryGroup {
    private static final int HOST_TYPE = 1;
    private static final int DEVICE_TYPE = 2;
    private static final int ALL_ACCESS = 3;
    /** CU_DEVICE_INVALID. */
    private static final int NO_DEVICE = -2;

    private final DriverState state;

    /** Over a driver's state. */
    public PointerEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuPointerGetAttribute, this::attribute)
                .on(DriverEntry.cuPointerGetAttributes, this::attributes)
                .on(DriverEntry.cuPointerSetAttribute, this::setAttribute);
    }

    private AddressRange find(long address) {
        AddressRange found = state.memory().addresses().containing(address);
        return found != null && found.kind() == AddressRange.Kind.ARRAY ? null : found;
    }

    private void attribute(Call call) {
        call.context();
        AddressRange allocation = find(call.word(2));
        DriverException.require(allocation != null, CudaError.INVALID_VALUE);
        DriverException.require(write(call.pointer(0), call.number(1), allocation, call.word(2)),
                CudaError.INVALID_VALUE);
    }

    /** For a pointer that nobody knows every attribute is zero, and the entry succeeds. */
    private void attributes(Call call) {
        call.context();
        int count = call.number(0);
        DriverException.require(count >= 0, CudaError.INVALID_VALUE);
        long kinds = call.pointer(1);
        long places = call.pointer(2);
        AddressRange allocation = find(call.word(3));
        for (int i = 0; i < count; i++) {
            int kind = HostMemory.getInt(kinds + 4L * i);
            long place = HostMemory.getLong(places + 8L * i);
            boolean known = allocation != null ? write(place, kind, allocation, call.word(3)) : clear(place, kind);
            DriverException.require(known, CudaError.INVALID_VALUE);
        }
    }

    /** Writes an attribute (CUpointer_attribute); false if there is none with this number. */
    private boolean write(long place, int kind, AddressRange allocation, long address) {
        boolean mapped = allocation.kind() == AddressRange.Kind.MAPPED;
        switch (kind) {
            case 1 -> HostMemory.putLong(place, mapped ? 0 : allocation.context());
            case 2 -> HostMemory.putInt(place, allocation.host() ? HOST_TYPE : DEVICE_TYPE);
            case 3 -> HostMemory.putLong(place, address);
            case 4 -> {
                DriverException.require(allocation.host(), CudaError.INVALID_VALUE);
                HostMemory.putLong(place, address);
            }
            case 6 -> HostMemory.putByte(place, (byte) (allocation.synchronous() ? 1 : 0));
            case 7 -> HostMemory.putLong(place, allocation.id());
            case 8, 10, 15, 21 -> HostMemory.putByte(place, (byte) 0);
            case 9 -> HostMemory.putInt(place, 0);
            case 11, 19 -> HostMemory.putLong(place, allocation.address());
            case 12, 18 -> HostMemory.putLong(place, allocation.bytes());
            case 13 -> HostMemory.putByte(place, (byte) 1);
            case 14 -> HostMemory.putLong(place, 0);
            case 16 -> HostMemory.putInt(place, mapped ? state.virtual().access(address) : ALL_ACCESS);
            case 17 -> HostMemory.putLong(place, allocation.pool());
            case 20 -> HostMemory.putLong(place, allocation.backing() == null ? allocation.id()
                    : allocation.backing().handle());
            default -> {
                return false;
            }
        }
        return true;
    }

    private static boolean clear(long place, int kind) {
        switch (kind) {
            case 2, 16 -> HostMemory.putInt(place, 0);
            case 9 -> HostMemory.putInt(place, NO_DEVICE);
            case 6, 8, 10, 13, 15, 21 -> HostMemory.putByte(place, (byte) 0);
            case 1, 3, 4, 7, 11, 12, 14, 17, 18, 19, 20 -> HostMemory.putLong(place, 0);
            default -> {
                return false;
            }
        }
        return true;
    }

    private void setAttribute(Call call) {
        Context context = call.context();
        AddressRange allocation = find(call.word(2));
        DriverException.require(allocation != null && call.number(1) == 6 && context != null,
                CudaError.INVALID_VALUE);
        allocation.setSynchronous(HostMemory.getByte(call.pointer(0)) != 0);
    }
}
