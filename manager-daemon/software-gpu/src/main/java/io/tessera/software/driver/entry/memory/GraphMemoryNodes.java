package io.tessera.software.driver.entry.memory;

import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.MemAllocNode;
import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.graph.AllocationNodeMemory;
import io.tessera.software.driver.memory.AddressRange;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Makes the memory of allocation nodes, from a structure or from a captured call. */
public final class GraphMemoryNodes {
    private GraphMemoryNodes() {
    }

    /** Allocates for a captured allocation from the device's pool. */
    static AllocationNodeMemory allocate(DriverState state, long bytes, Context context) {
        ByteBuffer parameters = ByteBuffer.allocate(MemAllocNode.BYTES).order(ByteOrder.nativeOrder());
        // CU_MEM_ALLOCATION_TYPE_PINNED on CU_MEM_LOCATION_TYPE_DEVICE 0.
        parameters.putInt(0, 1).putInt(8, 1).putLong(MemAllocNode.BYTE_SIZE, bytes);
        return make(state, parameters, context);
    }

    /** Allocates for CUDA_MEM_ALLOC_NODE_PARAMS, to which the address is written. */
    public static AllocationNodeMemory allocate(DriverState state, long parameters, long bytes, Context context) {
        byte[] copy = HostMemory.get(parameters, MemAllocNode.BYTES);
        ByteBuffer buffer = ByteBuffer.wrap(copy).order(ByteOrder.nativeOrder());
        buffer.putLong(MemAllocNode.BYTE_SIZE, bytes);
        AllocationNodeMemory memory = make(state, buffer, context);
        HostMemory.putLong(parameters + MemAllocNode.ADDRESS, memory.allocation().address());
        return memory;
    }

    private static AllocationNodeMemory make(DriverState state, ByteBuffer parameters, Context context) {
        long bytes = parameters.getLong(MemAllocNode.BYTE_SIZE);
        AddressRange allocation = state.allocate(bytes, AddressRange.Kind.DEVICE, context);
        parameters.putLong(MemAllocNode.ADDRESS, allocation.address());
        AllocationNodeMemory memory = new AllocationNodeMemory(allocation, address -> {
            state.graphMemory().remove(address.address());
            state.memory().free(address);
        }, parameters.array());
        state.graphMemory().put(allocation.address(), memory);
        return memory;
    }
}
