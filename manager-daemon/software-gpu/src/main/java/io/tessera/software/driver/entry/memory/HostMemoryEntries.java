package io.tessera.software.driver.entry.memory;

import io.tessera.device.CudaEnums.HostAllocFlag;
import io.tessera.device.CudaEnums.HostRegisterFlag;
import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.context.CaptureRules;
import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.memory.AddressRange;

/** Host memory that kernels may touch: device and host use one pointer. */
public final class HostMemoryEntries implements EntryGroup {
    private static final int ALLOC_FLAGS = HostAllocFlag.PORTABLE | HostAllocFlag.DEVICEMAP | HostAllocFlag.WRITECOMBINED;
    private static final int REGISTER_FLAGS = HostRegisterFlag.PORTABLE | HostRegisterFlag.DEVICEMAP | HostRegisterFlag.IOMEMORY
            | HostRegisterFlag.READ_ONLY;

    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public HostMemoryEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(DriverEntry.cuMemHostAlloc, call -> allocate(call, call.number(2)))
                .on(DriverEntry.cuMemAllocHost_v2, call -> allocate(call, 0))
                .on(DriverEntry.cuMemFreeHost, call -> release(call, AddressRange.Kind.HOST_ALLOCATED,
                        CudaError.INVALID_VALUE))
                .on(this::pin, DriverEntry.cuMemHostRegister, DriverEntry.cuMemHostRegister_v2)
                .on(DriverEntry.cuMemHostUnregister, call -> release(call, AddressRange.Kind.HOST_REGISTERED,
                        CudaError.HOST_MEMORY_NOT_REGISTERED))
                .on(DriverEntry.cuMemHostGetDevicePointer_v2, call -> {
                    call.context();
                    DriverException.require(call.number(2) == 0, CudaError.INVALID_VALUE);
                    call.putLong(0, host(call.word(1)) == null ? refuse() : call.word(1));
                })
                .on(DriverEntry.cuMemHostGetFlags, call -> {
                    AddressRange allocation = host(call.word(1));
                    DriverException.require(allocation != null, CudaError.INVALID_VALUE);
                    call.putInt(0, allocation.flags() | HostAllocFlag.DEVICEMAP);
                });
    }

    private static long refuse() {
        throw new DriverException(CudaError.INVALID_VALUE);
    }

    private AddressRange host(long address) {
        AddressRange allocation = state.memory().addresses().containing(address);
        return allocation != null && allocation.host() ? allocation : null;
    }

    private void allocate(Call call, int flags) {
        DriverException.require((flags & ~ALLOC_FLAGS) == 0, CudaError.INVALID_VALUE);
        long out = call.pointer(0);
        Context context = call.context();
        CaptureRules.forbidUnsafe(context);
        HostMemory.putLong(out, state.memory().allocateHost(call.word(1), context.handle(), flags).address());
    }

    private void pin(Call call) {
        int flags = call.number(2);
        DriverException.require((flags & ~REGISTER_FLAGS) == 0, CudaError.INVALID_VALUE);
        DriverException.require((flags & HostRegisterFlag.IOMEMORY) == 0, CudaError.NOT_SUPPORTED);
        Context context = call.context();
        CaptureRules.forbidUnsafe(context);
        state.memory().registerHost(call.pointer(0), call.word(1), context.handle(), flags);
    }

    /**
     * Waits for the work there is, as the driver does: the pages are the program's to unmap as soon as the entry is
     * back, and nothing stops a kernel that still touches them.
     */
    private void release(Call call, AddressRange.Kind kind, CudaError otherwise) {
        Context context = state.current();
        DriverException.require(context != null, CudaError.INVALID_CONTEXT);
        CaptureRules.forbidUnsafe(context);
        AddressRange allocation = state.memory().addresses().at(call.word(0));
        DriverException.require(allocation != null && allocation.kind() == kind, otherwise);
        context.drain();
        state.memory().releaseHost(allocation);
    }
}
