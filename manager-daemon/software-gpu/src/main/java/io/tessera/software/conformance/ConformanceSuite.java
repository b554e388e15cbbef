package io.tessera.software.conformance;

import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedModule;
import io.tessera.software.processor.SoftwareProcessor;
import io.tessera.software.program.ValueType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** All conformance cases, and the means to run and judge a case. Stateless. */
public final class ConformanceSuite {
    private ConformanceSuite() {
    }

    /**
     * Every case; equal for equal seeds.
     *
     * @param records records of each case, a multiple of 32; 512 hold most pairs of special values
     */
    public static List<ConformanceCase> cases(int records, long seed) {
        List<InstructionForm> forms = new ArrayList<>(IntegerForms.all());
        forms.addAll(VideoForms.all());
        forms.addAll(CompareForms.all());
        forms.addAll(FloatForms.all());
        forms.addAll(ConvertForms.all());
        forms.addAll(SharingForms.all());
        return CaseWriter.writeAll(forms, records, seed);
    }

    /**
     * Runs a case on a software GPU: with the interpreter, that gives the expected output.
     *
     * @return the output records
     * @throws PtxException if the generated text is not PTX
     */
    public static byte[] run(SoftwareProcessor processor, ConformanceCase wanted) throws PtxException {
        long in = processor.memory().allocate(Math.max(1, wanted.input().length));
        long out = processor.memory().allocate(wanted.outputBytes());
        try (LoadedModule module = processor.load(wanted.ptx())) {
            RealMemory.put(in, wanted.input());
            byte[] parameters = ByteBuffer.allocate(20).order(ByteOrder.LITTLE_ENDIAN).putLong(in).putLong(out)
                    .putInt(wanted.records()).array();
            Dim3 grid = new Dim3((wanted.records() + ConformanceCase.BLOCK - 1) / ConformanceCase.BLOCK, 1, 1);
            processor.launch(module.kernel("run"), LaunchSpec.of(grid, new Dim3(ConformanceCase.BLOCK, 1, 1), 0,
                    parameters), text -> {
                        throw new IllegalStateException("a conformance case prints");
                    }, new GridControl());
            return RealMemory.get(out, wanted.outputBytes());
        } finally {
            processor.memory().free(in);
            processor.memory().free(out);
        }
    }

    /** Returns the differences, one line per record with inputs and results in hexadecimal; empty if there are none. */
    public static List<String> differences(ConformanceCase of, byte[] expected, byte[] actual) {
        ByteBuffer wanted = ByteBuffer.wrap(expected).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer found = ByteBuffer.wrap(actual).order(ByteOrder.LITTLE_ENDIAN);
        List<String> differences = new ArrayList<>();
        for (int record = 0; record < of.records(); record++) {
            for (int result = 0; result < of.results().size(); result++) {
                ValueType type = of.results().get(result);
                int at = (record * of.results().size() + result) * ConformanceCase.SLOT;
                if (!of.tolerance().accepts(type, wanted.getLong(at), found.getLong(at))) {
                    differences.add(of.name() + inputs(of, record) + ": result " + result + " is "
                            + Long.toHexString(found.getLong(at)) + ", expected "
                            + Long.toHexString(wanted.getLong(at)));
                }
            }
        }
        return differences;
    }

    private static String inputs(ConformanceCase of, int record) {
        ByteBuffer input = ByteBuffer.wrap(of.input()).order(ByteOrder.LITTLE_ENDIAN);
        StringBuilder text = new StringBuilder(", record ").append(record).append(" (");
        for (int source = 0; source < of.sources(); source++) {
            text.append(source == 0 ? "" : ", ").append(Long.toHexString(
                    input.getLong((record * of.sources() + source) * ConformanceCase.SLOT)));
        }
        return text.append(')').toString();
    }
}
