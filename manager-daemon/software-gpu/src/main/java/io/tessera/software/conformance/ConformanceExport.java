package io.tessera.software.conformance;

import io.tessera.software.clock.DeviceClock;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes all cases with their expected outputs into one file, for {@code tests/gpu/programs/conformance.c} on another
 * machine. Little-endian, numbers of 32 bits unless said otherwise: the word {@link #MAGIC}; a count of inputs and each
 * input; a count of cases and, per case, name, PTX and result types, kind of tolerance, its bound (f64), number of the
 * input, sources, records, results and the expected output. Texts, inputs and outputs are a length and bytes; types are
 * tokens with commas between them.
 */
public final class ConformanceExport {
    /** First word of a file, "TSC1" in a dump of it. */
    static final int MAGIC = 0x31435354;
    private static final long MEMORY_BYTES = 64L << 20;
    private static final int RECORDS = 512;

    private ConformanceExport() {
    }

    /**
     * Writes the file.
     *
     * @param arguments the file's path, then the seed
     */
    public static void main(String[] arguments) throws Exception {
        List<ConformanceCase> cases = ConformanceSuite.cases(RECORDS, Long.parseLong(arguments[1]));
        try (SoftwareProcessor processor = new SoftwareProcessor(new ProcessorOptions(MEMORY_BYTES, 1,
                DeviceLimits.of(2), new Interpreter(), DeviceClock.system()));
                OutputStream out = new BufferedOutputStream(Files.newOutputStream(Path.of(arguments[0])))) {
            number(out, MAGIC);
            Map<ByteBuffer, Integer> inputs = inputs(out, cases);
            number(out, cases.size());
            for (ConformanceCase next : cases) {
                write(out, next, inputs.get(ByteBuffer.wrap(next.input())), ConformanceSuite.run(processor, next));
            }
        }
    }

    /** Writes every different input once; the answer gives their numbers. */
    private static Map<ByteBuffer, Integer> inputs(OutputStream out, List<ConformanceCase> cases) throws IOException {
        Map<ByteBuffer, Integer> numbers = new LinkedHashMap<>();
        cases.forEach(next -> numbers.putIfAbsent(ByteBuffer.wrap(next.input()), numbers.size()));
        number(out, numbers.size());
        for (ByteBuffer input : numbers.keySet()) {
            bytes(out, input.array());
        }
        return numbers;
    }

    private static void write(OutputStream out, ConformanceCase next, int input, byte[] expected)
            throws IOException {
        bytes(out, next.name().getBytes(StandardCharsets.US_ASCII));
        bytes(out, next.ptx().getBytes(StandardCharsets.US_ASCII));
        bytes(out, String.join(",", next.results().stream().map(type -> type.token()).toList())
                .getBytes(StandardCharsets.US_ASCII));
        number(out, next.tolerance().kind().ordinal());
        out.write(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putDouble(next.tolerance().bound()).array());
        number(out, input);
        number(out, next.sources());
        number(out, next.records());
        number(out, next.results().size());
        bytes(out, expected);
    }

    private static void number(OutputStream out, int value) throws IOException {
        out.write(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array());
    }

    private static void bytes(OutputStream out, byte[] value) throws IOException {
        number(out, value.length);
        out.write(value);
    }
}
