package io.tessera.executor.query;

import io.tessera.device.CudaEnums.HostAllocFlag;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.call.ClientAllocations;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.memory.MemoryRange.Origin;
import io.tessera.executor.memory.PinnedMemory;
import io.tessera.executor.memory.TenantMemory;
import io.tessera.executor.print.ClientPrinting;
import io.tessera.executor.window.ClientWindow;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.QueryKind;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;

/** Answers queries of one client. One owner thread. */
public final class QueryExecutor {
    private static final long PORTABLE_AND_MAPPED = HostAllocFlag.PORTABLE | HostAllocFlag.DEVICEMAP;

    private final DriverCalls driver;
    private final ClientHandles handles;
    private final ClientMemory memory;
    private final ClientCharge charge;
    private final ClientWindow window;
    private final PinnedMemory pinned;
    private final FunctionQuery functions;
    private final Set<Long> registered = new HashSet<>();
    /** Memory that the client has unpinned, while its graphs may use it. */
    private final Set<Long> held = new HashSet<>();
    private int bytes;

    /** Creates an instance for one client. */
    public QueryExecutor(ClientExecution execution, ClientAllocations allocations, PinnedMemory pinned, ClientPrinting printing) {
        this.driver = execution.driver();
        this.handles = execution.handles();
        this.memory = allocations.memory();
        this.charge = allocations.charge();
        this.window = allocations.window();
        this.pinned = pinned;
        this.functions = new FunctionQuery(execution, printing);
    }

    /**
     * Answers a query.
     *
     * @param answer destination of the output data; its length is {@link #bytes}
     * @return the CUresult
     * @throws RejectedException if the record is not one that a client may send
     */
    public int query(MemorySegment record, int length, MemorySegment answer) throws RejectedException {
        bytes = 0;
        QueryKind kind = QueryKind.ofCode(RecordHeader.entry(record)).orElse(null);
        if (kind == null || length < RecordHeader.BYTES + Long.BYTES) {
            throw new RejectedException(CudaResult.INVALID_VALUE, "query " + RecordHeader.entry(record));
        }
        long about = record.get(WireTypes.U64, RecordHeader.BYTES);
        return switch (kind) {
            case FUNCTION -> {
                int result = functions.query(about, RecordHeader.context(record), answer);
                bytes = functions.bytes();
                yield result;
            }
            case PINNED -> pin(about, answer);
            case UNPIN -> unpin(about);
            case MEMORY -> memory(answer);
        };
    }

    /** Returns the bytes of out-data of the last query. */
    public int bytes() {
        return bytes;
    }

    private int pin(long id, MemorySegment answer) {
        PinnedMemory.Region region = pinned.region(id);
        if (region == null || registered.contains(id)) {
            return CudaResult.INVALID_VALUE;
        }
        int result = window.openHost(region.address(), region.roundedBytes(), () -> register(region));
        if (result != CudaResult.SUCCESS) {
            return result;
        }
        registered.add(id);
        memory.add(new MemoryRange(region.address(), region.bytes(), Origin.PINNED, 0, 0, 0));
        result = driver.call(DriverEntry.cuMemHostGetDevicePointer_v2, driver.out(0), region.address(), 0);
        answer.set(WireTypes.U64, 0, driver.outLong(0));
        bytes = Long.BYTES;
        return result;
    }

    private int register(PinnedMemory.Region region) {
        if (!pinned.map(region)) {
            return CudaResult.OUT_OF_MEMORY;
        }
        int result = driver.call(DriverEntry.cuMemHostRegister_v2, region.address(), region.roundedBytes(),
                PORTABLE_AND_MAPPED);
        if (result != CudaResult.SUCCESS) {
            pinned.unmap(region);
        }
        return result;
    }

    private int unpin(long id) {
        PinnedMemory.Region region = pinned.region(id);
        if (region == null || held.contains(id)) {
            return CudaResult.INVALID_VALUE;
        }
        held.add(id);
        int result = handles.deferredReleases().end(Set.of(region.address()), () -> unpin(id, region));
        if (result != CudaResult.SUCCESS) {
            held.remove(id);
        } else if (held.contains(id)) {
            memory.beginningAt(region.address()).ifPresent(memory::remove);
        }
        return result;
    }

    private int unpin(long id, PinnedMemory.Region region) {
        held.remove(id);
        if (registered.contains(id)) {
            int result = window.closeHost(region.address(), region.roundedBytes(), () -> {
                int done = driver.call(DriverEntry.cuMemHostUnregister, region.address());
                if (done == CudaResult.SUCCESS) {
                    pinned.unmap(region);
                }
                return done;
            });
            if (result != CudaResult.SUCCESS) {
                return result;
            }
            registered.remove(id);
            memory.beginningAt(region.address()).ifPresent(memory::remove);
        }
        pinned.remove(id);
        return CudaResult.SUCCESS;
    }

    private int memory(MemorySegment answer) {
        int result = driver.call(DriverEntry.cuMemGetInfo_v2, driver.out(0), driver.out(1));
        long free = driver.outLong(0);
        long total = driver.outLong(1);
        // Unused memory of the window is free only for this tenant. Other tenants' memory counts because it would leave the device.
        free = Math.min(total, free + window.reclaimableBytes() + window.othersBytes());
        TenantMemory tenant = charge.tenant();
        if (tenant.limitBytes() != 0) {
            total = Math.min(total, tenant.limitBytes());
            free = Math.min(free, Math.max(0, tenant.limitBytes() - tenant.usedBytes()));
        }
        answer.set(WireTypes.U64, 0, free);
        answer.set(WireTypes.U64, 8, total);
        answer.set(WireTypes.U64, 16, charge.usedBytes());
        bytes = (int) RelayLayout.MEMORY_INFO.byteSize();
        return result;
    }

    /**
     * Unregisters all pinned memory from the device, once no work of the client uses it.
     *
     * @return false if the tenant's other work did not pause; then the memory stays until the executor ends
     */
    public boolean unpinAll() {
        if (registered.isEmpty()) {
            return true;
        }
        int result = window.isBacked() ? window.whenQuiet(this::unpinEach) : unpinEach();
        if (result != CudaResult.SUCCESS) {
            window.leaveBehind();
        }
        return result == CudaResult.SUCCESS;
    }

    private int unpinEach() {
        int first = CudaResult.SUCCESS;
        for (long id : Set.copyOf(registered)) {
            int result = unpin(id, pinned.region(id));
            first = first == CudaResult.SUCCESS ? result : first;
        }
        return first;
    }
}
