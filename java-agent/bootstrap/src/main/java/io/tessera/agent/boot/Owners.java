package io.tessera.agent.boot;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Detects when no Java object holds an allocation's address any longer. A pointer that was derived from the owner is an
 * owner too; an allocation with very many owners counts as unknown and is never reported. Any thread.
 */
final class Owners {
    private final ReferenceQueue<Object> queue = new ReferenceQueue<>();
    private final Set<Allocation.Derived> derived = ConcurrentHashMap.newKeySet();

    private final AllocationTable allocations;

    /** Tracks the owners of the allocations in a table. */
    Owners(AllocationTable allocations) {
        this.allocations = allocations;
    }

    ReferenceQueue<Object> queue() {
        return queue;
    }

    void derived(long address, Object made) {
        Allocation allocation = address == 0 ? null : allocations.find(address);
        if (allocation != null && allocation.gainOwner()) {
            derived.add(new Allocation.Derived(made, queue, allocation));
        }
    }

    /** Processes the references that the collector has enqueued since the last call. */
    int drain() {
        int drained = 0;
        for (Reference<?> found = queue.poll(); found != null; found = queue.poll()) {
            if (found instanceof Allocation.Derived) {
                Allocation.Derived gone = (Allocation.Derived) found;
                derived.remove(gone);
                gone.allocation.loseOwner();
            } else {
                ((Allocation) found).loseOwner();
            }
            drained++;
        }
        return drained;
    }

    /**
     * Frees device memory whose owner was collected. Nothing is freed where the driver is not loaded or refuses; the
     * entry then stays.
     *
     * @param ended receives each freed allocation
     * @return bytes freed
     */
    long release(Consumer<Allocation> ended) {
        drain();
        if (!Natives.available()) {
            return 0;
        }
        List<Allocation> found = new ArrayList<>();
        allocations.forEach(allocation -> {
            if (allocation.ownerCollected() && allocation.kind != MemoryKind.PINNED
                    && allocation.kind != MemoryKind.ARRAY) {
                found.add(allocation);
            }
        });
        long bytes = 0;
        for (Allocation allocation : found) {
            // Only the thread that removes it from the table frees it, so it is never freed twice.
            if (allocations.remove(allocation)) {
                if (Natives.free(allocation.address) == 0) {
                    bytes += allocation.bytes;
                    ended.accept(allocation);
                } else if (!allocations.add(allocation)) {
                    AgentCounters.drop();
                }
            }
        }
        return bytes;
    }
}
