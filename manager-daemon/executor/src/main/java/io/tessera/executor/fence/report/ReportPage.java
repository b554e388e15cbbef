package io.tessera.executor.fence.report;

import io.tessera.device.CudaEnums.AttachFlag;
import io.tessera.device.CudaEnums.HostAllocFlag;
import io.tessera.device.CudaEnums.MemoryAdvice;
import io.tessera.device.CudaEnums.StreamFlag;
import io.tessera.device.CudaResult;
import io.tessera.device.DeviceAttribute;
import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.guardian.fence.text.ReportArea.Violation;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory of the executor that no client sees: host memory for the reports of a client's fenced kernels, and the stop word.
 * Loops read the stop word often, so on a GPU it is in device memory (with the word in host memory of an H200, sorting by a
 * kernel with many barriers took 9.6 times as long). It is managed memory, which the host writes without a driver call, since
 * such a call may be blocked by the very kernels that have to end; they saw the new value after at most 15 ms (H200, driver
 * 580). If the host cannot write it while kernels run, a stream does. On a software GPU it is in host memory. There is one
 * page for each client; it belongs to the client's owner thread, except for {@link #halt}.
 */
public final class ReportPage {
    private static final long BYTES = 4096;
    /** Offset of the stop word: behind the report area, in a cache line of its own, since every loop reads it. */
    private static final long STOP = 3072;
    /** Offset from {@link #reportArea} of the word that threads of fenced machine code write before they end, see {@code MachineFence}. */
    public static final long MACHINE_WORD = 2560;
    private static final long VISIBLE = HostAllocFlag.PORTABLE | HostAllocFlag.DEVICEMAP;
    private static final Logger LOG = LoggerFactory.getLogger(ReportPage.class);
    private static final VarHandle WORD = ValueLayout.JAVA_INT.varHandle();

    private static final long MANAGED_BYTES = 65_536;

    private final DriverCalls driver;
    private final MemorySegment page;
    private final long deviceAddress;
    /** The word in the GPU's memory; 0: it is in the page. */
    private long word;
    /** Stream that writes the word; 0: the host does. */
    private long stream;
    private boolean closed;

    private ReportPage(DriverCalls driver, MemorySegment page, long deviceAddress) {
        this.driver = driver;
        this.page = page;
        this.deviceAddress = deviceAddress;
    }

    /**
     * Makes one.
     *
     * @throws ProgramRefusedException with the driver's result
     */
    public static ReportPage make(DriverCalls driver, int device) throws ProgramRefusedException {
        int result = driver.call(DriverEntry.cuMemHostAlloc, driver.out(0), BYTES, VISIBLE);
        long host = driver.outLong(0);
        if (result == CudaResult.SUCCESS) {
            result = driver.call(DriverEntry.cuMemHostGetDevicePointer_v2, driver.out(1), host, 0);
        }
        if (result != CudaResult.SUCCESS || host == 0) {
            throw new ProgramRefusedException(result == CudaResult.SUCCESS ? CudaResult.NOT_SUPPORTED : result,
                    "no memory for what its kernels report (" + result + ")");
        }
        MemorySegment page = MemorySegment.ofAddress(host).reinterpret(BYTES);
        page.fill((byte) 0);
        WORD.setRelease(page, STOP, WindowConstants.GO_ON);
        ReportPage made = new ReportPage(driver, page, driver.outLong(1));
        if (!driver.port().software()) {
            result = made.placeWord(device);
            if (result != CudaResult.SUCCESS) {
                made.close();
                throw new ProgramRefusedException(result, "no memory for the word that ends its kernels");
            }
        }
        return made;
    }

