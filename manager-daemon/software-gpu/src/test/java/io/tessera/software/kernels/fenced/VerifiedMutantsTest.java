package io.tessera.software.kernels.fenced;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.Verdict;
import io.tessera.guardian.verify.module.FenceVerifier;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.kernels.FenceWindow;
import io.tessera.software.kernels.RandomKernel;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.processor.LoadedKernel;
import io.tessera.software.processor.LoadedModule;
import io.tessera.software.processor.ProcessorOptions;
import io.tessera.software.processor.SoftwareProcessor;
import io.tessera.software.program.Parameter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.Timer;
import java.util.TimerTask;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Fenced text that is broken in one place: what the verifier still accepts touches nothing outside of its window, faults nothing, and ends.
 * {@code -Dtessera.test.seed=N} starts from another seed, {@code -Dtessera.test.mutants=N} breaks more.
 */
@Timeout(600)
class VerifiedMutantsTest {
    private static final long SEED = Long.getLong("tessera.test.seed", 4711);
    private static final int MUTANTS = Integer.getInteger("tessera.test.mutants", 80);
    private static final int EACH = 20;
    private static final int OUT_BYTES = RandomKernel.OUT_BYTES * RandomKernel.THREADS * RandomKernel.BLOCKS;
    private static final int SECRET = 0x5EC12E75;
    private static final int VICTIM_BYTES = 1 << 16;
    /** After this the stop word is zero; a loop that looks at it ends. */
    private static final long STOP_MS = 60;

    private int rejected;
    private int accepted;
    private int unreadable;

    @ParameterizedTest
    @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void whatIsAcceptedDoesNotEscape(FenceMode mode) throws Exception {
        try (SoftwareProcessor processor = new SoftwareProcessor(
                new ProcessorOptions(FenceWindow.MEMORY_BYTES, 2, DeviceLimits.of(3), new Interpreter(),
                        DeviceClock.system()))) {
            FenceWindow window = new FenceWindow(processor, mode);
            Launches launches = new Launches(processor, window);
            int made = 0;
            int whole = 0;
            int plain = 0;
            for (long seed = SEED; made < MUTANTS; seed++) {
                PtxModule program = PtxParser.parse(RandomKernel.text(seed, seed % 4 != 0));
                FencedModule fenced = new Fencer(mode).fence(program);
                if (!verify(fenced.ptx(), mode).whole()) {
                    fenced = Fencer.withoutProofs(mode, false).fence(program);
                    plain++;
                }
                Verdict verdict = verify(fenced.ptx(), mode);
                assertTrue(verdict.whole(), "seed " + seed + ": " + verdict.rejected());
                whole++;
                Mutants mutants = new Mutants(verdict.text(), new Random(seed));
                for (int i = 0; i < EACH; i++) {
                    String text = mutants.next();
                    if (text != null) {
                        made++;
                        mutant(text, fenced, mode, launches, "seed " + seed + ", mutant " + i + " " + mode);
                    }
                }
            }
            System.out.println(mode + ": of " + made + " mutants of " + whole + " kernels (" + plain + " without proofs) " + rejected
                    + " were rejected, " + unreadable + " are no PTX, "
                    + accepted + " were run (seed " + SEED + ")");
        }
        assertTrue(rejected > MUTANTS / 10 && accepted > MUTANTS / 10, rejected + " rejected, " + accepted + " accepted");
    }

    private static Verdict verify(String text, FenceMode mode) throws UnverifiedException {
        return FenceVerifier.verify(text.getBytes(StandardCharsets.US_ASCII), Mode.valueOf(mode.name()), false);
    }

    private void mutant(String text, FencedModule fenced, FenceMode mode, Launches launches, String what) throws Exception {
        Verdict verdict;
        try {
            verdict = verify(text, mode);
        } catch (UnverifiedException e) {
            rejected++;
            return;
        }
        if (!verdict.whole()) {
            rejected++;
            return;
        }
        PtxModule module = PtxParser.parse(verdict.text());
        LoadedModule loaded;
        try {
            loaded = launches.window.load(with(fenced, module));
            loaded.kernel("k");
        } catch (PtxException | RuntimeException e) {
            unreadable++;
            return;
        }
        accepted++;
        launches.run(loaded, what + "\n" + text);
    }

