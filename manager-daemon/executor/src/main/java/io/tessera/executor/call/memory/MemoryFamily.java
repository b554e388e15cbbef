package io.tessera.executor.call.memory;

import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.ClientAllocations;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.call.graph.GraphMemoryCalls;
import io.tessera.executor.memory.MemoryRange;
import java.util.List;

/** Memory of one client: allocations, pools, mappings, copies, and memory that clients of its tenant share. One owner thread. */
public final class MemoryFamily {
    private final VirtualMemoryCalls virtual;

    /** Enters the calls. */
    public MemoryFamily(ClientExecution execution, ClientAllocations allocations, CallChecks checks, GraphMemoryCalls graphs, CallTable calls) {
        AllocationCharge charge = new AllocationCharge(allocations.charge(), allocations.window());
        MemoryLocations locations = new MemoryLocations(execution.device());
        PoolCalls pools = new PoolCalls(allocations.pools(), checks.results(), locations);
        pools.register(calls);
        new AllocationCalls(allocations, execution.streams(), pools, graphs, charge).register(calls);
        this.virtual = new VirtualMemoryCalls(execution.driver(), allocations.memory(), allocations.window(), locations, charge, checks.results());
        virtual.register(calls);
        NullStream nullStream = new NullStream(execution.driver(), execution.streams(), execution.fences(), checks.moved());
        new CopyCalls(checks, nullStream).register(calls);
        new TensorMapCalls(execution.driver(), execution.handles().tensorMaps(), checks.addresses()).register(calls);
        new IpcCalls(allocations.exports()).register(calls);
    }

    /** Removes a mapping of the program's own memory, when its context or the client ends. Returns a CUresult. */
    public int unmapped(MemoryRange range) {
        return virtual.unmap(List.of(range));
    }
}
