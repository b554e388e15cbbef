package io.tessera.software.driver.entry.launch;

import io.tessera.device.CudaEnums.FunctionAttribute;
import io.tessera.device.CudaEnums.LaunchParameter;
import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.entry.DriverState;
import io.tessera.software.driver.entry.module.FunctionEntries;
import io.tessera.software.driver.module.DeviceFunction;
import io.tessera.software.driver.operation.KernelLaunch;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.program.Parameter;
import java.util.Map;

/**
 * A launch as the interface describes it.
 *
 * @param handle     CUfunction or CUkernel
 * @param grid       blocks
 * @param block      threads of a block
 * @param shared     dynamic shared memory in bytes
 * @param parameters address of the parameters' addresses, or 0
 * @param extra      address of a list that names a buffer of packed parameters, or 0
 * @param attributes launch attributes
 */
public record LaunchRequest(long handle, Dim3 grid, Dim3 block, int shared, long parameters, long extra,
        Map<Integer, byte[]> attributes) {
    private static final int GRID_YZ = 65535;
    private static final int BLOCK_Z = 64;

    /** Checks it, copies the parameters, and makes the operation. */
    public KernelLaunch prepare(DriverState state) {
        DeviceFunction function = FunctionEntries.function(state, handle);
        DeviceLimits limits = state.profile().limits();
        checkExtents(function, limits);
        DriverException.require(shared >= 0 && shared <= function.maxDynamicShared(), CudaError.INVALID_VALUE);
        boolean cooperative = LaunchAttributes.cooperative(attributes);
        Dim3 cluster = clusterOf(function, limits);
        if (cooperative) {
            long resident = (long) Occupancy.blocks(function, limits, block.count(), shared)
                    * limits.multiprocessors();
            DriverException.require(grid.count() <= resident, CudaError.COOPERATIVE_LAUNCH_TOO_LARGE);
        }
        LaunchSpec spec = new LaunchSpec(grid, block, cluster, shared, parameterBytes(function), cooperative);
        return new KernelLaunch(function, handle, spec, attributes, function.module().bound(), state.processor(),
                state.faultReport());
    }

    /** Returns the same launch with other attributes. */
    public static KernelLaunch withAttributes(KernelLaunch launch, Map<Integer, byte[]> attributes) {
        LaunchSpec spec = launch.spec();
        Dim3 asked = LaunchAttributes.cluster(attributes);
        LaunchSpec next = new LaunchSpec(spec.grid(), spec.block(), asked == null ? spec.cluster() : asked,
                spec.dynamicSharedBytes(), spec.parameters(), LaunchAttributes.cooperative(attributes));
        return new KernelLaunch(launch.function(), launch.handle(), next, attributes, launch.bound(),
                launch.processor(), launch.report());
    }

    private void checkExtents(DeviceFunction function, DeviceLimits limits) {
        DriverException.require(grid.x() > 0 && grid.y() > 0 && grid.z() > 0 && grid.y() <= GRID_YZ
                && grid.z() <= GRID_YZ, CudaError.INVALID_VALUE);
        DriverException.require(block.x() > 0 && block.y() > 0 && block.z() > 0 && block.z() <= BLOCK_Z
                && block.x() <= limits.threadsPerBlock() && block.y() <= limits.threadsPerBlock()
                && block.count() <= limits.threadsPerBlock(), CudaError.INVALID_VALUE);
        DriverException.require(block.count() <= function.maxThreads(), CudaError.LAUNCH_OUT_OF_RESOURCES);
    }

    private Dim3 clusterOf(DeviceFunction function, DeviceLimits limits) {
        Dim3 asked = LaunchAttributes.cluster(attributes);
        Dim3 cluster = asked;
        if (asked == null && function.attribute(FunctionAttribute.REQUIRED_CLUSTER_WIDTH) > 0) {
            cluster = new Dim3(function.attribute(FunctionAttribute.REQUIRED_CLUSTER_WIDTH),
                    Math.max(1, function.attribute(FunctionAttribute.REQUIRED_CLUSTER_HEIGHT)),
                    Math.max(1, function.attribute(FunctionAttribute.REQUIRED_CLUSTER_DEPTH)));
        }
        if (cluster != null) {
            DriverException.require(cluster.x() > 0 && cluster.y() > 0 && cluster.z() > 0
                    && grid.x() % cluster.x() == 0 && grid.y() % cluster.y() == 0 && grid.z() % cluster.z() == 0
                    && cluster.count() <= limits.clusterBlocks(), CudaError.INVALID_CLUSTER_SIZE);
        }
        return cluster;
    }

    private byte[] parameterBytes(DeviceFunction function) {
        byte[] buffer = new byte[function.kernel().parameterBytes()];
        if (parameters != 0) {
            DriverException.require(extra == 0, CudaError.INVALID_VALUE);
            int index = 0;
            for (Parameter parameter : function.parameters()) {
                long place = HostMemory.getLong(parameters + 8L * index++);
                DriverException.require(place != 0, CudaError.INVALID_VALUE);
                byte[] value = HostMemory.get(place, parameter.bytes());
                System.arraycopy(value, 0, buffer, parameter.offset(), value.length);
            }
        } else if (extra != 0) {
            readExtra(buffer);
        } else {
            DriverException.require(function.parameters().isEmpty(), CudaError.INVALID_VALUE);
        }
        return buffer;
    }

    private void readExtra(byte[] buffer) {
        long source = 0;
        long bytes = -1;
        for (long at = extra;; at += 16) {
            long key = HostMemory.getLong(at);
            if (key == LaunchParameter.END_AS_INT) {
                break;
            }
            DriverException.require(key == LaunchParameter.BUFFER_POINTER_AS_INT || key == LaunchParameter.BUFFER_SIZE_AS_INT,
                    CudaError.INVALID_VALUE);
            if (key == LaunchParameter.BUFFER_POINTER_AS_INT) {
                source = HostMemory.getLong(at + 8);
            } else {
                bytes = HostMemory.getLong(HostMemory.getLong(at + 8));
            }
        }
        DriverException.require(bytes >= 0 && (bytes == 0 || source != 0), CudaError.INVALID_VALUE);
        // Packed parameters may end with padding that the kernel does not count.
        int used = (int) Math.min(bytes, buffer.length);
        System.arraycopy(HostMemory.get(source, used), 0, buffer, 0, used);
    }
}
