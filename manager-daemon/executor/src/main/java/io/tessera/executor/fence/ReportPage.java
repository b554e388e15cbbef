package io.tessera.executor.fence;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.guardian.fence.ReportArea;
import io.tessera.guardian.fence.ReportArea.Violation;
import io.tessera.guardian.fence.WindowConstants;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory of the executor that no client sees: host memory where a client's fenced kernels report, and the word that ends
 * them. Loops look at that word often, so a GPU has it in its own memory (sorting by a kernel with many barriers took 9.6
 * times as long with the word in host memory of an H200), where a stream writes it without needing a place to run code.
 * A GPU in software has it in host memory. One client's; of its owner thread.
 */
final class ReportPage {
    private static final long BYTES = 4096;
    /** Behind the report area, in a line of its own: every loop reads it. */
    private static final long STOP = 3072;
    /** CU_MEMHOSTALLOC_PORTABLE and _DEVICEMAP. */
    private static final long VISIBLE = 1 | 2;
    private static final Logger LOG = LoggerFactory.getLogger(ReportPage.class);
    private static final VarHandle WORD = ValueLayout.JAVA_INT.varHandle();

    /** {@code CU_STREAM_NON_BLOCKING}. */
    private static final long NON_BLOCKING = 1;

    private final DriverCalls driver;
    private final MemorySegment page;
    private final long deviceAddress;
    /** The word in the GPU's memory and the stream that writes it; 0: it is in the page. */
    private long word;
    private long stream;

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
    static ReportPage make(DriverCalls driver) throws ProgramRefusedException {
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
            result = made.placeWord();
            if (result != CudaResult.SUCCESS) {
                made.close();
                throw new ProgramRefusedException(result, "no memory for the word that ends its kernels");
            }
        }
        return made;
    }

    private int placeWord() {
        int result = driver.call(DriverEntry.cuStreamCreate, driver.out(0), NON_BLOCKING);
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

    long reportArea() {
        return deviceAddress;
    }

    long stopWord() {
        return word != 0 ? word : deviceAddress + STOP;
    }

    /** Whether anything was reported; one load. */
    boolean isReported() {
        return (int) WORD.getAcquire(page, 0L) != 0;
    }

    long count() {
        return ReportArea.count(page.asSlice(0, ReportArea.BYTES).asByteBuffer());
    }

    List<Violation> violations() {
        return ReportArea.violations(page.asSlice(0, ReportArea.BYTES).asByteBuffer());
    }

    /** Has all fenced kernels of the client end, those that come too. */
    void stop() {
        if (isStopped()) {
            return;
        }
        WORD.setRelease(page, STOP, 0);
        if (word != 0) {
            int result = driver.call(DriverEntry.cuStreamWriteValue32_v2, stream, word, 0, 0);
            if (result != CudaResult.SUCCESS) {
                LOG.warn("kernels cannot be told to end: CUDA error {}", result);
            }
        }
    }

    boolean isStopped() {
        return (int) WORD.getAcquire(page, STOP) == 0;
    }

    /** Gives the memory back, when no work of the client is left. */
    void close() {
        if (word != 0) {
            driver.call(DriverEntry.cuMemFree_v2, word);
        }
        if (stream != 0) {
            driver.call(DriverEntry.cuStreamDestroy_v2, stream);
        }
        driver.call(DriverEntry.cuMemFreeHost, page.address());
    }
}
