package io.tessera.software.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.compile.KernelCompiler;
import io.tessera.software.execution.KernelTranslator;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import io.tessera.software.program.ValueType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every generated case, compiled against interpreted. */
@Timeout(300)
class ConformanceTest {
    private static final long SEED = 20250101;
    private static final int RECORDS = 256;
    private static final long MEMORY_BYTES = 64L << 20;

    private static SoftwareProcessor processor(KernelTranslator translator) {
        return new SoftwareProcessor(new ProcessorOptions(MEMORY_BYTES, 1, DeviceLimits.of(2), translator,
                DeviceClock.system()));
    }

    @Test
    void compiledEqualsInterpreted() throws PtxException {
        Interpreter interpreter = new Interpreter();
        List<String> differences = new ArrayList<>();
        try (SoftwareProcessor reference = processor(interpreter);
                SoftwareProcessor compiled = processor(new KernelCompiler(interpreter, () -> 0))) {
            for (ConformanceCase next : ConformanceSuite.cases(RECORDS, SEED)) {
                List<String> found = ConformanceSuite.differences(next, ConformanceSuite.run(reference, next),
                        ConformanceSuite.run(compiled, next));
                if (!found.isEmpty()) {
                    differences.add(found.getFirst() + " (and " + (found.size() - 1) + " more)");
                }
            }
        }
        assertEquals(List.of(), differences, "seed " + SEED);
    }

    @Test
    void casesHaveNamesOfTheirOwn() {
        Set<String> names = new HashSet<>();
        for (ConformanceCase next : ConformanceSuite.cases(RECORDS, SEED)) {
            assertTrue(names.add(next.name()), next.name());
        }
        assertTrue(names.size() > 1200, names.size() + " cases");
    }

    @Test
    void tolerancesRefuseMoreThanTheyAllow() {
        int one = Float.floatToRawIntBits(1);
        assertTrue(Tolerance.ulps(2).accepts(ValueType.F32, one, one + 2));
        assertFalse(Tolerance.ulps(2).accepts(ValueType.F32, one, one + 3));
        assertFalse(Tolerance.EXACT.accepts(ValueType.F32, 0, 0x80000000L), "signs of zero differ");
        assertTrue(Tolerance.EXACT.accepts(ValueType.F32, 0x7fffffff, 0x7fc00000), "NaNs are equal");
        assertFalse(Tolerance.absolute(1).accepts(ValueType.F32, 0x7fffffff, one));
        assertFalse(Tolerance.absolute(1).accepts(ValueType.U32, 1, 2));
        assertFalse(Tolerance.EXACT.accepts(ValueType.F16X2, 0x3C003C00, 0x3C003C01));
    }
}
