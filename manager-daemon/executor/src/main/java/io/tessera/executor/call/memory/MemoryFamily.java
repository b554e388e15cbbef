package io.tessera.executor.call.memory;

import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.ClientState;
import io.tessera.executor.call.graph.GraphMemoryCalls;
import io.tessera.executor.memory.MemoryRange;
import java.util.List;

/** Memory of one client: allocations, pools, mappings, copies, and what others of its tenant share. One owner thread. */
public final class MemoryFamily {
    private final VirtualMemoryCalls virtual;

    /** Enters the calls. */
    public MemoryFamily(ClientState client, CallChecks checks, GraphMemoryCalls graphs, CallTable calls) {
        AllocationCharge charge = new AllocationCharge(client.charge(), client.window());
        MemoryLocations locations = new MemoryLocations(client.device());
        PoolCalls pools = new PoolCalls(client.pools(), checks.results(), locations);
        pools.register(calls);
        new AllocationCalls(client, pools, graphs, charge).register(calls);
        this.virtual = new VirtualMemoryCalls(client.driver(), client.memory(), client.window(), locations, charge, checks.results());
        virtual.register(calls);
        NullStream nullStream = new NullStream(client.driver(), client.streams(), client.fences(), checks.moved());
        new CopyCalls(checks, nullStream).register(calls);
        new TensorMapCalls(client.driver(), client.handles().tensorMaps(), checks.addresses()).register(calls);
        new IpcCalls(client.exports()).register(calls);
    }

    /** Takes away a mapping of the program's own memory, at the end of what it was for. Returns a CUresult. */
    public int unmapped(MemoryRange range) {
        return virtual.unmap(List.of(range));
    }
}
