package io.tessera.software.driver.entry.memory;

import io.tessera.device.CudaEnums.AccessFlag;
import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.AccessDescription;
import io.tessera.software.driver.abi.StructLayouts.PoolProperties;
import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.context.Stream;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.graph.AllocationNodeMemory;
import io.tessera.software.driver.graph.MemoryAllocate;
import io.tessera.software.driver.graph.MemoryFree;
import io.tessera.software.driver.memory.AddressRange;
import io.tessera.software.driver.memory.Pool;
import io.tessera.software.driver.operation.Action;
import io.tessera.software.driver.work.Task;

/** Stream-ordered memory and its pools. */
public final class PoolEntries implements EntryGroup {
    private static final long FREE_AHEAD_MS = 10_000;

    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public PoolEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuMemAllocAsync, call -> allocate(call, state.currentPool(), 2))
                .on(DriverEntry.cuMemAllocFromPoolAsync, call -> allocate(call, call.object(2, Pool.class), 3))
                .on(DriverEntry.cuMemFreeAsync, this::free)
                .on(DriverEntry.cuDeviceGetDefaultMemPool, call -> {
                    call.device(1);
                    call.putLong(0, state.handles().of(state.defaultPool()));
                })
                .on(DriverEntry.cuDeviceGetMemPool, call -> {
                    call.device(1);
                    call.putLong(0, state.handles().of(state.currentPool()));
                })
                .on(DriverEntry.cuDeviceSetMemPool, call -> {
                    call.device(0);
                    state.setCurrentPool(call.object(1, Pool.class));
                })
                .on(DriverEntry.cuMemPoolCreate, this::create)
                .on(DriverEntry.cuMemPoolDestroy, this::destroy)
                .on(DriverEntry.cuMemPoolGetAttribute, this::attribute)
                .on(DriverEntry.cuMemPoolSetAttribute, this::setAttribute)
                .on(DriverEntry.cuMemPoolGetAccess, call -> {
                    call.object(1, Pool.class);
                    call.putInt(0, onDevice(call.pointer(2)) ? AccessFlag.READWRITE : AccessFlag.NONE);
                })
                .on(DriverEntry.cuMemPoolSetAccess, this::setAccess)
                // A pool keeps nothing beyond what is in use.
                .on(DriverEntry.cuMemPoolTrimTo, call -> call.object(0, Pool.class));
    }

    private static boolean onDevice(long location) {
        return HostMemory.getInt(location) == 1 && HostMemory.getInt(location + 4) == 0;
    }

    private void allocate(Call call, Pool pool, int streamIndex) {
        long out = call.pointer(0);
        long bytes = call.word(1);
        Stream stream = call.stream(streamIndex);
        Context context = state.contextOf(stream);
        if (stream.capture() != null) {
            AllocationNodeMemory memory = GraphMemoryNodes.allocate(state, bytes, context);
            stream.submit(new MemoryAllocate(memory));
            HostMemory.putLong(out, memory.allocation().address());
            return;
        }
        DriverException.require(bytes > 0, CudaError.INVALID_VALUE);
        pool.charge(bytes);
        try {
            AddressRange made = allocate(bytes, stream, context);
            made.setPool(state.handles().of(pool));
            HostMemory.putLong(out, made.address());
        } catch (DriverException e) {
            pool.discharge(bytes);
            throw e;
        }
    }

    /** Memory that the stream frees before this point has to serve, so an allocation waits for that if it must. */
    private AddressRange allocate(long bytes, Stream stream, Context context) {
        try {
            return state.allocate(bytes, AddressRange.Kind.DEVICE, context);
        } catch (DriverException e) {
            Task tail = stream.marker();
            if (tail == null || !tail.await(FREE_AHEAD_MS)) {
                throw e;
            }
            return state.allocate(bytes, AddressRange.Kind.DEVICE, context);
        }
    }

    private void free(Call call) {
        Stream stream = call.stream(1);
        long address = call.word(0);
        AllocationNodeMemory graph = state.graphMemory().get(address);
        if (stream.capture() != null) {
            DriverException.require(graph != null, CudaError.INVALID_VALUE);
            stream.submit(new MemoryFree(graph));
            return;
        }
        if (graph != null) {
            DriverException.require(graph.live(), CudaError.INVALID_VALUE);
            stream.submit(new Action(graph::free));
            return;
        }
        AddressRange allocation = state.memory().addresses().at(address);
        DriverException.require(allocation != null && allocation.kind() == AddressRange.Kind.DEVICE
                && allocation.claimRelease(), CudaError.INVALID_VALUE);
        stream.submit(new Action(() -> {
            if (allocation.pool() != 0) {
                ((Pool) state.handles().find(allocation.pool())).discharge(allocation.bytes());
            }
            state.memory().free(allocation);
        }));
    }

    private void create(Call call) {
        long out = call.pointer(0);
        long properties = call.pointer(1);
        DriverException.require(HostMemory.getInt(properties + PoolProperties.ALLOC_TYPE) == 1
                && onDevice(properties + PoolProperties.LOCATION), CudaError.INVALID_VALUE);
        DriverException.require(HostMemory.getInt(properties + PoolProperties.HANDLE_TYPES) == 0,
                CudaError.NOT_SUPPORTED);
        Pool pool = new Pool(HostMemory.getLong(properties + PoolProperties.MAX_SIZE));
        HostMemory.putLong(out, state.handles().of(pool));
    }

    /** The handle lives on, so that what was allocated from the pool can still be accounted for. */
    private void destroy(Call call) {
        Pool pool = call.object(0, Pool.class);
        DriverException.require(pool != state.defaultPool(), CudaError.INVALID_VALUE);
        if (pool == state.currentPool()) {
            state.setCurrentPool(state.defaultPool());
        }
        pool.destroy();
    }

    private void attribute(Call call) {
        Pool pool = call.object(0, Pool.class);
        long value = pool.get(call.number(1));
        if (Pool.isInt(call.number(1))) {
            call.putInt(2, (int) value);
        } else {
            call.putLong(2, value);
        }
    }

    private void setAttribute(Call call) {
        Pool pool = call.object(0, Pool.class);
        long place = call.pointer(2);
        pool.set(call.number(1), Pool.isInt(call.number(1)) ? HostMemory.getInt(place) : HostMemory.getLong(place));
    }

    /** The device itself always has access; there is no other. */
    private void setAccess(Call call) {
        call.object(0, Pool.class);
        for (long i = 0; i < call.word(2); i++) {
            long description = call.pointer(1) + i * AccessDescription.BYTES;
            DriverException.require(onDevice(description + AccessDescription.LOCATION), CudaError.INVALID_DEVICE);
            DriverException.require(HostMemory.getInt(description + AccessDescription.FLAGS) == AccessFlag.READWRITE,
                    CudaError.INVALID_VALUE);
        }
    }
}
