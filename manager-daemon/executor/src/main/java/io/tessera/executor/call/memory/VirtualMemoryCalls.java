package io.tessera.executor.call.memory;

import io.tessera.device.CudaEnums.AccessFlag;
import io.tessera.device.CudaLayouts.CUmemAccessDesc;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.DriverEntry;
import io.tessera.device.HandleKind;
import io.tessera.executor.call.AddressRule;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallRow;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.HandleResults;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.call.memory.VirtualMemory.Made;
import io.tessera.executor.call.memory.VirtualMemory.Mapping;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.memory.MemoryRange.Origin;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.window.ClientWindow;
import io.tessera.protocol.WireTypes;
import java.util.List;

/**
 * The program's own virtual memory, inside its tenant's window: addresses come from the window's heap, memory comes from the driver and is zeroed before any
 * kernel can reach it. Mappings are always readable and writable for the device, because a fenced kernel may access any address of the window. Calls that name
 * a mapping without the program's own access permission are refused. One owner thread.
 */
final class VirtualMemoryCalls {
    private static final long GRANULE = 2L << 20;

    private final DriverCalls driver;
    private final ClientMemory memory;
    private final ClientWindow window;
    private final MemoryLocations locations;
    private final AllocationCharge charge;
    private final VirtualMemory virtual = new VirtualMemory();

    VirtualMemoryCalls(DriverCalls driver, ClientMemory memory, ClientWindow window, MemoryLocations locations, AllocationCharge charge,
            HandleResults results) {
        this.driver = driver;
        this.memory = memory;
        this.window = window;
        this.locations = locations;
        this.charge = charge;
        results.whenEnded(HandleKind.ALLOCATION, (clientHandle, _) -> released(clientHandle));
    }

    void register(CallTable calls) {
        row(calls, DriverApi.cuMemAddressReserve).makesMemory().executes(this::reserve);
        row(calls, DriverApi.cuMemAddressFree).executes(this::release);
        calls.row(DriverApi.cuMemCreate).withoutContext().checks(frame -> locations.properties(frame, 2))
                .prepares(frame -> charge.take(frame.slot(1)))
                .executes(this::create).completes(this::created)
                .records(frame -> virtual.created(frame.data(0).get(WireTypes.U64, 0), charge.taken()));
        calls.row(DriverApi.cuMemRelease).withoutContext().ends(HandleKind.ALLOCATION);
        calls.row(DriverApi.cuMemRetainAllocationHandle).withoutContext().records(this::retained);
        row(calls, DriverApi.cuMemMap).makesMemory().executes(this::map);
        row(calls, DriverApi.cuMemUnmap).executes(this::unmap);
        row(calls, DriverApi.cuMemSetAccess).checks(frame -> locations.accesses(frame, 2, frame.slot(3))).executes(this::setAccess);
        row(calls, DriverApi.cuMemGetAccess).checks(frame -> locations.location(frame, 1)).executes(this::getAccess);
        calls.row(DriverApi.cuMemGetAllocationGranularity).withoutContext().checks(frame -> locations.properties(frame, 1));
        calls.plainWithoutContext(DriverApi.cuMemGetAllocationPropertiesFromHandle);
    }

    /** Returns the row of a call whose addresses are those of reservations and mappings, not of memory that work may access. */
    private static CallRow row(CallTable calls, DriverApi api) {
        return calls.row(api).withoutContext().spans(AddressRule.IN_CALL);
    }

    private static void requireGranular(long address, long bytes) throws RejectedException {
        if (bytes <= 0 || bytes % GRANULE != 0 || address % GRANULE != 0) {
            throw CallFrame.malformed("addresses that are not whole pages");
        }
    }

    /** Parameters: address, bytes, alignment, wished address, flags. */
    private int reserve(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        long bytes = frame.slot(1);
        long alignment = frame.slot(2);
        requireGranular(0, bytes);
        if (alignment < 0 || Long.bitCount(alignment) > 1 || frame.slot(4) != 0) {
            throw CallFrame.malformed("a reservation aligned to " + alignment);
        }
        long address = window.reserve(bytes, Math.max(1, alignment), frame.slot(3));
        if (address == 0) {
            return CudaResult.OUT_OF_MEMORY;
        }
        frame.data(0).set(WireTypes.U64, 0, address);
        memory.add(new MemoryRange(address, bytes, Origin.RESERVED, 0, 0, 0));
        return CudaResult.SUCCESS;
    }

    /** Parameters: address, bytes. */
    private int release(CallFrame frame, ClientContext context) throws RejectedException {
        long address = frame.slot(0);
        long bytes = frame.slot(1);
        MemoryRange range = memory.reservation(address, bytes).orElse(null);
        if (range == null || range.address() != address || range.bytes() != bytes
                || !memory.mappedIn(address, bytes).isEmpty()) {
            throw CallFrame.malformed("no reservation of the client, or something is mapped there");
        }
        window.release(address);
        memory.remove(range);
        return CudaResult.SUCCESS;
    }

