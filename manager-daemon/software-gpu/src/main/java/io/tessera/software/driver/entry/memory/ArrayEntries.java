package io.tessera.software.driver.entry.memory;

import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.ArrayDescriptor;
import io.tessera.software.driver.context.CaptureRules;
import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.memory.AddressRange;
import io.tessera.software.driver.memory.CudaArray;
import io.tessera.software.driver.memory.CudaArrayFormat;
import io.tessera.software.driver.memory.MipmappedArray;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** CUDA arrays, with mipmaps and without: memory that copies reach by element. */
public final class ArrayEntries implements EntryGroup {
    private final DriverState state;
    /** Storage of levels, which go with their mipmapped array alone. */
    private final Set<AddressRange> ofMipmaps = ConcurrentHashMap.newKeySet();

    /** Creates an instance over a driver's state. */
    public ArrayEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
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
        }).on(DriverEntry.cuMipmappedArrayCreate, this::createMipmap)
                .on(DriverEntry.cuMipmappedArrayGetLevel, call -> {
                    List<CudaArray> levels = call.object(1, MipmappedArray.class).levels();
                    long level = Integer.toUnsignedLong(call.number(2));
                    DriverException.require(level < levels.size(), CudaError.INVALID_VALUE);
                    HostMemory.putLong(call.pointer(0), state.handles().of(levels.get((int) level)));
                })
                .on(DriverEntry.cuMipmappedArrayDestroy, this::destroyMipmap)
                .on(DriverEntry.cuArrayDestroy, this::destroy)
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
        CudaArray made = CudaArray.create(extent, CudaArrayFormat.of(format), channels, flags, state.memory(),
                context.handle());
        HostMemory.putLong(out, state.handles().of(made));
    }

    private void createMipmap(Call call) {
        long out = call.pointer(0);
        long place = call.pointer(1);
        Context context = call.context();
        CaptureRules.forbidUnsafe(context);
        MipmappedArray made = MipmappedArray.create(new long[] {HostMemory.getLong(place + ArrayDescriptor.WIDTH),
                HostMemory.getLong(place + ArrayDescriptor.HEIGHT), HostMemory.getLong(place + ArrayDescriptor.DEPTH)},
                CudaArrayFormat.of(HostMemory.getInt(place + ArrayDescriptor.FORMAT_3D)),
                HostMemory.getInt(place + ArrayDescriptor.CHANNELS_3D),
                HostMemory.getInt(place + ArrayDescriptor.FLAGS), Integer.toUnsignedLong(call.number(2)),
                state.memory(), context.handle());
        ofMipmaps.addAll(made.levels().stream().map(CudaArray::storage).toList());
        HostMemory.putLong(out, state.handles().of(made));
    }

    private void destroyMipmap(Call call) {
        Context context = call.context();
        MipmappedArray mipmap = call.object(0, MipmappedArray.class);
        for (CudaArray level : mipmap.levels()) {
            DriverException.require(level.storage().claimRelease(), CudaError.INVALID_HANDLE);
            ofMipmaps.remove(level.storage());
            state.handles().remove(level);
            state.freeWhenQuiet(level.storage(), context);
        }
        state.handles().remove(mipmap);
    }

    private void destroy(Call call) {
        Context context = call.context();
        CudaArray array = call.object(0, CudaArray.class);
        DriverException.require(!ofMipmaps.contains(array.storage()) && array.storage().claimRelease(),
                CudaError.INVALID_HANDLE);
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
