package io.tessera.executor.call.memory;

import io.tessera.device.CudaEnums.AccessFlag;
import io.tessera.device.CudaEnums.AllocationType;
import io.tessera.device.CudaEnums.LocationType;
import io.tessera.device.CudaLayouts.CUmemAccessDesc;
import io.tessera.device.CudaLayouts.CUmemLocation;
import io.tessera.device.CudaLayouts.CUmemPoolProps;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.HandleResults;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.handle.HandleTable;
import io.tessera.executor.pool.ClientPools;
import io.tessera.executor.pool.MemoryPool;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * Memory pools of a client: its own ones, and the device's default and current pool. All of them are the executor's, with memory in the tenant's window; the
 * driver does not know them. One owner thread.
 */
final class PoolCalls {
    private final ClientPools pools;
    private final HandleResults results;
    private final MemoryLocations locations;
    private MemoryPool standard;
    private long current;

    PoolCalls(ClientPools pools, HandleResults results, MemoryLocations locations) {
        this.pools = pools;
        this.results = results;
        this.locations = locations;
    }

    void register(CallTable calls) {
        calls.row(DriverApi.cuDeviceGetDefaultMemPool).withoutContext().executes(this::standard);
        calls.row(DriverApi.cuDeviceGetMemPool).withoutContext().executes(this::current);
        calls.row(DriverApi.cuDeviceSetMemPool).withoutContext().executes(this::setCurrent);
        calls.row(DriverApi.cuMemGetDefaultMemPool).withoutContext().executes(this::standardAt);
        calls.row(DriverApi.cuMemGetMemPool).withoutContext().executes(this::currentAt);
        calls.row(DriverApi.cuMemSetMemPool).executes(this::setCurrentAt);
        calls.row(DriverApi.cuMemPoolCreate).withoutContext().checks(frame -> locations.properties(frame, 1)).executes(this::create);
        calls.row(DriverApi.cuMemPoolDestroy).withoutContext().ends(HandleKind.POOL).executes(this::destroy);
        calls.row(DriverApi.cuMemPoolGetAttribute).withoutContext().executes(this::get);
        calls.row(DriverApi.cuMemPoolSetAttribute).withoutContext().executes(this::set);
        calls.row(DriverApi.cuMemPoolTrimTo).withoutContext().executes(this::trim);
        calls.row(DriverApi.cuMemPoolSetAccess).withoutContext().checks(frame -> locations.accesses(frame, 1, frame.slot(2)))
                .executes(this::setAccess);
        calls.row(DriverApi.cuMemPoolGetAccess).withoutContext().checks(frame -> locations.location(frame, 1)).executes(this::getAccess);
    }

    /** Parameters: pool, device. */
    private int standard(CallFrame frame, ClientContext context) throws RejectedException {
        open();
        frame.want(0, Long.BYTES);
        frame.data(0).set(WireTypes.U64, 0, standard.number());
        return CudaResult.SUCCESS;
    }

    /** Parameters: pool, device. */
    private int current(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        frame.data(0).set(WireTypes.U64, 0, current().number());
        return CudaResult.SUCCESS;
    }

    /** Parameters: device, pool. */
    private int setCurrent(CallFrame frame, ClientContext context) throws RejectedException {
        choose(frame.slot(1));
        return CudaResult.SUCCESS;
    }

    /** Parameters: pool, location, type of allocations. */
    private int standardAt(CallFrame frame, ClientContext context) throws RejectedException {
        requireDevice(frame.required(1), frame.slot(2));
        return standard(frame, context);
    }

    /** Parameters: pool, location, type of allocations. */
    private int currentAt(CallFrame frame, ClientContext context) throws RejectedException {
        requireDevice(frame.required(1), frame.slot(2));
        return current(frame, context);
    }

    /** Parameters: location, type of allocations, pool. */
    private int setCurrentAt(CallFrame frame, ClientContext context) throws RejectedException {
        requireDevice(frame.required(0), frame.slot(1));
        choose(frame.slot(2));
        return CudaResult.SUCCESS;
    }

    /** Chooses the current pool; 0 chooses the default pool again. */
    private void choose(long number) throws RejectedException {
        current = number == 0 ? 0 : pool(number).number();
    }

    private static void requireDevice(MemorySegment location, long type) throws RejectedException {
        if (location.get(WireTypes.U32, CUmemLocation.type) != LocationType.DEVICE || type != AllocationType.PINNED) {
            throw RejectedException.unsupported("a memory pool of the host or of another device");
        }
    }