    /** Parameters: handle, bytes, properties, flags. */
    private int create(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        requireGranular(0, frame.slot(1));
        if (!window.charge(frame.slot(1))) {
            return CudaResult.OUT_OF_MEMORY;
        }
        int result = window.attempt(() -> driver.call(frame.entry(), frame.slots()));
        if (result == CudaResult.SUCCESS) {
            long handle = frame.data(0).get(WireTypes.U64, 0);
            if (!window.zero(handle, frame.slot(1))) {
                driver.call(DriverEntry.cuMemRelease, handle);
                result = CudaResult.OUT_OF_MEMORY;
            }
        }
        if (result != CudaResult.SUCCESS) {
            window.discharge(frame.slot(1));
        }
        return result;
    }

    private void created(CallFrame frame, int result) {
        if (result != CudaResult.SUCCESS) {
            charge.giveBack();
        }
    }

    /** Parameters: handle, address. */
    private void retained(CallFrame frame) {
        if (frame.data(0) != null) {
            virtual.retained(frame.data(0).get(WireTypes.U64, 0), frame.slot(1));
        }
    }

    /** Called when the last reference to an allocation handle was released. */
    private void released(long clientHandle) {
        long bytes = virtual.released(clientHandle);
        if (bytes != 0) {
            charge.giveBack(bytes);
            window.discharge(bytes);
        }
    }

    /** Parameters: address, bytes, offset, handle, flags. Only whole memory can be mapped, as with the driver. */
    private int map(CallFrame frame, ClientContext context) throws RejectedException {
        long address = frame.slot(0);
        long bytes = frame.slot(1);
        requireGranular(address, bytes);
        Made made = virtual.made(frame.argument(3));
        if (made == null || frame.slot(4) != 0 || memory.reservation(address, bytes).isEmpty()) {
            throw CallFrame.malformed("no memory, or an address range that the client has not reserved");
        }
        if (frame.slot(2) != 0 || bytes != made.bytes) {
            throw new RejectedException(CudaResult.NOT_SUPPORTED, "a part of memory cannot be mapped");
        }
        int result = window.map(address, bytes, frame.slot(3));
        if (result == CudaResult.SUCCESS) {
            virtual.mapped(address, made);
            memory.add(new MemoryRange(address, bytes, Origin.SHUT, 0, 0, 0));
        }
        return result;
    }

    /** Parameters: address, bytes. */
    private int unmap(CallFrame frame, ClientContext context) throws RejectedException {
        return unmap(whole(frame.slot(0), frame.slot(1)));
    }

    /** Unmaps adjacent mappings. Returns a CUresult. */
    int unmap(List<MemoryRange> gone) {
        MemoryRange first = gone.getFirst();
        int result = window.unmap(first.address(), gone.getLast().end() - first.address());
        if (result == CudaResult.SUCCESS) {
            gone.forEach(this::forget);
        }
        return result;
    }

    private void forget(MemoryRange range) {
        memory.remove(range);
        long bytes = virtual.unmapped(range.address());
        if (bytes != 0) {
            charge.giveBack(bytes);
            window.discharge(bytes);
        }
    }

    /** Returns the mappings that make up a range. */
    private List<MemoryRange> whole(long address, long bytes) throws RejectedException {
        requireGranular(address, bytes);
        List<MemoryRange> there = memory.mappedIn(address, bytes);
        long covered = there.stream().mapToLong(MemoryRange::bytes).sum();
        if (covered != bytes) {
            throw CallFrame.malformed("not just whole mappings of the client");
        }
        return there;
    }

    /** Parameters: address, bytes, access descriptions, their number. */
    private int setAccess(CallFrame frame, ClientContext context) throws RejectedException {
        List<MemoryRange> there = whole(frame.slot(0), frame.slot(1));
        for (long i = 0; i < frame.slot(3); i++) {
            int access = frame.required(2).get(WireTypes.U32, i * CUmemAccessDesc.BYTES + CUmemAccessDesc.flags);
            if (access != AccessFlag.NONE && access != AccessFlag.READ && access != AccessFlag.READWRITE) {
                throw CallFrame.malformed("access " + access);
            }
            for (MemoryRange range : there) {
                virtual.at(range.address()).access = access;
                memory.remove(range);
                memory.add(new MemoryRange(range.address(), range.bytes(),
                        access == AccessFlag.NONE ? Origin.SHUT : Origin.MAPPED, 0, 0, 0));
            }
            there = memory.mappedIn(frame.slot(0), frame.slot(1));
        }
        return CudaResult.SUCCESS;
    }

    /** Parameters: flags, location, address. */
    private int getAccess(CallFrame frame, ClientContext context) throws RejectedException {
        frame.want(0, Long.BYTES);
        Mapping mapping = virtual.at(frame.slot(2));
        if (mapping == null && !memory.contains(frame.slot(2), 1)) {
            throw CallFrame.malformed("memory that is not the client's");
        }
        frame.data(0).set(WireTypes.U64, 0, mapping == null ? AccessFlag.READWRITE : mapping.access);
        return CudaResult.SUCCESS;
    }
}
