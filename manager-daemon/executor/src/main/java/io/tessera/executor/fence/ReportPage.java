package io.tessera.executor.fence;

import io.tessera.device.DriverEntry;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.guardian.fence.ReportArea;
import io.tessera.guardian.fence.ReportArea.Violation;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.List;

/**
 * Host memory of the executor that the device sees and no client: where a client's fenced kernels report, and the word
 * that ends them. One client's; the owner thread makes and ends it, {@link #stop} may be called by any.
 */
final class ReportPage {
    private static final long BYTES = 4096;
    /** Behind the report area, in a line of its own: every loop reads it. */
    private static final long STOP = 3072;
    /** CU_MEMHOSTALLOC_PORTABLE and _DEVICEMAP. */
    private static final long VISIBLE = 1 | 2;
    private static final VarHandle WORD = ValueLayout.JAVA_INT.varHandle();

    private final MemorySegment page;
    private final long deviceAddress;

    private ReportPage(MemorySegment page, long deviceAddress) {
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
        return new ReportPage(page, driver.outLong(1));
    }

    long reportArea() {
        return deviceAddress;
    }

    long stopWord() {
        return deviceAddress + STOP;
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
        WORD.setRelease(page, STOP, 1);
    }

    boolean isStopped() {
        return (int) WORD.getAcquire(page, STOP) != 0;
    }

    /** Gives the memory back, when no work of the client is left. */
    void close(DriverCalls driver) {
        driver.call(DriverEntry.cuMemFreeHost, page.address());
    }
}