    private static FencedModule with(FencedModule fenced, PtxModule module) {
        return new FencedModule(fenced.mode(), module, fenced.id(), fenced.variables(), fenced.patches(), fenced.functions(), fenced.assertTexts(),
                fenced.tensorMaps(), fenced.refused(), fenced.clusters(), fenced.waits(), fenced.reports());
    }

    /** Runs kernels on hostile arguments, and looks at what they must not reach. */
    private static final class Launches {
        private final SoftwareProcessor processor;
        private final FenceWindow window;
        private final long in;
        private final long out;
        private final long victim;
        private final Timer timer = new Timer("stop word", true);
        private int count;

        private Launches(SoftwareProcessor processor, FenceWindow window) {
            this.processor = processor;
            this.window = window;
            in = window.allocate(RandomKernel.IN_BYTES);
            out = window.allocate(OUT_BYTES);
            victim = processor.memory().allocate(VICTIM_BYTES);
            for (int i = 0; i < VICTIM_BYTES; i += Integer.BYTES) {
                RealMemory.putInt(victim + i, SECRET);
            }
        }

        private void run(LoadedModule module, String what) {
            Random random = new Random(count);
            for (int i = 0; i < RandomKernel.IN_BYTES; i += Integer.BYTES) {
                RealMemory.putInt(in + i, random.nextInt());
            }
            long constants = module.globals().get(WindowConstants.NAME).address();
            long[] targets = {victim, victim + VICTIM_BYTES / 2, constants, window.report, window.stopWord, 0, -1, random.nextLong()};
            LoadedKernel kernel = module.kernel("k");
            List<Parameter> parameters = kernel.kernel().entry().parameters();
            ByteBuffer packed = ByteBuffer.allocate(kernel.kernel().parameterBytes()).order(ByteOrder.LITTLE_ENDIAN);
            packed.putLong(parameters.get(0).offset(), in).putLong(parameters.get(1).offset(), out)
                    .putInt(parameters.get(2).offset(), random.nextInt())
                    .putLong(parameters.get(3).offset(), targets[count++ % targets.length]);
            int[] before = words(constants);
            TimerTask stop = new TimerTask() {
                @Override
                public void run() {
                    RealMemory.putInt(window.stopWord, 0);
                }
            };
            timer.schedule(stop, STOP_MS);
            try {
                processor.launch(kernel,
                        new LaunchSpec(new Dim3(RandomKernel.BLOCKS, 1, 1), new Dim3(RandomKernel.THREADS, 1, 1), null, 0, packed.array(), false),
                        text -> {}, new GridControl());
            } catch (RuntimeException e) {
                throw new AssertionError("what was accepted faults: " + e + " " + what, e);
            }
            stop.cancel();
            for (int i = 0; i < VICTIM_BYTES; i += Integer.BYTES) {
                assertEquals(SECRET, RealMemory.getInt(victim + i), what);
            }
            for (int i = 0; i < OUT_BYTES; i += Integer.BYTES) {
                assertTrue(RealMemory.getInt(out + i) != SECRET, what);
                RealMemory.putInt(out + i, 0);
            }
            assertEquals(List.of(before[0], before[1], before[2], before[3]), List.of(words(constants)[0], words(constants)[1], words(constants)[2],
                    words(constants)[3]), what);
            int word = RealMemory.getInt(window.stopWord);
            assertTrue(word == 0 || word == WindowConstants.GO_ON, what);
            RealMemory.putInt(window.stopWord, WindowConstants.GO_ON);
        }

        private static int[] words(long address) {
            int[] words = new int[WindowConstants.BYTES / Integer.BYTES];
            for (int i = 0; i < words.length; i++) {
                words[i] = RealMemory.getInt(address + (long) i * Integer.BYTES);
            }
            return words;
        }
    }
}
