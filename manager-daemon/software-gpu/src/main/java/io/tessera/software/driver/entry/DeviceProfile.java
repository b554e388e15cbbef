package io.tessera.software.driver.entry;

import io.tessera.device.DeviceAttribute;
import io.tessera.software.launch.DeviceLimits;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;

/**
 * Properties of the device: the numbers of CUdevice_attribute that are not zero. Where programs depend on a number it is that of compute capability 9.0 (CUDA
 * C++ Programming Guide, "Technical Specifications per Compute Capability"); abilities that the software GPU lacks are reported as missing.
 *
 * @param limits of launches
 * @param machine bytes that are the same at every start on this machine and differ from others'
 * @param ordinal its number among the machine's software GPUs
 * @param devices number of the machine's software GPUs
 */
public record DeviceProfile(DeviceLimits limits, String machine, int ordinal, int devices) {
    /** The name. */
    public static final String NAME = "Tessera Software GPU";
    /** CUDA 13.0, whose interface the driver has. */
    public static final int DRIVER_VERSION = 13000;
    /** Bytes of constant memory. */
    public static final int CONSTANT_BYTES = 64 << 10;
    /** Largest pitch of a copy in bytes, as devices of capability 9.0 have it. */
    public static final int MAX_PITCH = Integer.MAX_VALUE;

    private static final int KILOHERTZ = 1_000_000;
    private static final int REGISTERS = 65536;
    private static final int GRID_YZ = 65535;
    private static final int TEXTURE_ROW = 131072;
    private static final int TEXTURE_VOLUME = 16384;
    private static final int LAYERS = 2048;

    private static final Map<Integer, Integer> FIXED = Map.ofEntries(
            Map.entry(DeviceAttribute.MAX_BLOCK_DIM_Z, 64),
            Map.entry(DeviceAttribute.MAX_GRID_DIM_X, Integer.MAX_VALUE),
            Map.entry(DeviceAttribute.MAX_GRID_DIM_Y, GRID_YZ),
            Map.entry(DeviceAttribute.MAX_GRID_DIM_Z, GRID_YZ),
            Map.entry(DeviceAttribute.MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10),
            Map.entry(DeviceAttribute.TOTAL_CONSTANT_MEMORY, CONSTANT_BYTES),
            Map.entry(DeviceAttribute.WARP_SIZE, 32),
            Map.entry(DeviceAttribute.MAX_PITCH, MAX_PITCH),
            Map.entry(DeviceAttribute.MAX_REGISTERS_PER_BLOCK, REGISTERS),
            Map.entry(DeviceAttribute.CLOCK_RATE, KILOHERTZ),
            Map.entry(DeviceAttribute.TEXTURE_ALIGNMENT, 512),
            Map.entry(DeviceAttribute.GPU_OVERLAP, 1),
            Map.entry(DeviceAttribute.INTEGRATED, 1),
            Map.entry(DeviceAttribute.CAN_MAP_HOST_MEMORY, 1),
            Map.entry(DeviceAttribute.SURFACE_ALIGNMENT, 512),
            Map.entry(DeviceAttribute.CONCURRENT_KERNELS, 1),
            Map.entry(DeviceAttribute.MEMORY_CLOCK_RATE, KILOHERTZ),
            Map.entry(DeviceAttribute.GLOBAL_MEMORY_BUS_WIDTH, 64),
            Map.entry(DeviceAttribute.L2_CACHE_SIZE, 1 << 20),
            Map.entry(DeviceAttribute.ASYNC_ENGINE_COUNT, 2),
            Map.entry(DeviceAttribute.UNIFIED_ADDRESSING, 1),
            Map.entry(DeviceAttribute.CAN_TEX2D_GATHER, 1),
            Map.entry(DeviceAttribute.PCI_DOMAIN_ID, 0xffff),
            Map.entry(DeviceAttribute.TEXTURE_PITCH_ALIGNMENT, 32),
            Map.entry(DeviceAttribute.COMPUTE_CAPABILITY_MAJOR, 9),
            Map.entry(DeviceAttribute.STREAM_PRIORITIES_SUPPORTED, 1),
            Map.entry(DeviceAttribute.GLOBAL_L1_CACHE_SUPPORTED, 1),
            Map.entry(DeviceAttribute.LOCAL_L1_CACHE_SUPPORTED, 1),
            Map.entry(DeviceAttribute.MAX_REGISTERS_PER_MULTIPROCESSOR, REGISTERS),
            Map.entry(DeviceAttribute.HOST_NATIVE_ATOMIC_SUPPORTED, 1),
            Map.entry(DeviceAttribute.SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2),
            Map.entry(DeviceAttribute.COMPUTE_PREEMPTION_SUPPORTED, 1),
            Map.entry(DeviceAttribute.CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1),
            Map.entry(DeviceAttribute.CAN_USE_STREAM_MEM_OPS_V1, 1),
            Map.entry(DeviceAttribute.CAN_USE_64_BIT_STREAM_MEM_OPS_V1, 1),
            Map.entry(DeviceAttribute.CAN_USE_STREAM_WAIT_VALUE_NOR_V1, 1),
            Map.entry(DeviceAttribute.COOPERATIVE_LAUNCH, 1),
            Map.entry(DeviceAttribute.HOST_REGISTER_SUPPORTED, 1),
            Map.entry(DeviceAttribute.VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1),
            Map.entry(DeviceAttribute.RESERVED_SHARED_MEMORY_PER_BLOCK, DeviceLimits.RESERVED_SHARED_BYTES),
            Map.entry(DeviceAttribute.READ_ONLY_HOST_REGISTER_SUPPORTED, 1),
            Map.entry(DeviceAttribute.MEMORY_POOLS_SUPPORTED, 1),
            Map.entry(DeviceAttribute.CLUSTER_LAUNCH, 1),
            Map.entry(DeviceAttribute.CAN_USE_64_BIT_STREAM_MEM_OPS, 1),
            Map.entry(DeviceAttribute.CAN_USE_STREAM_WAIT_VALUE_NOR, 1),
            Map.entry(DeviceAttribute.MEM_SYNC_DOMAIN_COUNT, 1),
            Map.entry(DeviceAttribute.NUMA_ID, -1),
            Map.entry(DeviceAttribute.HOST_NUMA_ID, -1));

