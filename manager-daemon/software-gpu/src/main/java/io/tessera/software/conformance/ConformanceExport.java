package io.tessera.software.conformance;

import io.tessera.software.clock.DeviceClock;
import io.tessera.software.execution.DeviceLimits;
import io.tessera.software.interpret.Interpreter;
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
import java.util.List;

/**
 * Writes all cases with their expected outputs into one file, for a runner on another machine. Little-endian: a count;
 * then per case name, PTX and result types (each a length and bytes), kind of tolerance, its bound (f64), sources,
 * records, results, and input and expected output (each a length and bytes). Numbers are 32 bits unless said otherwise.
 */
public final class ConformanceExport {
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
            number(out, cases.size());
            for (ConformanceCase next : cases) {
                write(out, next, ConformanceSuite.run(processor, next));
            }
        }
    }

    private static void write(OutputStream out, ConformanceCase next, byte[] expected) throws IOException {
        bytes(out, next.name().getBytes(StandardCharsets.US_ASCII));
        bytes(out, next.ptx().getBytes(StandardCharsets.US_ASCII));
        bytes(out, String.join(",", next.results().stream().map(type -> type.token()).toList())
                .getBytes(StandardCharsets.US_ASCII));
        number(out, next.tolerance().kind().ordinal());
        out.write(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putDouble(next.tolerance().bound()).array());
        number(out, next.sources());
        number(out, next.records());
        number(out, next.results().size());
        bytes(out, next.input());
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