    /** Parameters: pool, properties. */
    private int create(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment properties = frame.required(1);
        frame.want(0, Long.BYTES);
        long most = properties.get(WireTypes.U64, CUmemPoolProps.maxSize);
        if (properties.get(WireTypes.U32, CUmemPoolProps.allocType) != AllocationType.PINNED || most < 0) {
            throw CallFrame.malformed("a pool of allocations of type " + properties.get(WireTypes.U32, CUmemPoolProps.allocType));
        }
        frame.data(0).set(WireTypes.U64, 0, pools.create(most).number());
        return CudaResult.SUCCESS;
    }

    /** Parameters: pool. The default pools stay. */
    private int destroy(CallFrame frame, ClientContext context) throws RejectedException {
        MemoryPool pool = pool(frame.slot(0));
        if (pool == standard) {
            throw CallFrame.malformed("the default pool stays");
        }
        pools.destroy(pool);
        return CudaResult.SUCCESS;
    }

    /** Parameters: pool, attribute, value. */
    private int get(CallFrame frame, ClientContext context) throws RejectedException {
        MemoryPool pool = pool(frame.slot(0));
        int attribute = attribute(frame);
        MemorySegment value = frame.data(2);
        if (value == null || value.byteSize() < Long.BYTES) {
            throw CallFrame.malformed("no room for an attribute");
        }
        value.set(WireTypes.U64, 0, pool.attribute(attribute));
        return CudaResult.SUCCESS;
    }

    /** Parameters: pool, attribute, value. */
    private int set(CallFrame frame, ClientContext context) throws RejectedException {
        MemoryPool pool = pool(frame.slot(0));
        int attribute = attribute(frame);
        MemorySegment value = frame.required(2);
        boolean flag = MemoryPool.isFlag(attribute);
        if (frame.inBytes(2) < (flag ? Integer.BYTES : Long.BYTES)
                || !pool.attribute(attribute, flag ? value.get(WireTypes.U32, 0) : value.get(WireTypes.U64, 0))) {
            throw CallFrame.malformed("attribute " + attribute + " of a pool cannot be set so");
        }
        return CudaResult.SUCCESS;
    }

    private static int attribute(CallFrame frame) throws RejectedException {
        int attribute = (int) frame.slot(1);
        if (attribute < 1 || attribute > MemoryPool.LAST_ATTRIBUTE) {
            throw CallFrame.malformed("attribute " + attribute + " of a pool");
        }
        return attribute;
    }

    /** Parameters: pool, bytes to keep. */
    private int trim(CallFrame frame, ClientContext context) throws RejectedException {
        pools.trim(pool(frame.slot(0)), frame.slot(1));
        return CudaResult.SUCCESS;
    }

    /** Parameters: pool, access descriptions, count. The device can always read and write. */
    private int setAccess(CallFrame frame, ClientContext context) throws RejectedException {
        pool(frame.slot(0));
        for (long i = 0; i < frame.slot(2); i++) {
            if (frame.required(1).get(WireTypes.U32, i * CUmemAccessDesc.BYTES + CUmemAccessDesc.flags) != AccessFlag.READWRITE) {
                throw CallFrame.malformed("a device loses access to its own memory");
            }
        }
        return CudaResult.SUCCESS;
    }

    /** Parameters: flags, pool, location. */
    private int getAccess(CallFrame frame, ClientContext context) throws RejectedException {
        pool(frame.slot(1));
        frame.want(0, Integer.BYTES);
        frame.data(0).set(WireTypes.U32, 0, AccessFlag.READWRITE);
        return CudaResult.SUCCESS;
    }

    /** Returns the pool for allocations that name none. */
    MemoryPool current() throws RejectedException {
        open();
        MemoryPool chosen = current == 0 ? null : pools.pool(current);
        return chosen == null ? standard : chosen; // after the current pool was destroyed, the default one is current, as with the driver
    }

    /** Returns the pool that a call names, by the value behind the client's handle. */
    MemoryPool pool(long number) throws RejectedException {
        MemoryPool pool = pools.pool(number);
        if (pool == null) {
            throw CallFrame.malformed("no pool of the client");
        }
        return pool;
    }

    private void open() throws RejectedException {
        if (standard == null) {
            MemoryPool made = pools.create(0);
            if (results.translated(HandleKind.POOL, made.number(), 0, 0) == HandleTable.NONE) {
                throw RejectedException
                        .bound("this program has as many memory pools as there can be; destroy what is not needed any more (cudaMemPoolDestroy)");
            }
            standard = made;
        }
    }
}
