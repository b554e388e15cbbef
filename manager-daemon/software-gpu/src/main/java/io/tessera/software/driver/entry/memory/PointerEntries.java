package io.tessera.software.driver.entry.memory;

import io.tessera.device.CudaEnums.AccessFlag;
import io.tessera.device.CudaEnums.DeviceNumber;
import io.tessera.device.CudaEnums.PointerAttribute;
import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.device.MemoryType;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.memory.AddressRange;

/** Queries of pointers. */
public final class PointerEntries implements EntryGroup {
    private final DriverState state;

    /** Creates an instance over a driver's state. */
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

    /** Returns the attributes of a pointer. For an unknown pointer every attribute is zero, and the entry succeeds. */
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
            case PointerAttribute.CONTEXT -> HostMemory.putLong(place, mapped ? 0 : allocation.context());
            case PointerAttribute.MEMORY_TYPE -> HostMemory.putInt(place, allocation.host() ? MemoryType.HOST : MemoryType.DEVICE);
            case PointerAttribute.DEVICE_POINTER -> HostMemory.putLong(place, address);
            case PointerAttribute.HOST_POINTER -> {
                DriverException.require(allocation.host(), CudaError.INVALID_VALUE);
                HostMemory.putLong(place, address);
            }
            case PointerAttribute.SYNC_MEMOPS -> HostMemory.putByte(place, (byte) (allocation.synchronous() ? 1 : 0));
            case PointerAttribute.BUFFER_ID -> HostMemory.putLong(place, allocation.id());
            case PointerAttribute.IS_MANAGED, PointerAttribute.IS_LEGACY_CUDA_IPC_CAPABLE, PointerAttribute.IS_GPU_DIRECT_RDMA_CAPABLE,
                    PointerAttribute.IS_HW_DECOMPRESS_CAPABLE ->
                HostMemory.putByte(place, (byte) 0);
            case PointerAttribute.DEVICE_ORDINAL -> HostMemory.putInt(place, 0);
            case PointerAttribute.RANGE_START_ADDR, PointerAttribute.MAPPING_BASE_ADDR -> HostMemory.putLong(place, allocation.address());
            case PointerAttribute.RANGE_SIZE, PointerAttribute.MAPPING_SIZE -> HostMemory.putLong(place, allocation.bytes());
            case PointerAttribute.MAPPED -> HostMemory.putByte(place, (byte) 1);
            case PointerAttribute.ALLOWED_HANDLE_TYPES -> HostMemory.putLong(place, 0);
            case PointerAttribute.ACCESS_FLAGS -> HostMemory.putInt(place, mapped ? state.virtual().access(address) : AccessFlag.READWRITE);
            case PointerAttribute.MEMPOOL_HANDLE -> HostMemory.putLong(place, allocation.pool());
            case PointerAttribute.MEMORY_BLOCK_ID -> HostMemory.putLong(place, allocation.backing() == null ? allocation.id()
                    : allocation.backing().handle());
            default -> {
                return false;
            }
        }
        return true;
    }

    private static boolean clear(long place, int kind) {
        switch (kind) {
            case PointerAttribute.MEMORY_TYPE, PointerAttribute.ACCESS_FLAGS -> HostMemory.putInt(place, 0);
            case PointerAttribute.DEVICE_ORDINAL -> HostMemory.putInt(place, DeviceNumber.INVALID);
            case PointerAttribute.SYNC_MEMOPS, PointerAttribute.IS_MANAGED, PointerAttribute.IS_LEGACY_CUDA_IPC_CAPABLE, PointerAttribute.MAPPED,
                    PointerAttribute.IS_GPU_DIRECT_RDMA_CAPABLE, PointerAttribute.IS_HW_DECOMPRESS_CAPABLE ->
                HostMemory.putByte(place, (byte) 0);
            case PointerAttribute.CONTEXT, PointerAttribute.DEVICE_POINTER, PointerAttribute.HOST_POINTER, PointerAttribute.BUFFER_ID,
                    PointerAttribute.RANGE_START_ADDR, PointerAttribute.RANGE_SIZE, PointerAttribute.ALLOWED_HANDLE_TYPES,
                    PointerAttribute.MEMPOOL_HANDLE, PointerAttribute.MAPPING_SIZE, PointerAttribute.MAPPING_BASE_ADDR,
                    PointerAttribute.MEMORY_BLOCK_ID ->
                HostMemory.putLong(place, 0);
            default -> {
                return false;
            }
        }
        return true;
    }

    private void setAttribute(Call call) {
        Context context = call.context();
        AddressRange allocation = find(call.word(2));
        DriverException.require(allocation != null && call.number(1) == PointerAttribute.SYNC_MEMOPS && context != null,
                CudaError.INVALID_VALUE);
        allocation.setSynchronous(HostMemory.getByte(call.pointer(0)) != 0);
    }
}
