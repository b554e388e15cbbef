package io.tessera.executor.driver;

import static io.tessera.executor.driver.DriverFailedException.check;
import static io.tessera.protocol.relay.RelayLayout.DEVICE;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.device.CudaEnums.ExecAffinity;
import io.tessera.device.CudaLayouts.CUexecAffinityParam;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.DriverEntry;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The device's properties that clients get without asking, taken once when the executor starts. Immutable. */
public final class DeviceSnapshot {
    private static final long UUID = offset(DEVICE, "uuid");
    private static final long NAME = offset(DEVICE, "name");
    private static final long TOTAL_BYTES = offset(DEVICE, "total_bytes");

    private final MemorySegment image;

    private DeviceSnapshot(MemorySegment image) {
        this.image = image;
    }

    /**
     * Asks the driver for everything, with the context current.
     *
     * @throws DriverFailedException if it does not know name, UUID or memory of its own device
     */
    public static DeviceSnapshot take(DeviceContext context) throws DriverFailedException {
        MemorySegment image = Arena.ofAuto().allocate(DEVICE.byteSize(), Long.BYTES);
        try (Arena arena = Arena.ofConfined()) {
            DriverCalls driver = new DriverCalls(context.port(), arena);
            identity(driver, context, image);
            attributes(driver, context, image);
            contextState(driver, image);
        }
        return new DeviceSnapshot(image.asReadOnly());
    }

    private static void identity(DriverCalls driver, DeviceContext context, MemorySegment image)
            throws DriverFailedException {
        int device = context.device();
        int uuid = driver.call(DriverEntry.cuDeviceGetUuid_v2, driver.outRoom(), device);
        if (uuid != CudaResult.SUCCESS) {
            check(DriverApi.cuDeviceGetUuid, driver.call(DriverEntry.cuDeviceGetUuid, driver.outRoom(), device));
        }
        MemorySegment.copy(driver.outMemory(), 0, image, UUID, 16);
        check(DriverApi.cuDeviceGetName, driver.call(DriverEntry.cuDeviceGetName, driver.outRoom(), RelayLayout.NAME_BYTES, device));
        MemorySegment.copy(driver.outMemory(), 0, image, NAME, RelayLayout.NAME_BYTES - 1L);
        if (driver.call(DriverEntry.cuDeviceGetPCIBusId, driver.outRoom(), RelayLayout.PCI_BYTES, device) == 0) {
            MemorySegment.copy(driver.outMemory(), 0, image, offset(DEVICE, "pci_bus_id"), RelayLayout.PCI_BYTES - 1L);
        }
        check(DriverApi.cuDeviceTotalMem, driver.call(DriverEntry.cuDeviceTotalMem_v2, driver.out(0), device));
        image.set(WireTypes.U64, TOTAL_BYTES, driver.outLong(0));
        if (driver.call(DriverEntry.cuDeviceGetLuid, driver.out(0), driver.out(1), device) == 0) {
            image.set(WireTypes.U64, offset(DEVICE, "luid"), driver.outLong(0));
            image.set(WireTypes.U32, offset(DEVICE, "node_mask"), driver.outInt(1));
            image.set(WireTypes.U32, offset(DEVICE, "has_luid"), 1);
        }
        image.set(WireTypes.U32, offset(DEVICE, "software"), context.port().software() ? 1 : 0);
        if (driver.call(DriverEntry.cuDriverGetVersion, driver.out(0)) == 0) {
            image.set(WireTypes.U32, offset(DEVICE, "driver_version"), driver.outInt(0));
        }
    }

    private static void attributes(DriverCalls driver, DeviceContext context, MemorySegment image) {
        long values = offset(DEVICE, "attributes");
        long valid = offset(DEVICE, "attribute_valid");
        for (int attribute = 1; attribute < RelayLayout.ATTRIBUTES; attribute++) {
            if (driver.call(DriverEntry.cuDeviceGetAttribute, driver.out(0), attribute, context.device()) == 0) {
                image.set(WireTypes.U32, values + 4L * attribute, driver.outInt(0));
                image.set(ValueLayout.JAVA_BYTE, valid + attribute, (byte) 1);
            }
        }
    }

    private static void contextState(DriverCalls driver, MemorySegment image) {
        if (driver.call(DriverEntry.cuCtxGetStreamPriorityRange, driver.out(0), driver.out(1)) == 0) {
            image.set(WireTypes.U32, offset(DEVICE, "least_priority"), driver.outInt(0));
            image.set(WireTypes.U32, offset(DEVICE, "greatest_priority"), driver.outInt(1));
        }
        int valid = 0;
        for (int limit = 0; limit < RelayLayout.LIMITS; limit++) {
            if (driver.call(DriverEntry.cuCtxGetLimit, driver.out(0), limit) == 0) {
                image.set(WireTypes.U64, offset(DEVICE, "limits") + 8L * limit, driver.outLong(0));
                valid |= 1 << limit;
            }
        }
        image.set(WireTypes.U32, offset(DEVICE, "limit_valid"), valid);
        if (driver.call(DriverEntry.cuCtxGetCacheConfig, driver.out(0)) == 0) {
            image.set(WireTypes.U32, offset(DEVICE, "cache_config"), driver.outInt(0));
        }
        if (driver.call(DriverEntry.cuCtxGetExecAffinity, driver.outRoom(), ExecAffinity.SM_COUNT) == 0) {
            image.set(WireTypes.U64, offset(DEVICE, "exec_affinity_sms"),
                    Integer.toUnsignedLong(driver.outMemory().get(WireTypes.U32, CUexecAffinityParam.param_smCount)));
        }
    }

    /** Writes it into a segment, with the memory that the tenant may see. */
    public void write(MemorySegment device, long visibleBytes) {
        device.copyFrom(image);
        device.set(WireTypes.U64, TOTAL_BYTES, visibleBytes);
    }

    /** Returns the device's UUID. */
    public DeviceUuid uuid() {
        return DeviceUuid.read(image, UUID);
    }

    /** Returns the device's name. */
    public String name() {
        return WireTypes.getText(image, NAME, RelayLayout.NAME_BYTES);
    }

    /** Returns an attribute of the device (CUdevice_attribute); 0 if the driver does not report it. */
    public int attribute(int number) {
        return image.get(WireTypes.U32, offset(DEVICE, "attributes") + 4L * number);
    }

    /** Returns whether it is a GPU in software. */
    public boolean software() {
        return image.get(WireTypes.U32, offset(DEVICE, "software")) != 0;
    }

    /** Returns the device's memory. */
    public long totalBytes() {
        return image.get(WireTypes.U64, TOTAL_BYTES);
    }
}
