package io.tessera.software.kernels.fenced;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.text.ReportArea;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.fault.KernelFailure;
import io.tessera.software.kernels.FenceWindow;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.FailureReport;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.launch.StopWord;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedKernel;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A defect of the device while it runs a fenced kernel ends that kernel's program, through its fence, and no other. */
@Timeout(180)
class KernelFailureTest {
    private static final String PTX = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";

    private final SoftwareProcessor processor = new SoftwareProcessor(new ProcessorOptions(FenceWindow.MEMORY_BYTES, 2,
            DeviceLimits.of(3), (kernel, symbols) -> (threads, status, first, end) -> {
                throw new IllegalStateException("a defect");
            }, DeviceClock.system()));

    @AfterEach
    void close() {
        processor.close();
    }

    private KernelFailure failure(LoadedKernel kernel) {
        return assertThrows(KernelFailure.class, () -> processor.launch(kernel, LaunchSpec.of(new Dim3(1, 1, 1), new Dim3(32, 1, 1), 0,
                new byte[0]), text -> {}, new GridControl()));
    }

    @Test
    void whoeverFencedTheKernelIsTold() throws Exception {
        FenceWindow window = new FenceWindow(processor, FenceMode.MASK);
        LoadedKernel kernel = window.load(PTX).kernel("k");
        assertEquals(window.report, RealMemory.getLong(kernel.variables().globals().get(StopWord.CONSTANTS).address() + FailureReport.OFFSET));
        for (int i = 0; i < ReportArea.RECORDS + 2; i++) {
            assertTrue(failure(kernel).reported());
        }
        assertEquals(ReportArea.RECORDS + 2, RealMemory.getInt(window.report));
        assertEquals(ReportArea.RECORDS, window.violations().size());
        assertEquals(Set.of(ReportArea.Kind.DEVICE),
                window.violations().stream().map(ReportArea.Violation::kind).collect(Collectors.toSet()));
    }

    @Test
    void withoutAFenceThereIsNobodyToTell() throws Exception {
        assertFalse(failure(processor.load(PTX).kernel("k")).reported());
    }

    /** A program's own constant of that name leads nowhere. */
    @Test
    void nothingIsWrittenWhereKernelsCannotWrite() throws Exception {
        LoadedKernel kernel = processor.load(PTX.replace(".visible .entry", ".visible .const .align 16 .b64 " + WindowConstants.NAME
                + "[8] = {0, 0, 0, 0, 4096, 0, 0, 0};\n.visible .entry")).kernel("k");
        assertFalse(failure(kernel).reported());
    }
}
