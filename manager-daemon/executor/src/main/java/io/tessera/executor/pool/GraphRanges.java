package io.tessera.executor.pool;

import io.tessera.executor.memory.ClientCharge;
import io.tessera.executor.memory.ClientMemory;
import io.tessera.executor.memory.MemoryRange.Origin;
import io.tessera.executor.memory.MemoryRange;

/** Enters memory of graphs into the client's table and charge. One owner thread. */
public final class GraphRanges implements GraphMemory.Owner {
    private final ClientMemory memory;
    private final ClientCharge charge;

    /** Creates an instance for one client. */
    public GraphRanges(ClientMemory memory, ClientCharge charge) {
        this.memory = memory;
        this.charge = charge;
    }

    @Override
    public void left(long address) {
        memory.beginningAt(address).ifPresent(range -> {
            memory.remove(range);
            memory.add(new MemoryRange(address, range.bytes(), Origin.POOLED, range.context(), range.charged(), 0));
        });
    }

    @Override
    public void gone(long address) {
        memory.beginningAt(address).ifPresent(range -> {
            memory.remove(range);
            charge.giveBack(range.charged());
        });
    }
}
