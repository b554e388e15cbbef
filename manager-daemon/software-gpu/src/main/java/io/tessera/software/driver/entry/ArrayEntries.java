package io.tessera.software.driver.entry;

import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.ArrayDescriptor;
import io.tessera.software.driver.context.CaptureRules;
import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.memory.ArrayFormat;
import io.tessera.software.driver.memory.CudaArray;

/** CUDA arrays: memory that copies reach by element. */
final class ArrayEntries {
    private final DriverState state;

    ArrayEntries(DriverState state) {
        this.state = state;
    }

    void register(EntryTable table) {
        table.on(DriverEntry.cuArrayCreate_v2, call -> {
            long place = call.pointer(1);
            create(call, new long[] {HostMemory.getLong(place + ArrayDescriptor.WIDTH),
                HostMemory.getLong(place + ArrayDescriptor.HEIGHT), 0},
                    HostMemory.getInt(place + ArrayDescriptor.FORMAT_2D),
                    HostMemory.getInt(place + ArrayDescriptor.CHANNELS_2D), 0);
        }).on(DriverEntry.cuArray3DCreate_v2, call -> {
            long place = call.pointer(1);
            create(call, new long[] {HostMemory.getLong(place + ArrayDescriptor.WIDTH),
                HostMemory.getLong(place + ArrayDescriptor.HEIGHT), HostMemory.getLong(place + ArrayDescriptor.DEPTH)},
                    HostMemory.getInt(place + ArrayDescriptor.FORMAT_3D),
                    HostMemory.getInt(place + ArrayDescriptor.CHANNELS_3D),
                    HostMemory.getInt(place + ArrayDescriptor.FLAGS));
        }).on(DriverEntry.cuArrayDestroy, this::destroy)
                .on(DriverEntry.cuArrayGetDescriptor_v2, call -> describe2D(call.pointer(0), array(call)))
                .on(DriverEntry.cuArray3DGetDescriptor_v2, call -> describe3D(call.pointer(0), array(call)));
    }

    private static CudaArray array(Call call) {
        return call.object(1, CudaArray.class);
    }

    private void create(Call call, long[] extent, int format, int channels, int flags) {
        long out = call.pointer(0);
        Context context = call.context();
        CaptureRules.forbidUnsafe(context);
        CudaArray made = CudaArray.create(extent, ArrayFormat.of(format), channels, flags, state.memory(),
                context.handle());
        HostMemory.putLong(out, state.handles().of(made));
    }

    private void destroy(Call call) {
        Context context = call.context();
        CudaArray array = call.object(0, CudaArray.class);
        DriverException.require(array.storage().claimRelease(), CudaError.INVALID_HANDLE);
        state.handles().remove(array);
        state.freeWhenQuiet(array.storage(), context);
    }

    private static void describe2D(long place, CudaArray array) {
        HostMemory.putLong(place + ArrayDescriptor.WIDTH, array.width());
        HostMemory.putLong(place + ArrayDescriptor.HEIGHT, array.height());
        HostMemory.putInt(place + ArrayDescriptor.FORMAT_2D, array.format().number());
        HostMemory.putInt(place + ArrayDescriptor.CHANNELS_2D, array.channels());
    }

    private static void describe3D(long place, CudaArray array) {
        HostMemory.fill(place, ArrayDescriptor.BYTES_3D, (byte) 0);
        HostMemory.putLong(place + ArrayDescriptor.WIDTH, array.width());
        HostMemory.putLong(place + ArrayDescriptor.HEIGHT, array.height());
        HostMemory.putLong(place + ArrayDescriptor.DEPTH, array.depth());
        HostMemory.putInt(place + ArrayDescriptor.FORMAT_3D, array.format().number());
        HostMemory.putInt(place + ArrayDescriptor.CHANNELS_3D, array.channels());
        HostMemory.putInt(place + ArrayDescriptor.FLAGS, array.flags());
    }
}
