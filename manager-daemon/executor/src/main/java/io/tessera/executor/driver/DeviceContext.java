package io.tessera.executor.driver;

import static io.tessera.executor.driver.DriverFailedException.check;

import io.tessera.clock.Clocks;
import io.tessera.device.CudaEnums.StreamCaptureMode;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;

/**
 * The one context of the executor's device, its primary context. Immutable and thread-safe; {@link #release} is called
 * once, when no thread uses it.
 */
public final class DeviceContext {
    private final DriverPort port;
    private final int device;
    private final int ordinal;
    private final int count;
    private final long context;
    private final FreshArrays arrays = new FreshArrays(Clocks.system().monotonic());

    private DeviceContext(DriverPort port, int device, int ordinal, int count, long context) {
        this.port = port;
        this.device = device;
        this.ordinal = ordinal;
        this.count = count;
        this.context = context;
    }

    /**
     * Opens the primary context of a device and makes it current in the calling thread.
     *
     * @param ordinal as the driver counts
     * @throws DriverFailedException if the device cannot be used
     */
    public static DeviceContext open(DriverPort port, int ordinal) throws DriverFailedException {
        try (Arena arena = Arena.ofConfined()) {
            DriverCalls driver = new DriverCalls(port, arena);
            check(DriverApi.cuDeviceGetCount, driver.call(DriverEntry.cuDeviceGetCount, driver.out(0)));
            int count = driver.outInt(0);
            check(DriverApi.cuDeviceGet, driver.call(DriverEntry.cuDeviceGet, driver.out(0), ordinal));
            int device = driver.outInt(0);
            check(DriverApi.cuDevicePrimaryCtxRetain, driver.call(DriverEntry.cuDevicePrimaryCtxRetain, driver.out(0), device));
            DeviceContext opened = new DeviceContext(port, device, ordinal, count, driver.outLong(0));
            opened.enter(driver);
            return opened;
        }
    }

    /**
     * Makes the context current in the calling thread, and sets its capture mode so that captures of other threads do not forbid calls.
     *
     * @throws DriverFailedException if the context is lost
     */
    public void enter(DriverCalls driver) throws DriverFailedException {
        check(DriverApi.cuCtxSetCurrent, driver.call(DriverEntry.cuCtxSetCurrent, context));
        long mode = driver.out(0);
        driver.outMemory().set(ValueLayout.JAVA_INT, 0, StreamCaptureMode.RELAXED);
        int result = driver.call(DriverEntry.cuThreadExchangeStreamCaptureMode, mode);
        if (result != CudaResult.NOT_SUPPORTED) { // a driver without captures forbids no calls
            check(DriverApi.cuThreadExchangeStreamCaptureMode, result);
        }
    }

    /** Returns the driver. */
    public DriverPort port() {
        return port;
    }

    /** Returns the driver's number for the device. */
    public int device() {
        return device;
    }

    /** Returns the device, counted as the driver counts. */
    public int ordinal() {
        return ordinal;
    }

    /** Returns the number of the driver's devices. */
    public int count() {
        return count;
    }

    /** Returns the driver's handle of the context. */
    public long handle() {
        return context;
    }

    /** Returns the object that zeroes its new arrays. */
    public FreshArrays arrays() {
        return arrays;
    }

    /** Gives the primary context back. */
    public void release() {
        try (Arena arena = Arena.ofConfined()) {
            new DriverCalls(port, arena).call(DriverEntry.cuDevicePrimaryCtxRelease_v2, device);
        }
    }
}
