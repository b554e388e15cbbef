package io.tessera.software.driver.entry.memory;

import io.tessera.device.CudaEnums.AllocationType;
import io.tessera.device.CudaEnums.LocationType;
import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.AccessDescription;
import io.tessera.software.driver.abi.StructLayouts.AllocationProperties;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.memory.PhysicalMemory;
import io.tessera.software.memory.DeviceMemory;

/** The program's own virtual memory. Nothing of it can leave the process: exports are refused. */
public final class VirtualMemoryEntries implements EntryGroup {
    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public VirtualMemoryEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuMemAddressReserve, call -> {
            long out = call.pointer(0);
            call.context();
            DriverException.require(call.word(4) == 0, CudaError.INVALID_VALUE);
            HostMemory.putLong(out, state.virtual().reserve(call.word(1), call.word(2), call.word(3)));
        }).on(DriverEntry.cuMemAddressFree, call -> state.virtual().release(call.word(0), call.word(1)))
                .on(DriverEntry.cuMemGetAllocationGranularity, call -> {
                    properties(call.pointer(1));
                    DriverException.require(call.number(2) == 0 || call.number(2) == 1, CudaError.INVALID_VALUE);
                    call.putLong(0, DeviceMemory.PHYSICAL_GRANULARITY);
                })
                .on(DriverEntry.cuMemCreate, this::create)
                .on(DriverEntry.cuMemRelease, call -> {
                    PhysicalMemory physical = physical(call.word(0));
                    if (state.virtual().drop(physical)) {
                        state.handles().remove(physical);
                    }
                })
                .on(DriverEntry.cuMemRetainAllocationHandle, call -> {
                    long out = call.pointer(0);
                    HostMemory.putLong(out, state.handles().of(state.virtual().retainAt(call.word(1))));
                })
                .on(DriverEntry.cuMemGetAllocationPropertiesFromHandle, call -> {
                    byte[] properties = physical(call.word(1)).properties();
                    HostMemory.put(call.pointer(0), properties, properties.length);
                })
                .on(DriverEntry.cuMemMap, call -> {
                    DriverException.require(call.word(4) == 0, CudaError.INVALID_VALUE);
                    state.virtual().map(call.word(0), call.word(1), call.word(2), physical(call.word(3)));
                })
                .on(DriverEntry.cuMemUnmap, this::unmap)
                .on(DriverEntry.cuMemSetAccess, this::setAccess)
                .on(DriverEntry.cuMemGetAccess, call -> {
                    DriverException.require(onDevice(call.pointer(1)), CudaError.INVALID_VALUE);
                    call.putLong(0, state.virtual().access(call.word(2)));
                });
    }

    private PhysicalMemory physical(long handle) {
        return state.handles().get(handle, PhysicalMemory.class, CudaError.INVALID_VALUE);
    }

    private static boolean onDevice(long location) {
        return HostMemory.getInt(location) == LocationType.DEVICE && HostMemory.getInt(location + 4) == 0;
    }

    /** Reads CUmemAllocationProp; memory of the host, and handles for other processes, are not available. */
    private static byte[] properties(long place) {
        DriverException.require(HostMemory.getInt(place + AllocationProperties.TYPE) == AllocationType.PINNED,
                CudaError.INVALID_VALUE);
        int location = HostMemory.getInt(place + AllocationProperties.LOCATION);
        if (location == DriverPort.SINK_LOCATION) {
            return HostMemory.get(place, AllocationProperties.BYTES);
        }
        DriverException.require(location >= LocationType.DEVICE && location <= LocationType.HOST_NUMA_CURRENT, CudaError.INVALID_VALUE);
        DriverException.require(location == LocationType.DEVICE
                && HostMemory.getInt(place + AllocationProperties.HANDLE_TYPES) == 0, CudaError.NOT_SUPPORTED);
        DriverException.require(onDevice(place + AllocationProperties.LOCATION), CudaError.INVALID_DEVICE);
        return HostMemory.get(place, AllocationProperties.BYTES);
    }

    private void create(Call call) {
        long out = call.pointer(0);
        DriverException.require(call.word(3) == 0, CudaError.INVALID_VALUE);
        byte[] properties = properties(call.pointer(2));
        boolean sink = HostMemory.getInt(call.pointer(2) + AllocationProperties.LOCATION) == DriverPort.SINK_LOCATION;
        HostMemory.putLong(out, state.handles().of(sink ? state.virtual().createSink(call.word(1), properties)
                : state.virtual().create(call.word(1), properties)));
    }

    /** Unmaps memory without a wait, as the NVIDIA driver does: if a kernel still uses the memory, that is the program's error. */
    private void unmap(Call call) {
        DriverException.require(state.current() != null, CudaError.INVALID_CONTEXT);
        state.virtual().unmap(call.word(0), call.word(1));
    }

    private void setAccess(Call call) {
        long descriptions = call.pointer(2);
        DriverException.require(call.word(3) > 0, CudaError.INVALID_VALUE);
        for (long i = 0; i < call.word(3); i++) {
            long at = descriptions + i * AccessDescription.BYTES;
            DriverException.require(onDevice(at + AccessDescription.LOCATION), CudaError.INVALID_DEVICE);
            state.virtual().setAccess(call.word(0), call.word(1), HostMemory.getInt(at + AccessDescription.FLAGS));
        }
    }
}
