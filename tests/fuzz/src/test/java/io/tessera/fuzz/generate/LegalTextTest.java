package io.tessera.fuzz.generate;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Legal kernels hold nothing that NVIDIA's assembler and the PTX ISA take for different things: their results are compared between GPUs. */
class LegalTextTest {
    private static final Pattern SIGNED_FIELD = Pattern.compile("bfe\\.s32 [^,]+, [^,]+, (\\d+), \\d+;");
    /** Kernels that differed on an H200 (ptxas makes -1 of a signed field whose constant start is beyond the word), and those behind a seed. */
    private static final LongStream SEEDS = LongStream.concat(LongStream.of(20000945, 20001139), LongStream.range(20000000, 20000600));

    @Test
    void signedFieldsStartWithinTheWord() {
        int[] fields = new int[1];
        SEEDS.mapToObj(KernelGenerator::of).filter(kernel -> !kernel.hostile()).forEach(kernel -> {
            Matcher field = SIGNED_FIELD.matcher(kernel.flat());
            while (field.find()) {
                fields[0]++;
                assertTrue(Integer.parseInt(field.group(1)) < Integer.SIZE, () -> "seed " + kernel.seed() + ": " + field.group());
            }
        });
        assertTrue(fields[0] > 10, fields[0] + " signed fields");
    }
}
