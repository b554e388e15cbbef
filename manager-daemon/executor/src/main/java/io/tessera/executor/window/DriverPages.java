package io.tessera.executor.window;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import io.tessera.executor.driver.DriverCalls;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The driver's virtual memory calls as windows use them: pinned memory of the one device, readable and writable from it.
 * Every method returns a CUresult. Used with the calls of whichever client's thread changes pages; stateless but for the
 * device.
 */
final class DriverPages {
    /** Offset of the driver's room for results where structures are built; results themselves lie before it. */
    private static final int STRUCTURE_AT = 256;
    private static final int STRUCTURE_INDEX = STRUCTURE_AT / Long.BYTES;
    /** {@code CUmemAllocationProp} (cuda.h): type, handle types, location, metadata, flags. */
    private static final int PROPERTIES_BYTES = 32;
    private static final int ACCESS_BYTES = 12;
    private static final int TYPE_PINNED = 1;
    private static final int LOCATION_DEVICE = 1;
    private static final int READ_WRITE = 3;

    private final int device;

    /** For a device by the driver's number. */
    DriverPages(int device) {
        this.device = device;
    }

    private MemorySegment structure(DriverCalls driver, int bytes) {
        MemorySegment structure = driver.outMemory().asSlice(STRUCTURE_AT, bytes);
        structure.fill((byte) 0);
        return structure;
    }

    private MemorySegment properties(DriverCalls driver) {
        MemorySegment properties = structure(driver, PROPERTIES_BYTES);
        properties.set(ValueLayout.JAVA_INT, 0, TYPE_PINNED);
        properties.set(ValueLayout.JAVA_INT, 8, LOCATION_DEVICE);
        properties.set(ValueLayout.JAVA_INT, 12, device);
        return properties;
    }

    /** The least that is mapped at once; the result is the driver's first one. */
    int granularity(DriverCalls driver) {
        return driver.call(DriverEntry.cuMemGetAllocationGranularity, driver.out(0), properties(driver).address(), 0);
    }

    /** Reserves addresses, at a place if it is not 0; where the driver gives another one it is the caller's to see. */
    int reserve(DriverCalls driver, long bytes, long alignment, long wished) {
        return driver.call(DriverEntry.cuMemAddressReserve, driver.out(0), bytes, alignment, wished, 0);
    }

    /** Gives addresses back. */
    int release(DriverCalls driver, long address, long bytes) {
        return driver.call(DriverEntry.cuMemAddressFree, address, bytes);
    }

    /** Makes memory; its handle is the driver's first result. */
    int create(DriverCalls driver, long bytes) {
        return driver.call(DriverEntry.cuMemCreate, driver.out(0), bytes, properties(driver).address(), 0);
    }

    /** Makes a sink, where the driver has such; its handle is the driver's first result. */
    int createSink(DriverCalls driver, long bytes) {
        MemorySegment properties = properties(driver);
        properties.set(ValueLayout.JAVA_INT, 8, DriverPort.SINK_LOCATION);
        return driver.call(DriverEntry.cuMemCreate, driver.out(0), bytes, properties.address(), 0);
    }

    /** Gives up a handle; what is mapped stays. */
    int drop(DriverCalls driver, long handle) {
        return driver.call(DriverEntry.cuMemRelease, handle);
    }

    /** Maps a whole handle, without access. */
    int map(DriverCalls driver, long address, long bytes, long handle) {
        return driver.call(DriverEntry.cuMemMap, address, bytes, 0, handle, 0);
    }

    /** Unmaps whole mappings. */
    int unmap(DriverCalls driver, long address, long bytes) {
        return driver.call(DriverEntry.cuMemUnmap, address, bytes);
    }

    /** Lets the device read and write what is mapped. */
    int allow(DriverCalls driver, long address, long bytes) {
        MemorySegment access = structure(driver, ACCESS_BYTES);
        access.set(ValueLayout.JAVA_INT, 0, LOCATION_DEVICE);
        access.set(ValueLayout.JAVA_INT, 4, device);
        access.set(ValueLayout.JAVA_INT, 8, READ_WRITE);
        return driver.call(DriverEntry.cuMemSetAccess, address, bytes, access.address(), 1);
    }

    /** Whether a result is one that the caller can go on after. */
    static boolean ok(int result) {
        return result == CudaResult.SUCCESS;
    }
}
