package io.tessera.executor.fence.program;

import io.tessera.device.CudaResult;
import io.tessera.device.DeviceAttribute;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DeviceContext;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.guardian.cache.CodeIdentity;
import io.tessera.guardian.image.ComputeCapability;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The GPU that programs are compiled for, and the compiler. Immutable.
 *
 * @param capability the device's
 * @param compiler   as {@link CodeIdentity} names it
 * @param compiles   whether the driver makes machine code of PTX that can be kept; false on the software GPU
 */
public record Target(ComputeCapability capability, String compiler, boolean compiles) {
    private static final Path RELEASE = Path.of("/proc/driver/nvidia/version");
    private static final Pattern NUMBER = Pattern.compile("\\b\\d+\\.\\d+(?:\\.\\d+)?\\b");
    private static final Logger LOG = LoggerFactory.getLogger(Target.class);

    /** Asks the driver. */
    public static Target of(DeviceContext device, DriverCalls driver) {
        int major = attribute(device, driver, DeviceAttribute.COMPUTE_CAPABILITY_MAJOR);
        int minor = attribute(device, driver, DeviceAttribute.COMPUTE_CAPABILITY_MINOR);
        int version = driver.call(DriverEntry.cuDriverGetVersion, driver.out(0)) == CudaResult.SUCCESS
                ? driver.outInt(0) : 0;
        return new Target(new ComputeCapability(major, minor), CodeIdentity.ofDriver(version, release()),
                !device.port().software());
    }

    private static int attribute(DeviceContext device, DriverCalls driver, int attribute) {
        int result = driver.call(DriverEntry.cuDeviceGetAttribute, driver.out(0), attribute, device.device());
        return result == CudaResult.SUCCESS ? driver.outInt(0) : 0;
    }

    /** Returns the release of NVIDIA's kernel module, which is that of the compiler, too. The CUDA version may be the same for two releases. */
    private static String release() {
        if (!Files.isReadable(RELEASE)) {
            return "";
        }
        try {
            Matcher found = NUMBER.matcher(Files.readString(RELEASE));
            return found.find() ? found.group() : "";
        } catch (IOException e) {
            LOG.warn("the driver's release is not known: {}", e.getMessage());
            return "";
        }
    }

    /** Returns the architecture's name in {@link CodeIdentity}. */
    String architecture() {
        return Integer.toString(capability.sm());
    }
}