    private int placeWord(int device) {
        if (driver.call(DriverEntry.cuDeviceGetAttribute, driver.out(0), DeviceAttribute.CONCURRENT_MANAGED_ACCESS, device) == CudaResult.SUCCESS
                && driver.outInt(0) != 0
                && driver.call(DriverEntry.cuMemAllocManaged, driver.out(0), MANAGED_BYTES, AttachFlag.GLOBAL) == CudaResult.SUCCESS) {
            word = driver.outLong(0);
            return fillManagedWord(device);
        }
        int result = driver.call(DriverEntry.cuStreamCreate, driver.out(0), StreamFlag.NON_BLOCKING);
        if (result == CudaResult.SUCCESS) {
            stream = driver.outLong(0);
            result = driver.call(DriverEntry.cuMemAlloc_v2, driver.out(0), BYTES);
        }
        if (result == CudaResult.SUCCESS) {
            word = driver.outLong(0);
            result = driver.call(DriverEntry.cuMemsetD32_v2, word, WindowConstants.GO_ON,
                    BYTES / Integer.BYTES);
        }
        return result == CudaResult.SUCCESS ? driver.call(DriverEntry.cuStreamSynchronize, 0) : result;
    }

    private int fillManagedWord(int device) {
        managed().fill((byte) 0);
        WORD.setRelease(managed(), 0L, WindowConstants.GO_ON);
        int result = driver.call(DriverEntry.cuMemAdvise, word, MANAGED_BYTES, MemoryAdvice.SET_PREFERRED_LOCATION, device);
        if (result == CudaResult.SUCCESS) {
            result = driver.call(DriverEntry.cuMemPrefetchAsync, word, MANAGED_BYTES, device, 0);
        }
        return result == CudaResult.SUCCESS ? driver.call(DriverEntry.cuStreamSynchronize, 0) : result;
    }

    private MemorySegment managed() {
        return MemorySegment.ofAddress(word).reinterpret(MANAGED_BYTES);
    }

    /** Returns the device address to which kernels write reports. */
    public long reportArea() {
        return deviceAddress;
    }

    /** Returns the device address of the stop word. */
    public long stopWord() {
        return word != 0 ? word : deviceAddress + STOP;
    }

    /** Returns the device address of the word that threads of fenced machine code write before they end. */
    public long machineWord() {
        return deviceAddress + MACHINE_WORD;
    }

    /** Returns the word that the last such thread wrote; 0: none did. */
    int machineReport() {
        return (int) WORD.getAcquire(page, MACHINE_WORD);
    }

    /** Returns whether PTX reported anything; one load. */
    boolean isReported() {
        return (int) WORD.getAcquire(page, 0L) != 0;
    }

    /** Returns how many reports kernels have made. */
    public long count() {
        return ReportArea.count(page.asSlice(0, ReportArea.BYTES).asByteBuffer());
    }

    List<Violation> violations() {
        return ReportArea.violations(page.asSlice(0, ReportArea.BYTES).asByteBuffer());
    }

    /** Makes all fenced kernels of the client end, later ones included. */
    public void stop() {
        if (isStopped()) {
            return;
        }
        halt();
        if (stream != 0) {
            WORD.setRelease(page, STOP, 0);
            int result = driver.call(DriverEntry.cuStreamWriteValue32_v2, stream, word, 0, 0);
            if (result != CudaResult.SUCCESS) {
                LOG.warn("kernels cannot be told to end: CUDA error {}", result);
            }
        }
    }

    /** As above, without a driver call, if the host can write the word. Any thread may call it until the client's thread calls {@link #close}. */
    public synchronized void halt() {
        if (stream == 0 && !closed) {
            if (word != 0) {
                WORD.setRelease(managed(), 0L, 0);
            }
            WORD.setRelease(page, STOP, 0);
        }
    }

    /** Returns whether the order to end can be taken back: the host writes the word. */
    public boolean canGoOn() {
        return stream == 0;
    }

    /** Takes the order to end back: kernels that are launched from now on run. */
    public synchronized void goOn() {
        if (canGoOn() && !closed) {
            if (word != 0) {
                WORD.setRelease(managed(), 0L, WindowConstants.GO_ON);
            }
            WORD.setRelease(page, STOP, WindowConstants.GO_ON);
        }
    }

    boolean isStopped() {
        return (int) WORD.getAcquire(page, STOP) == 0;
    }

    /** Gives the memory back, when no work of the client is left. */
    public void close() {
        synchronized (this) {
            closed = true;
        }
        if (word != 0) {
            driver.call(DriverEntry.cuMemFree_v2, word);
        }
        if (stream != 0) {
            driver.call(DriverEntry.cuStreamDestroy_v2, stream);
        }
        driver.call(DriverEntry.cuMemFreeHost, page.address());
    }
}
