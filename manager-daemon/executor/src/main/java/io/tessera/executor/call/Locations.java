package io.tessera.executor.call;

import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * Places of memory in structures ({@code CUmemLocation}): the client's number of the device becomes the driver's. Stateless.
 */
final class Locations {
    private static final int TYPE_DEVICE = 1;
    private static final int ACCESS_BYTES = 12;

    private Locations() {
    }

    /** Translates what a call's structures say. */
    static void translate(CallFrame frame, int device) throws RejectedException {
        switch (frame.plan().api()) {
            case "cuMemCreate", "cuMemGetAllocationGranularity" -> {
                MemorySegment properties = frame.data(frame.plan().api().equals("cuMemCreate") ? 2 : 1);
                noSharing(properties);
                device(properties, 8, device);
            }
            case "cuMemPoolCreate" -> {
                noSharing(frame.data(1));
                device(frame.data(1), 8, device);
            }
            case "cuMemSetAccess" -> accesses(frame, 2, frame.slot(3), device);
            case "cuMemPoolSetAccess" -> accesses(frame, 1, frame.slot(2), device);
            case "cuMemGetAccess", "cuMemPoolGetAccess" -> device(frame.data(1), 0, device);
            default -> {
            }
        }
    }

    private static void accesses(CallFrame frame, int parameter, long count, int device) throws RejectedException {
        for (long i = 0; i < count; i++) {
            device(frame.required(parameter), i * ACCESS_BYTES, device);
        }
    }

    /** Type of handle for other processes, the second field of properties of allocations and pools. */
    private static void noSharing(MemorySegment properties) throws RejectedException {
        if (properties == null || properties.get(WireTypes.U32, 4) != 0) {
            throw RejectedException.unsupported("memory with a handle for other processes");
        }
    }

    private static void device(MemorySegment location, long at, int device) throws RejectedException {
        if (location == null || location.get(WireTypes.U32, at) != TYPE_DEVICE) {
            throw RejectedException.unsupported("memory of the host in allocations that are mapped by hand, and in pools,");
        }
        location.set(WireTypes.U32, at + 4, device);
    }
}
