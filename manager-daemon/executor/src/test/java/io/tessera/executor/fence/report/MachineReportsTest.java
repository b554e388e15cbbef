package io.tessera.executor.fence.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.guardian.machine.MachineFence;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Words of machine code that stopped become the line that CUDA prints, where the image has it. */
class MachineReportsTest {
    private static final int IMAGE = MachineFence.MOST_REPORT_VALUES - 1;

    private final MachineReports reports = new MachineReports();

    private MachineReports.Said read(int image, int reason, int text) {
        return reports.read(MachineFence.of(1L << 40, 1L << 40).reporting(64, image).reported(MachineFence.reason(reason, text)));
    }

    @Test
    void anAssertionIsSaidAsTheDriverSaysIt() {
        reports.add(IMAGE, "9 bytes",
                List.of("a.cu:1: void f(int): n > 0", "/src/Index.cu:1369: operator(): idx < size && \"index out of bounds: 2\""));
        MachineReports.Said said = read(IMAGE, MachineFence.ASSERTION, 2);
        assertEquals("/src/Index.cu:1369: operator(): Assertion `idx < size && \"index out of bounds: 2\"` failed.", said.text());
        assertTrue(said.asItIs());
        assertEquals(CudaResult.ASSERT, said.result());
        assertEquals("a.cu:1: void f(int): Assertion `n > 0` failed.", read(IMAGE, MachineFence.ASSERTION, 1).text());
    }

    /** Code without a fence can write any word. */
    @Test
    void aWordWithoutATextOfItsImageIsSaidInGeneral() {
        reports.add(IMAGE, "9 bytes", List.of("a.cu:1: void f(int): n > 0"));
        for (int text : new int[] {0, 2, MachineFence.MOST_TEXTS}) {
            MachineReports.Said said = read(IMAGE, MachineFence.ASSERTION, text);
            assertEquals("a kernel of image 9 bytes stopped at a device-side assertion; its machine code does not say in which line", said.text());
            assertFalse(said.asItIs());
            assertEquals(CudaResult.ASSERT, said.result());
        }
        assertTrue(read(3, MachineFence.ASSERTION, 1).text().startsWith("a kernel of image of an unknown name stopped at"));
        MachineReports.Said trap = read(IMAGE, MachineFence.TRAP, 1);
        assertTrue(trap.text().startsWith("a kernel of image 9 bytes stopped at a trap"), trap.text());
        assertEquals(CudaResult.LAUNCH_FAILED, trap.result());
    }

    @Test
    void anImageThatIsGoneHasNoText() {
        reports.add(IMAGE, "9 bytes", List.of("a.cu:1: void f(int): n > 0"));
        reports.remove(IMAGE);
        assertTrue(read(IMAGE, MachineFence.ASSERTION, 1).text().startsWith("a kernel of image of an unknown name stopped at"));
    }

    /** A program may load any number of images, and each may have megabytes of texts. */
    @Test
    void textsOfAllImagesTogetherAreBounded() {
        String text = "a.cu:1: f(): " + "x".repeat(MachineReports.MOST_CHARACTERS / 4);
        for (int image = 1; image <= 4; image++) {
            reports.add(image, "9 bytes", List.of(text));
        }
        assertTrue(read(3, MachineFence.ASSERTION, 1).asItIs());
        assertFalse(read(4, MachineFence.ASSERTION, 1).asItIs());
        reports.remove(1);
        reports.add(5, "9 bytes", List.of(text));
        assertTrue(read(5, MachineFence.ASSERTION, 1).asItIs(), "what is gone makes room");
    }
}
