package io.tessera.executor.call;

import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * The device's default and current memory pools, which every client has its own of: what one client releases, trims or sets
 * must not be another's. One owner thread.
 */
final class PoolCalls {
    private static final int PROPERTIES_BYTES = 88;
    private static final int TYPE_PINNED = 1;
    private static final int LOCATION_DEVICE = 1;

    private final ClientState client;
    private final HandleResults results;
    private long standard;
    private long current;

    PoolCalls(ClientState client, HandleResults results) {
        this.client = client;
        this.results = results;
    }

    /** Parameters: pool, device. */
    int standard(CallFrame frame, ClientContext context) throws RejectedException {
        int result = open(frame);
        frame.want(0, Long.BYTES);
        frame.data(0).set(WireTypes.U64, 0, standard);
        return result;
    }

    /** Parameters: pool, device. */
    int current(CallFrame frame, ClientContext context) throws RejectedException {
        int result = open(frame);
        frame.want(0, Long.BYTES);
        frame.data(0).set(WireTypes.U64, 0, pool());
        return result;
    }

    /** Parameters: device, pool. */
    int setCurrent(CallFrame frame, ClientContext context) {
        current = frame.slot(1);
        return CudaResult.SUCCESS;
    }

    /** Parameters: pool, location, type of allocations. */
    int standardAt(CallFrame frame, ClientContext context) throws RejectedException {
        requireDevice(frame.required(1), frame.slot(2));
        return standard(frame, context);
    }

    /** Parameters: pool, location, type of allocations. */
    int currentAt(CallFrame frame, ClientContext context) throws RejectedException {
        requireDevice(frame.required(1), frame.slot(2));
        return current(frame, context);
    }

    /** Parameters: location, type of allocations, pool. */
    int setCurrentAt(CallFrame frame, ClientContext context) throws RejectedException {
        requireDevice(frame.required(0), frame.slot(1));
        current = frame.slot(2);
        return CudaResult.SUCCESS;
    }

    private static void requireDevice(MemorySegment location, long type) throws RejectedException {
        if (location.get(WireTypes.U32, 0) != LOCATION_DEVICE || type != TYPE_PINNED) {
            throw new RejectedException(CudaResult.NOT_SUPPORTED, "pools of memory that is not the device's");
        }
    }

    /** Parameters: address, bytes, stream. */
    int allocate(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        int result = open(frame);
        if (result == CudaResult.NOT_SUPPORTED) {
            return client.driver().call(frame.plan().entry(), frame.slots());
        }
        return result != CudaResult.SUCCESS ? result
                : client.driver().call(DriverEntry.cuMemAllocFromPoolAsync, frame.slot(0), frame.slot(1), pool(),
                        frame.slot(2));
    }

    /** The current pool, unless it was destroyed: then the default one, as with the driver. */
    private long pool() {
        boolean alive = current != 0 && client.handles().ofContext(HandleKind.POOL, -1).stream()
                .anyMatch(handle -> client.handles().value(HandleKind.POOL, handle) == current);
        return alive ? current : standard;
    }

    private int open(CallFrame frame) throws RejectedException {
        if (standard != 0) {
            return CudaResult.SUCCESS;
        }
        MemorySegment properties = frame.room(PROPERTIES_BYTES);
        properties.set(WireTypes.U32, 0, TYPE_PINNED);
        properties.set(WireTypes.U32, 8, LOCATION_DEVICE);
        properties.set(WireTypes.U32, 12, client.device().device());
        DriverCalls driver = client.driver();
        int result = driver.call(DriverEntry.cuMemPoolCreate, driver.out(0), properties.address());
        if (result == CudaResult.SUCCESS) {
            standard = driver.outLong(0);
            if (results.translated(HandleKind.POOL, standard, 0, 0) == HandleTable.NONE) {
                return CudaResult.OUT_OF_MEMORY;
            }
        }
        return result;
    }
}
