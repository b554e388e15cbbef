package io.tessera.software.driver.entry.memory;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.context.CaptureRules;
import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DeviceProfile;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.graph.AllocationNodeMemory;
import io.tessera.software.driver.memory.AddressRange;
import io.tessera.software.driver.memory.Pool;

/** Linear device memory: allocation, release, and what is left. */
public final class MemoryEntries implements EntryGroup {
    /** Bytes that pitches are a multiple of, as {@link DeviceProfile} tells programs. */
    private static final long PITCH_ALIGNMENT = 512;

    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public MemoryEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuMemAlloc_v2, call -> {
            long out = call.pointer(0);
            HostMemory.putLong(out, allocate(call.context(), call.word(1)));
        }).on(DriverEntry.cuMemAllocPitch_v2, this::allocatePitch)
                .on(DriverEntry.cuMemFree_v2, this::free)
                .on(DriverEntry.cuMemGetInfo_v2, call -> {
                    call.context();
                    call.offerLong(0, state.memory().device().freeBytes());
                    call.offerLong(1, state.memory().device().capacityBytes());
                })
                .on(DriverEntry.cuMemGetAddressRange_v2, call -> {
                    call.context();
                    AddressRange allocation = state.memory().addresses().containing(call.word(2));
                    DriverException.require(allocation != null, CudaError.NOT_FOUND);
                    call.offerLong(0, allocation.address());
                    call.offerLong(1, allocation.bytes());
                });
    }

    private long allocate(Context context, long bytes) {
        CaptureRules.forbidUnsafe(context);
        return state.allocate(bytes, AddressRange.Kind.DEVICE, context).address();
    }

    private void allocatePitch(Call call) {
        long out = call.pointer(0);
        long pitchOut = call.pointer(1);
        long width = call.word(2);
        long height = call.word(3);
        int element = call.number(4);
        DriverException.require(width > 0 && height > 0 && (element == 4 || element == 8 || element == 16),
                CudaError.INVALID_VALUE);
        DriverException.require(width <= DeviceProfile.MAX_PITCH, CudaError.INVALID_VALUE);
        long pitch = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
        DriverException.require(height <= Long.MAX_VALUE / pitch, CudaError.OUT_OF_MEMORY);
        HostMemory.putLong(out, allocate(call.context(), pitch * height));
        HostMemory.putLong(pitchOut, pitch);
    }

    private void free(Call call) {
        Context context = call.context();
        if (!call.given(0)) {
            return;
        }
        CaptureRules.forbidUnsafe(context);
        AllocationNodeMemory graph = state.graphMemory().get(call.word(0));
        if (graph != null) {
            DriverException.require(graph.live(), CudaError.INVALID_VALUE);
            context.whenQuiet(graph::free);
            return;
        }
        AddressRange allocation = state.memory().addresses().at(call.word(0));
        DriverException.require(allocation != null && allocation.kind() == AddressRange.Kind.DEVICE
                && allocation.claimRelease(), CudaError.INVALID_VALUE);
        if (allocation.pool() != 0) {
            ((Pool) state.handles().find(allocation.pool())).discharge(allocation.bytes());
        }
        state.freeWhenQuiet(allocation, context);
    }
}
