package io.tessera.software.driver.graph;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.memory.AddressRange;
import java.util.function.Consumer;

/**
 * Memory of an allocation node. Its address is fixed when the node is made; it belongs to the graph and to every executable graph made from it, and ends with
 * the last of them, unless a launch has allocated it and it was not freed yet. Thread-safe.
 */
public final class AllocationNodeMemory {
    private final AddressRange allocation;
    private final Consumer<AddressRange> release;
    private final byte[] parameters;
    private int owners = 1;
    private boolean live;

    /**
     * Takes over an allocation.
     *
     * @param release    frees it, called once
     * @param parameters CUDA_MEM_ALLOC_NODE_PARAMS as the program gave it, with the address
     */
    public AllocationNodeMemory(AddressRange allocation, Consumer<AddressRange> release, byte[] parameters) {
        this.allocation = allocation;
        this.release = release;
        this.parameters = parameters.clone();
    }

    /** Returns the allocation. */
    public AddressRange allocation() {
        return allocation;
    }

    /** CUDA_MEM_ALLOC_NODE_PARAMS. */
    public byte[] parameters() {
        return parameters.clone();
    }

    /** Returns whether a launch allocated it and nothing freed it yet. */
    public synchronized boolean live() {
        return live;
    }

    /** A launch allocates it; ends the entry with INVALID_VALUE if it is allocated. */
    synchronized void allocate(boolean freeFirst) {
        DriverException.require(!live || freeFirst, CudaError.INVALID_VALUE);
        live = true;
    }

    /** Frees the memory, for a node or for the program. */
    public synchronized void free() {
        live = false;
        settle();
    }

    synchronized void retain() {
        owners++;
    }

    synchronized void release() {
        owners--;
        settle();
    }

    private void settle() {
        if (owners == 0 && !live) {
            release.accept(allocation);
        }
    }
}
