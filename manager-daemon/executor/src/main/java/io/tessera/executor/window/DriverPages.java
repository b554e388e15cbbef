package io.tessera.executor.window;

import io.tessera.device.CudaEnums.AccessFlag;
import io.tessera.device.CudaEnums.AllocationType;
import io.tessera.device.CudaEnums.LocationType;
import io.tessera.device.CudaLayouts.CUmemAccessDesc;
import io.tessera.device.CudaLayouts.CUmemAllocationProp;
import io.tessera.device.CudaLayouts.CUmemLocation;
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

    private final int device;

    /** Creates pages of a device with the driver's number. */
    DriverPages(int device) {
        this.device = device;
    }

    private MemorySegment structure(DriverCalls driver, int bytes) {
        MemorySegment structure = driver.outMemory().asSlice(STRUCTURE_AT, bytes);
        structure.fill((byte) 0);
        return structure;
    }

    private MemorySegment properties(DriverCalls driver) {
        MemorySegment properties = structure(driver, CUmemAllocationProp.BYTES);
        properties.set(ValueLayout.JAVA_INT, CUmemAllocationProp.type, AllocationType.PINNED);
        properties.set(ValueLayout.JAVA_INT, CUmemAllocationProp.location + CUmemLocation.type, LocationType.DEVICE);
        properties.set(ValueLayout.JAVA_INT, CUmemAllocationProp.location + CUmemLocation.id, device);
        return properties;
    }

    /** Returns the size of the smallest mapping; the size is the driver's first result. */
    int granularity(DriverCalls driver) {
        return driver.call(DriverEntry.cuMemGetAllocationGranularity, driver.out(0), properties(driver).address(), 0);
    }

    /** Reserves addresses, at a place if it is not 0. The caller has to check whether the driver has chosen another one. */
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

    /** Creates memory for a sink, if the driver supports it; its handle is the driver's first result. */
    int createSink(DriverCalls driver, long bytes) {
        MemorySegment properties = properties(driver);
        properties.set(ValueLayout.JAVA_INT, CUmemAllocationProp.location + CUmemLocation.type, DriverPort.SINK_LOCATION);
        return driver.call(DriverEntry.cuMemCreate, driver.out(0), bytes, properties.address(), 0);
    }

    /** Releases a handle; mappings remain. */
    int drop(DriverCalls driver, long handle) {
        return driver.call(DriverEntry.cuMemRelease, handle);
    }

    /** Makes another handle of the memory that is mapped at an address; it is the driver's first result. */
    int retain(DriverCalls driver, long address) {
        return driver.call(DriverEntry.cuMemRetainAllocationHandle, driver.out(0), address);
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
        MemorySegment access = structure(driver, CUmemAccessDesc.BYTES);
        access.set(ValueLayout.JAVA_INT, CUmemAccessDesc.location + CUmemLocation.type, LocationType.DEVICE);
        access.set(ValueLayout.JAVA_INT, CUmemAccessDesc.location + CUmemLocation.id, device);
        access.set(ValueLayout.JAVA_INT, CUmemAccessDesc.flags, AccessFlag.READWRITE);
        return driver.call(DriverEntry.cuMemSetAccess, address, bytes, access.address(), 1);
    }

    /** Returns whether the caller can continue after a result. */
    static boolean ok(int result) {
        return result == CudaResult.SUCCESS;
    }
}
