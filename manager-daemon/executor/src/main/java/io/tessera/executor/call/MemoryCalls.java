package io.tessera.executor.call;

import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.MemoryRange.Origin;
import io.tessera.executor.memory.MemoryRange;
import io.tessera.executor.pool.GraphMemory;
import io.tessera.executor.window.ClientWindow;
import io.tessera.protocol.WireTypes;
import java.util.Set;

/**
 * Calls by which memory comes and goes: the tenant's limit before, the client's table of live memory after. One owner
 * thread.
 */
final class MemoryCalls {
    private static final Set<String> OWN_CHECKS = Set.of("cuMemFree", "cuMemFreeAsync", "cuMemAddressReserve",
            "cuMemAddressFree", "cuMemMap", "cuMemUnmap", "cuMemSetAccess", "cuMemGetAccess");

    private final ClientMemory memory;
    private final ClientCharge charge;
    private final ClientWindow window;
    private final GraphMemory graphs;
    private final VirtualMemory virtual;
    /** What {@link #before} found and {@link #after} acts on. */
    private MemoryRange found;
    private long taken;

    MemoryCalls(ClientState client, VirtualMemory virtual) {
        this.memory = client.memory();
        this.charge = client.charge();
        this.window = client.window();
        this.graphs = client.graphMemory();
        this.virtual = virtual;
    }

    /** Whether the addresses of an entry are checked here. */
    static boolean checksItself(String api) {
        return OWN_CHECKS.contains(api);
    }

    /**
     * Before the driver is called: takes what the call will use, finds what it will free.
     *
     * @throws RejectedException if the limit forbids it, or the memory is not the client's
     */
    void before(CallFrame frame) throws RejectedException {
        found = null;
        taken = 0;
        switch (frame.plan().api()) {
            case "cuMemAlloc", "cuMemAllocAsync", "cuMemAllocFromPoolAsync", "cuMemCreate" -> take(frame.slot(1));
            case "cuMemAllocPitch" -> take(product(frame.slot(2), frame.slot(3)));
            case "cuMemFree", "cuMemFreeAsync" -> freeing(frame.slot(0));
            default -> {
            }
        }
    }

    private void take(long bytes) throws RejectedException {
        if (bytes < 0 || !window.attemptWithinLimit(() -> charge.take(bytes))) {
            throw new RejectedException(CudaResult.OUT_OF_MEMORY, "the tenant's limit");
        }
        taken = bytes;
    }

    private void freeing(long address) throws RejectedException {
        found = memory.beginningAt(address).orElse(null);
        boolean fits = found != null && (found.origin() == Origin.POOLED
                || found.origin() == Origin.GRAPH || found.origin() == Origin.ALLOCATED);
        if (!fits && address != 0) {
            throw CallFrame.malformed("no allocation of the client begins there");
        }
    }

    private static long product(long left, long right) throws RejectedException {
        if (left < 0 || right < 0 || right != 0 && left > Long.MAX_VALUE / right) {
            throw new RejectedException(CudaResult.OUT_OF_MEMORY, "more than all memory");
        }
        return left * right;
    }

    /** After the driver has answered. */
    void after(CallFrame frame, int context, int result) {
        boolean freed = result == CudaResult.NOT_READY && frame.plan().api().equals("cuMemFree");
        if (result != CudaResult.SUCCESS && !freed) {
            charge.giveBack(taken);
            return;
        }
        switch (frame.plan().api()) {
            case "cuMemAlloc" -> add(frame, frame.slot(1), Origin.ALLOCATED, context);
            case "cuMemAllocAsync", "cuMemAllocFromPoolAsync" -> add(frame, frame.slot(1),
                    graphs.isOfGraph(frame.data(0).get(WireTypes.U64, 0)) ? Origin.GRAPH : Origin.POOLED, context);
            case "cuMemAllocPitch" -> {
                long bytes = frame.data(1).get(WireTypes.U64, 0) * frame.slot(3);
                add(frame, Math.max(bytes, taken), Origin.ALLOCATED, context);
            }
            case "cuMemFree", "cuMemFreeAsync" -> {
                if (found != null && found.origin() != Origin.GRAPH) { // a graph's goes with the graph
                    memory.remove(found);
                    charge.giveBack(found.charged());
                }
            }
            case "cuModuleGetGlobal", "cuLibraryGetGlobal" -> global(frame, context);
            default -> {
            }
        }
    }

    private void add(CallFrame frame, long bytes, Origin origin, int context) {
        if (frame.data(0).get(WireTypes.U64, 0) == 0) {
            return; // an allocation of nothing
        }
        memory.add(new MemoryRange(frame.data(0).get(WireTypes.U64, 0), Math.max(1, bytes), origin, context, taken, 0));
    }

    /** Parameters: address, bytes, module or library, name; the first two may be null. */
    private void global(CallFrame frame, int context) {
        if (frame.data(0) == null || frame.data(1) == null) {
            return; // the executor asks for both, see CallExecutor
        }
        long address = frame.data(0).get(WireTypes.U64, 0);
        long bytes = frame.data(1).get(WireTypes.U64, 0);
        if (bytes > 0) {
            memory.add(new MemoryRange(address, bytes, Origin.GLOBAL, context, 0, frame.said(2)));
        }
    }

    /** An allocation handle was made; known by what the client calls it. */
    void allocationCreated(long handle) {
        virtual.created(handle, taken);
    }

    /** A handle was asked for of what is mapped at an address. */
    void allocationRetained(long handle, long address) {
        virtual.retained(handle, address);
    }

    /** The last reference to an allocation handle is gone. */
    void allocationReleased(long handle) {
        long bytes = virtual.released(handle);
        if (bytes != 0) {
            charge.giveBack(bytes);
            window.discharge(bytes);
        }
    }
}
