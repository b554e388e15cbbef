package io.tessera.guardian.ptx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.ptx.print.PtxPrinter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A text that is read, printed and read again is the same; a text that is printed once more is the same. */
@Timeout(180)
class RoundTripTest {
    static List<Path> modules() {
        return Samples.files(".ptx");
    }

    @ParameterizedTest
    @MethodSource("modules")
    void treeAndTextStayTheSame(Path file) throws PtxException {
        PtxModule module = PtxParser.parse(Samples.bytes(file));
        String printed = PtxPrinter.print(module);
        PtxModule again = PtxParser.parse(printed);
        assertEquals(module, again);
        assertEquals(module.hashCode(), again.hashCode());
        assertEquals(printed, PtxPrinter.print(again));
    }

    @Test
    void theSamplesAreThere() {
        assertTrue(modules().size() >= 7, modules().toString());
    }

    @ParameterizedTest
    @MethodSource("modules")
    void linesAreThoseOfTheText(Path file) throws PtxException {
        List<String> lines = new String(Samples.bytes(file), StandardCharsets.UTF_8).lines().toList();
        int checked = 0;
        for (PtxFunction function : PtxParser.parse(Samples.bytes(file)).functions()) {
            if (function.body().isPresent()) {
                checked += check(function.body().get(), lines);
            }
        }
        assertTrue(checked > 10, "only " + checked + " instructions");
    }

    private static int check(Block block, List<String> lines) {
        int checked = 0;
        for (Statement statement : block.statements()) {
            if (statement instanceof Instruction instruction) {
                String line = lines.get(instruction.line() - 1);
                assertTrue(line.contains(instruction.opcode()), instruction.line() + ": " + line);
                checked++;
            }
        }
        return checked;
    }
}
