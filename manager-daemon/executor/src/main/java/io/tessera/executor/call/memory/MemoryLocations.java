package io.tessera.executor.call.memory;

import io.tessera.device.CudaEnums.LocationType;
import io.tessera.device.CudaLayouts.CUmemAccessDesc;
import io.tessera.device.CudaLayouts.CUmemLocation;
import io.tessera.device.CudaLayouts.CUmemPoolProps;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/** Locations of memory in structures ({@code CUmemLocation}): translates the client's number of the device to the driver's. One owner thread. */
final class MemoryLocations {
    private final DeviceContext device;

    MemoryLocations(DeviceContext device) {
        this.device = device;
    }

    /**
     * Checks properties of allocations and pools, whose second field is the type of their handle for other processes.
     *
     * @throws RejectedException if they ask for such a handle, or for host memory
     */
    void properties(CallFrame frame, int parameter) throws RejectedException {
        MemorySegment properties = frame.data(parameter);
        if (properties == null || properties.get(WireTypes.U32, CUmemPoolProps.handleTypes) != 0) {
            throw RejectedException.unsupported("memory with a handle for other processes");
        }
        device(properties, CUmemPoolProps.location);
    }

    /** Checks access descriptions. Errors as {@link #location}. */
    void accesses(CallFrame frame, int parameter, long count) throws RejectedException {
        for (long i = 0; i < count; i++) {
            device(frame.required(parameter), i * CUmemAccessDesc.BYTES);
        }
    }

    /**
     * Checks a location.
     *
     * @throws RejectedException if it is the host's
     */
    void location(CallFrame frame, int parameter) throws RejectedException {
        device(frame.data(parameter), 0);
    }

    private void device(MemorySegment location, long at) throws RejectedException {
        if (location == null || location.get(WireTypes.U32, at + CUmemLocation.type) != LocationType.DEVICE) {
            throw RejectedException.unsupported("memory of the host in allocations that are mapped by hand, and in pools,");
        }
        location.set(WireTypes.U32, at + CUmemLocation.id, device.device());
    }
}
