package io.tessera.software.driver.entry.launch;

import io.tessera.device.CudaEnums.LaunchAttributeId;
import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.abi.StructLayouts.LaunchAttribute;
import io.tessera.software.launch.Dim3;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.Map;

/** Launch attributes (CUlaunchAttribute): which there are, which change a launch, and which are hints. */
public final class LaunchAttributes {
    private static final int LAST = LaunchAttributeId.NVLINK_UTIL_CENTRIC_SCHEDULING;
    private static final int LARGEST_COUNT = 64;

    private LaunchAttributes() {
    }

    /** Checks a number. */
    public static int known(int id) {
        DriverException.require(id >= 0 && id <= LAST, CudaError.INVALID_VALUE);
        return id;
    }

    /** Reads attributes, 64 bytes each. */
    static Map<Integer, byte[]> read(long attributes, int count) {
        DriverException.require(count >= 0 && count <= LARGEST_COUNT && (count == 0 || attributes != 0),
                CudaError.INVALID_VALUE);
        Map<Integer, byte[]> read = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            long at = attributes + (long) i * LaunchAttribute.BYTES;
            int id = known(HostMemory.getInt(at + LaunchAttribute.ID));
            byte[] value = HostMemory.get(at + LaunchAttribute.VALUE, LaunchAttribute.VALUE_BYTES);
            // A node that kernels change needs a device that can launch: this one cannot.
            DriverException.require(id != LaunchAttributeId.DEVICE_UPDATABLE_KERNEL_NODE || number(value) == 0, CudaError.NOT_SUPPORTED);
            if (id != LaunchAttributeId.IGNORE) {
                read.put(id, value);
            }
        }
        return read;
    }

    private static int number(byte[] value) {
        return ByteBuffer.wrap(value).order(ByteOrder.nativeOrder()).getInt(0);
    }

    /** Returns whether all blocks have to run together. */
    static boolean cooperative(Map<Integer, byte[]> attributes) {
        return attributes.containsKey(LaunchAttributeId.COOPERATIVE) && number(attributes.get(LaunchAttributeId.COOPERATIVE)) != 0;
    }

    /** Blocks of a cluster, null where none were given. */
    static Dim3 cluster(Map<Integer, byte[]> attributes) {
        byte[] value = attributes.get(LaunchAttributeId.CLUSTER_DIMENSION);
        if (value == null) {
            return null;
        }
        ByteBuffer words = ByteBuffer.wrap(value).order(ByteOrder.nativeOrder());
        return new Dim3(words.getInt(0), words.getInt(4), words.getInt(8));
    }

    /** Returns the event that an attribute names, 0 for none. */
    static long event(Map<Integer, byte[]> attributes, int id) {
        byte[] value = attributes.get(id);
        return value == null ? 0 : ByteBuffer.wrap(value).order(ByteOrder.nativeOrder()).getLong(0);
    }
}
