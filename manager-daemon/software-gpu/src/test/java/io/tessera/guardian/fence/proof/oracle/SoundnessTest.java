package io.tessera.guardian.fence.proof.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchOutcome;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedModule;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the analysis says of registers, shadows and addresses holds in every step of generated kernels on the software GPU. */
@Timeout(300)
class SoundnessTest {
    private static final int THREADS = 8;
    private static final int INPUTS = 64;
    private static final int LAUNCHES = 4;

    private static long input(Random random) {
        return switch (random.nextInt(6)) {
            case 0 -> random.nextInt(64);
            case 1 -> -random.nextInt(64);
            case 2 -> 1L << random.nextInt(64);
            case 3 -> CheckedKernel.WINDOW + random.nextLong(CheckedKernel.WINDOW_BYTES);
            case 4 -> random.nextInt();
            default -> random.nextLong();
        };
    }

    private static byte[] arguments(long in, long err, Random random) {
        return ByteBuffer.allocate(28).order(ByteOrder.LITTLE_ENDIAN).putLong(in).putLong(err).putLong(input(random))
                .putInt((int) input(random)).array();
    }

    /** Runs kernels of consecutive seeds; returns how many claims they held. */
    static int check(long firstSeed, int count, boolean directed) throws PtxException {
        int claims = 0;
        try (SoftwareProcessor processor = new SoftwareProcessor(new ProcessorOptions(64L << 20, 1, DeviceLimits.of(2),
                new Interpreter(), DeviceClock.system()))) {
            long in = processor.memory().allocate(8 * INPUTS);
            long err = processor.memory().allocate(8);
            for (long seed = firstSeed; seed < firstSeed + count; seed++) {
                Random random = new Random(seed);
                DirectedKernel kernel = directed ? new DirectedKernel(seed) : null;
                String original = directed ? kernel.text() : new RandomProofKernel(seed).text();
                CheckedKernel checked = new CheckedKernel(PtxParser.parse(original));
                claims += checked.claims();
                LoadedModule module = processor.load(checked.text());
                for (int launch = 0; launch < (directed ? LAUNCHES : 1); launch++) {
                    long[] inputs = directed ? kernel.inputs(INPUTS, random) : random.longs(INPUTS).map(any -> input(random)).toArray();
                    for (int i = 0; i < INPUTS; i++) {
                        RealMemory.putLong(in + 8L * i, inputs[i]);
                    }
                    RealMemory.putInt(err, 0);
                    LaunchOutcome outcome = processor.launch(module.kernel("k"), new LaunchSpec(new Dim3(1, 1, 1),
                            new Dim3(THREADS, 1, 1), null, 0, arguments(in, err, random), false), text -> {},
                            new GridControl());
                    String where = "seed " + seed + ", launch " + launch + "\n" + original;
                    assertEquals(LaunchOutcome.COMPLETED, outcome, where);
                    int wrong = RealMemory.getInt(err);
                    assertNull(wrong == 0 ? null : checked.claim(wrong), where);
                }
            }
        }
        return claims;
    }

    @Test
    void everyClaimHolds() throws PtxException {
        long seed = Long.getLong("tessera.seed", 1);
        assertTrue(check(seed, 150, false) > 5000, "hardly anything is claimed");
    }

    @Test
    void everyClaimHoldsWhereSumsAreComparedAndCountsRoundedDown() throws PtxException {
        long seed = Long.getLong("tessera.seed", 1);
        assertTrue(check(seed, 400, true) > 5000, "hardly anything is claimed");
    }
}