    private static final Map<Integer, Integer> TEXTURES = Map.ofEntries(
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE1D_WIDTH, TEXTURE_ROW),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE2D_WIDTH, TEXTURE_ROW),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE2D_HEIGHT, 65536),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE3D_WIDTH, TEXTURE_VOLUME),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE3D_HEIGHT, TEXTURE_VOLUME),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE3D_DEPTH, TEXTURE_VOLUME),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE2D_LAYERED_LAYERS, LAYERS),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE1D_LAYERED_LAYERS, LAYERS),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE2D_GATHER_WIDTH, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, 8192),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE, 8192),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURECUBEMAP_WIDTH, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 2046),
            Map.entry(DeviceAttribute.MAXIMUM_SURFACE1D_WIDTH, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_SURFACE2D_WIDTH, TEXTURE_ROW),
            Map.entry(DeviceAttribute.MAXIMUM_SURFACE2D_HEIGHT, 65536),
            Map.entry(DeviceAttribute.MAXIMUM_SURFACE3D_WIDTH, TEXTURE_VOLUME),
            Map.entry(DeviceAttribute.MAXIMUM_SURFACE3D_HEIGHT, TEXTURE_VOLUME),
            Map.entry(DeviceAttribute.MAXIMUM_SURFACE3D_DEPTH, TEXTURE_VOLUME),
            Map.entry(DeviceAttribute.MAXIMUM_SURFACE1D_LAYERED_WIDTH, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_SURFACE1D_LAYERED_LAYERS, LAYERS),
            Map.entry(DeviceAttribute.MAXIMUM_SURFACE2D_LAYERED_WIDTH, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_SURFACE2D_LAYERED_LAYERS, LAYERS),
            Map.entry(DeviceAttribute.MAXIMUM_SURFACECUBEMAP_WIDTH, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS, 2046),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 1 << 28),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE2D_LINEAR_WIDTH, TEXTURE_ROW),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE2D_LINEAR_PITCH, 2097120),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 32768),
            Map.entry(DeviceAttribute.MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, 32768));

    /** Highest attribute that cuda.h 13.0 knows. */
    private static final int LAST_ATTRIBUTE = DeviceAttribute.ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED;

    /** An attribute, or null where there is none with that number. */
    public Integer attribute(int attribute) {
        if (attribute < 1 || attribute > LAST_ATTRIBUTE) {
            return null;
        }
        return switch (attribute) {
            case DeviceAttribute.MAX_THREADS_PER_BLOCK, DeviceAttribute.MAX_BLOCK_DIM_X, DeviceAttribute.MAX_BLOCK_DIM_Y -> limits.threadsPerBlock();
            case DeviceAttribute.MULTIPROCESSOR_COUNT -> limits.multiprocessors();
            case DeviceAttribute.MAX_THREADS_PER_MULTIPROCESSOR -> limits.residentThreads();
            case DeviceAttribute.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR -> limits.sharedBytesPerBlock() + DeviceLimits.RESERVED_SHARED_BYTES;
            case DeviceAttribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN -> limits.sharedBytesPerBlock();
            case DeviceAttribute.MAX_BLOCKS_PER_MULTIPROCESSOR -> limits.residentBlocks();
            default -> FIXED.getOrDefault(attribute, TEXTURES.getOrDefault(attribute, 0));
        };
    }

    /** No PCI device has this address: the domain is one that no machine numbers. */
    public String pciBusId() {
        return String.format("FFFF:%02X:00.0", ordinal);
    }

    /** Returns the device's UUID: the same at every start on this machine. */
    public byte[] uuid() {
        UUID name = UUID.nameUUIDFromBytes((NAME + machine + (ordinal == 0 ? "" : ordinal)).getBytes(StandardCharsets.UTF_8));
        byte[] bytes = new byte[16];
        for (int i = 0; i < 8; i++) {
            bytes[i] = (byte) (name.getMostSignificantBits() >>> 56 - 8 * i);
            bytes[8 + i] = (byte) (name.getLeastSignificantBits() >>> 56 - 8 * i);
        }
        return bytes;
    }
}
