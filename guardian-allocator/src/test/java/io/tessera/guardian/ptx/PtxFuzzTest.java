package io.tessera.guardian.ptx;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.ptx.print.PtxPrinter;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;

/** Damaged modules are refused by {@link PtxException}, or read to something that survives its own round trip. */
class PtxFuzzTest {
    private static final Duration BOUND = Duration.ofSeconds(10);
    private static final List<byte[]> SAMPLES = Samples.files(".ptx").stream().map(Samples::bytes).toList();
    private static final Pattern REGISTER = Pattern.compile("%[a-z]+\\d+");
    private static final String[] PIECES = {"{", "}", "(", ")", "[", "]", ",", ";", ":", "@", "@!p", "!", "|", "<5>",
            ".b32", ".reg .b32 q;", "%r1", "_", "-1", "0f", "0x", "1.", "1e", "\"", "/*", "*/", "//", "\n", ".param", "=",
            "generic(", "99999999999999999999999", "?", "%", ".", "::", "$", ".section .x {", "\0", "\u00ff",
            ".local .u8 z<60000>;", "call (", "ret;", "<2147483647>"};

    @Provide
    Arbitrary<Integer> sample() {
        return Arbitraries.integers().between(0, SAMPLES.size() - 1);
    }

    @Property(tries = 400, shrinking = ShrinkingMode.OFF)
    void damagedModulesAreRefusedOrSound(@ForAll("sample") int sample, @ForAll long seed,
            @ForAll @IntRange(min = 1, max = 6) int changes) {
        byte[] text = SAMPLES.get(sample);
        Random random = new Random(seed);
        for (int i = 0; i < changes; i++) {
            text = damaged(text, random);
        }
        byte[] damaged = text;
        assertTimeoutPreemptively(BOUND, () -> readOrRefuse(damaged));
    }

    @Property(tries = 400, shrinking = ShrinkingMode.OFF)
    void randomPiecesAreRefusedOrSound(@ForAll long seed, @ForAll @IntRange(min = 1, max = 200) int count) {
        Random random = new Random(seed);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(PIECES[random.nextInt(PIECES.length)]).append(random.nextBoolean() ? " " : "");
        }
        String body = random.nextBoolean() ? Samples.kernel(text.toString())
                : ".version 9.0\n.target sm_90\n" + text;
        assertTimeoutPreemptively(BOUND, () -> readOrRefuse(body.getBytes(StandardCharsets.UTF_8)));
    }

    private static void readOrRefuse(byte[] text) throws PtxException {
        PtxModule module;
        try {
            module = PtxParser.parse(text);
        } catch (PtxException refused) {
            assertEquals(refused.getMessage().indexOf(refused.line() + ":" + refused.column() + ": "), 0);
            return;
        }
        String printed = PtxPrinter.print(module);
        PtxModule again = PtxParser.parse(printed);
        String printedAgain = PtxPrinter.print(again);
        assertEquals(REGISTER.matcher(printed).replaceAll("%r"), REGISTER.matcher(printedAgain).replaceAll("%r"));
        assertEquals(again, PtxParser.parse(printedAgain));
    }

    /** A sum as an operand is an instruction of its own when it is printed, so its register comes before those of the instruction. */
    @Example
    void registersOfSumsAreNumberedAnew() throws PtxException {
        readOrRefuse(Samples.kernel(".reg .b32 %a<4>; mov.b32 %a1, 1; add.s32 %a2, %a1, %a1+1;").getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] damaged(byte[] text, Random random) {
        int from = random.nextInt(text.length);
        int to = Math.min(text.length, from + random.nextInt(1 + random.nextInt(200)));
        ByteArrayOutputStream out = new ByteArrayOutputStream(text.length + 64);
        out.write(text, 0, from);
        switch (random.nextInt(5)) {
            case 0 -> out.write(random.nextInt(256));
            case 1 -> out.writeBytes(PIECES[random.nextInt(PIECES.length)].getBytes(StandardCharsets.UTF_8));
            case 2 -> {
                out.write(text, from, to - from);
                out.write(text, from, to - from);
            }
            case 3 -> {
                int other = random.nextInt(text.length);
                out.write(text, other, Math.min(text.length - other, to - from));
            }
            default -> {
                // No replacement: the piece is deleted.
            }
        }
        out.write(text, to, text.length - to);
        return out.size() == 0 ? text : out.toByteArray();
    }
}
