package io.tessera.software.driver.entry.launch;

import io.tessera.device.CudaEnums.FunctionAttribute;
import io.tessera.device.CudaError;
import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.LaunchConfig;
import io.tessera.software.driver.entry.Call;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.EntryGroup;
import io.tessera.software.driver.entry.EntryTable;
import io.tessera.software.driver.entry.module.FunctionEntries;
import io.tessera.software.driver.module.DeviceFunction;
import io.tessera.software.driver.operation.NativeCalls;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import java.util.Map;

/** Queries that programs make before they choose extents. */
public final class OccupancyEntries implements EntryGroup {
    private static final int WARP = 32;
    /** Maximum size of a cluster without a special request (CUDA C++ Programming Guide, thread block clusters). */
    private static final int PORTABLE_CLUSTER = 8;
    private static final int CALLED_BACK = 2;

    private final DriverState state;

    /** Creates an instance over a driver's state. */
    public OccupancyEntries(DriverState state) {
        this.state = state;
    }

    @Override
    public void register(EntryTable table) {
        table.on(this::blocks, DriverEntry.cuOccupancyMaxActiveBlocksPerMultiprocessor,
                DriverEntry.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
                .on(this::blockSize, DriverEntry.cuOccupancyMaxPotentialBlockSize,
                        DriverEntry.cuOccupancyMaxPotentialBlockSizeWithFlags)
                .on(DriverEntry.cuOccupancyAvailableDynamicSMemPerBlock, call -> {
                    DriverException.require(call.number(2) > 0 && call.number(3) > 0, CudaError.INVALID_VALUE);
                    call.putLong(0, Occupancy.sharedLeft(FunctionEntries.function(state, call.word(1)), limits(),
                            call.number(2)));
                })
                .on(DriverEntry.cuOccupancyMaxPotentialClusterSize, call -> {
                    DeviceFunction function = FunctionEntries.function(state, call.word(1));
                    call.pointer(2);
                    call.putInt(0, function.attribute(FunctionAttribute.NON_PORTABLE_CLUSTER_SIZE_ALLOWED) != 0 ? limits().clusterBlocks()
                            : PORTABLE_CLUSTER);
                })
                .on(DriverEntry.cuOccupancyMaxActiveClusters, this::clusters);
    }

    private DeviceLimits limits() {
        return state.profile().limits();
    }

    private void blocks(Call call) {
        DeviceFunction function = FunctionEntries.function(state, call.word(1));
        DriverException.require(call.number(2) > 0 && call.word(3) >= 0, CudaError.INVALID_VALUE);
        call.putInt(0, Occupancy.blocks(function, limits(), call.number(2), call.word(3)));
    }

    /** The block size with most threads at once; the largest of equals, so that there are few blocks. */
    private void blockSize(Call call) {
        DeviceFunction function = FunctionEntries.function(state, call.word(CALLED_BACK));
        int limit = call.number(5) > 0 ? Math.min(call.number(5), function.maxThreads()) : function.maxThreads();
        int best = 0;
        int bestThreads = 0;
        int bestBlocks = 0;
        for (int size = (limit + WARP - 1) / WARP * WARP; size > 0; size -= WARP) {
            int threads = Math.min(size, limit);
            long shared = call.given(3) ? NativeCalls.sizeByBlock(call.word(3), threads) : call.word(4);
            int blocks = Occupancy.blocks(function, limits(), threads, shared);
            if (blocks * threads > bestThreads) {
                best = threads;
                bestThreads = blocks * threads;
                bestBlocks = blocks;
            }
        }
        call.putInt(0, bestBlocks * limits().multiprocessors());
        call.putInt(1, best);
    }

    private void clusters(Call call) {
        DeviceFunction function = FunctionEntries.function(state, call.word(1));
        long config = call.pointer(2);
        Map<Integer, byte[]> attributes = LaunchAttributes.read(HostMemory.getLong(config + LaunchConfig.ATTRIBUTES),
                HostMemory.getInt(config + LaunchConfig.COUNT));
        Dim3 cluster = LaunchAttributes.cluster(attributes);
        DriverException.require(cluster == null || cluster.count() > 0 && cluster.count() <= limits().clusterBlocks(),
                CudaError.INVALID_CLUSTER_SIZE);
        long blocks = Occupancy.blocks(function, limits(),
                LaunchEntries.extents(config + LaunchConfig.BLOCK).count(),
                HostMemory.getInt(config + LaunchConfig.SHARED));
        long size = cluster == null ? 1 : cluster.count();
        call.putInt(0, (int) (blocks * limits().multiprocessors() / size));
    }
}
