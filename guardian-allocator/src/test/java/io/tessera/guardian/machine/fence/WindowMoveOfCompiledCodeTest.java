package io.tessera.guardian.machine.fence;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.NvccCubins;
import io.tessera.guardian.machine.WindowPlaces;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** As {@link WindowMoveTest}, for the output of nvcc, with reports, looks and aligned addresses, and without. */
@Tag("nvcc")
@Timeout(240)
class WindowMoveOfCompiledCodeTest {
    private static final long STOP = 0x7f12_3456_7000L;
    private static final long REPORTS = 0x7f00_0000_0a00L;
    @TempDir
    static Path folder;

    @BeforeAll
    static void findCompiler() {
        NvccCubins.require();
    }

    @ParameterizedTest
    @CsvSource({"machine/forms, sm_90", "machine/forms, sm_90a", "machine/forms, sm_80", "machine/forms, sm_89", "ptx/calls, sm_90",
            "ptx/memory, sm_90",
            "ptx/pipelines, sm_90", "ptx/calls, sm_80"})
    void movedCodeIsWhatIsFencedForTheOtherWindow(String source, String architecture) throws Exception {
        byte[] cubin = NvccCubins.compile(folder, source, architecture);
        for (MachineFence window : MachineFences.windows().toList()) {
            for (MachineFence from : new MachineFence[] {window, window.aligning().looking(STOP).reporting(REPORTS, 3)}) {
                WindowPlaces places = WindowMoveTest.assertMoves(cubin, from, from.at(0x2000));
                assertTrue(places.count() > 0);
            }
        }
    }
}
