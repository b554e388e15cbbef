package io.tessera.software.kernels.barriers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.software.clock.DeviceClock;
import io.tessera.software.compile.KernelCompiler;
import io.tessera.software.interpret.Interpreter;
import io.tessera.software.kernels.FenceWindow;
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
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Kernels with mbarriers, fenced: words of shared memory of the kernel's own, which compute what the device's do. */
@Timeout(300)
class MemoryBarriersTest {
    private static final List<FenceMode> MODES = List.of(FenceMode.MASK, FenceMode.MODULO, FenceMode.CHECK);
    static final String HEAD = """
            .version 8.6
            .target sm_90
            .address_size 64
            .visible .entry k(.param .u64 out)
            {
            .shared .align 8 .b64 bar;
            .shared .align 8 .b64 other;
            .shared .align 128 .b8 slots[4096];
            .reg .b32 %r<40>;
            .reg .b64 %d<20>;
            .reg .pred %p<8>;
            ld.param.u64 %d1, [out];
            mov.u32 %r1, %tid.x;
            mul.wide.u32 %d2, %r1, 4;
            add.u64 %d3, %d1, %d2;
            mov.u32 %r2, bar;
            mov.u32 %r5, slots;
            mad.lo.u32 %r6, %r1, 4, %r5;
            mov.u32 %r8, 0;
            setp.eq.u32 %p1, %r1, 0;
            """;
    static final String TAIL = "st.global.u32 [%d3], %r8;\nret;\n}\n";

    private static SoftwareProcessor processor(boolean compiled) {
        Interpreter interpreter = new Interpreter();
        return new SoftwareProcessor(new ProcessorOptions(FenceWindow.MEMORY_BYTES, 2, DeviceLimits.of(3),
                compiled ? new KernelCompiler(interpreter, () -> 0) : interpreter, DeviceClock.system()));
    }

    private static LaunchOutcome launch(SoftwareProcessor processor, LoadedModule module, int threads, long out) {
        byte[] arguments = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(out).array();
        return processor.launch(module.kernel("k"), new LaunchSpec(new Dim3(1, 1, 1), new Dim3(threads, 1, 1), null, 0, arguments, false),
                text -> {}, new GridControl());
    }

    private static LaunchOutcome launchPair(SoftwareProcessor processor, LoadedModule module, int threads, long out) {
        byte[] arguments = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(out).array();
        return processor.launch(module.kernel("k"), new LaunchSpec(new Dim3(2, 1, 1), new Dim3(threads, 1, 1), new Dim3(2, 1, 1),
                FencedModule.CLUSTER_BYTES, arguments, false), text -> {}, new GridControl());
    }

    /** Returns what a fenced kernel leaves in as many words as asked for, where each held a number before. */
    static int[] fenced(String text, FenceMode mode, boolean compiled, int threads, int words) throws Exception {
        try (SoftwareProcessor processor = processor(compiled)) {
            FenceWindow window = new FenceWindow(processor, mode);
            long out = window.allocate(4L * words);
            for (int i = 0; i < words; i++) {
                RealMemory.putInt(out + 4L * i, i * 3 + 1);
            }
            assertEquals(LaunchOutcome.COMPLETED, launch(processor, window.load(text), threads, out), mode.toString());
            assertEquals(List.of(), window.violations(), mode.toString());
            int[] found = new int[words];
            for (int i = 0; i < words; i++) {
                found[i] = RealMemory.getInt(out + 4L * i);
            }
            return found;
        }
    }

    private static int[] plain(String text, boolean compiled, int threads) throws Exception {
        try (SoftwareProcessor processor = processor(compiled)) {
            long out = processor.memory().allocate(4L * threads);
            assertEquals(LaunchOutcome.COMPLETED, launch(processor, processor.load(text), threads, out));
            int[] found = new int[threads];
            for (int i = 0; i < threads; i++) {
                found[i] = RealMemory.getInt(out + 4L * i);
            }
            return found;
        }
    }

    @Test
    void drawnFormsOfArrivingAndWaitingComputeTheSame() throws Exception {
        long seed = new Random().nextLong();
        for (int i = 0; i < 8; i++) {
            RandomPhases kernel = new RandomPhases(seed + i);
            String what = "seed " + (seed + i) + "\n" + kernel.ptx();
            assertArrayEquals(kernel.expected(), plain(kernel.ptx(), i % 2 == 0, kernel.threads), what);
            assertArrayEquals(kernel.expected(), fenced(kernel.ptx(), MODES.get(i % MODES.size()), i % 4 < 2, kernel.threads, kernel.threads), what);
        }
    }

    /** Lanes see that a phase is over while another lane of their warp, which ended it, has still to make the next; they expect bytes first. */
    @Test
    void bytesAreExpectedBeforeAPhaseIsMade() throws Exception {
        RandomPhases kernel = new RandomPhases(-3597922634332555475L);
        assertArrayEquals(kernel.expected(), fenced(kernel.ptx(), FenceMode.MASK, false, kernel.threads, kernel.threads));
    }

    /** One thread, with counts and bytes of all sizes: after each step the same phases are over as at the device's barriers. */
    @Test
    void drawnCountsAndBytesComputeTheSame() throws Exception {
        long seed = new Random().nextLong();
        for (int i = 0; i < 6; i++) {
            String text = HEAD + "@!%p1 bra done;\n" + new RandomCounts(seed + i).text() + "done:\n" + TAIL;
            assertArrayEquals(plain(text, i % 2 == 0, 1), fenced(text, MODES.get(i % MODES.size()), i % 4 < 2, 1, 1),
                    "seed " + (seed + i) + "\n" + text);
        }
    }

    /** Lanes of a warp come to two barriers by turns, then all to one that is computed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void lanesMayComeToDifferentBarriers(boolean compiled) throws Exception {
        String text = HEAD + """
                @%p1 mbarrier.init.shared.b64 [slots+2048], 48;
                @%p1 mbarrier.init.shared.b64 [slots+2056], 48;
                @%p1 mbarrier.init.shared.b64 [slots+2064], 96;
                bar.sync 0;
                and.b32 %r9, %r1, 1;
                mad.lo.u32 %r9, %r9, 8, %r5;
                st.shared.u32 [%r6], %r1;
                again:
                mbarrier.arrive.shared.b64 %d4, [%r9+2048];
                wait:
                mbarrier.try_wait.shared.b64 %p2, [%r9+2048], %d4;
                @!%p2 bra wait;
                xor.b32 %r10, %r6, 8;
                ld.shared.u32 %r11, [%r10];
                mad.lo.u32 %r8, %r8, 31, %r11;
                and.b32 %r12, %r1, 0;
                add.u32 %r12, %r12, %r5;
                mbarrier.arrive.shared.b64 %d5, [%r12+2064];
                together:
                mbarrier.try_wait.shared.b64 %p2, [%r12+2064], %d5;
                @!%p2 bra together;
                add.u32 %r11, %r11, 1;
                st.shared.u32 [%r6], %r11;
                add.u32 %r13, %r13, 1;
                setp.lt.u32 %p3, %r13, 5;
                @%p3 bra again;
                """.replace("again:", "mov.u32 %r13, 0;\nagain:") + TAIL;
        assertArrayEquals(plain(text, compiled, 96), fenced(text, FenceMode.MASK, compiled, 96, 96));
    }

    /** Each thread leaves for ever after as many phases as its number says. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoDropsIsNotWaitedFor(boolean compiled) throws Exception {
        String text = HEAD + """
                @%p1 mbarrier.init.shared.b64 [%r2], 40;
                bar.sync 0;
                again:
                setp.eq.u32 %p2, %r8, %r1;
                @%p2 bra drop;
                mbarrier.arrive.shared.b64 %d4, [%r2];
                wait:
                mbarrier.try_wait.shared.b64 %p3, [%r2], %d4, 1000;
                @!%p3 bra wait;
                add.u32 %r8, %r8, 1;
                bra again;
                drop:
                mbarrier.arrive_drop.shared.b64 %d4, [%r2];
                """ + TAIL;
        for (FenceMode mode : compiled ? MODES : List.of(FenceMode.MASK)) {
            int[] found = fenced(text, mode, compiled, 40, 40);
            for (int t = 0; t < found.length; t++) {
                assertEquals(t, found[t], mode.toString());
            }
        }
        assertArrayEquals(plain(text, compiled, 40), fenced(text, FenceMode.MASK, compiled, 40, 40));
    }

    /** 32 lanes come to a barrier that waits for 5: phases end in the middle of the warp, and each lane gets the state of its own. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aWarpMayEndSeveralPhasesAtOnce(boolean compiled) throws Exception {
        String text = HEAD + """
                @%p1 mbarrier.init.shared.b64 [%r2], 5;
                bar.sync 0;
                mbarrier.arrive.shared.b64 %d4, [%r2];
                bar.sync 0;
                mbarrier.pending_count.b64 %r8, %d4;
                st.shared.u32 [%r6], %r8;
                mbarrier.arrive.shared.b64 %d5, [%r2], 0;
                mbarrier.pending_count.b64 %r9, %d5;
                mad.lo.u32 %r8, %r9, 100, %r8;
                """ + TAIL;
        int[] found = fenced(text, FenceMode.MASK, compiled, 32, 32);
        int[] before = new int[6];
        for (int value : found) {
            // After 32 arrivals three of five are left of the seventh phase.
            assertEquals(3, value / 100);
            before[value % 100]++;
        }
        assertArrayEquals(new int[] {0, 6, 6, 6, 7, 7}, before);
    }

    /** Copies of four bytes with both kinds of arrival. */
    @ParameterizedTest
    @EnumSource(value = FenceMode.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void copiesArrive(FenceMode mode) throws Exception {
        String text = HEAD + """
                @%p1 mbarrier.init.shared.b64 [%r2], 64;
                @%p1 mbarrier.init.shared.b64 [other], 64;
                bar.sync 0;
                cp.async.ca.shared.global [%r6], [%d3], 4;
                cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r2];
                cp.async.ca.shared.global [%r6+1024], [%d3], 4;
                cp.async.mbarrier.arrive.shared.b64 [other];
                mbarrier.arrive.shared.b64 %d4, [other];
                wait:
                mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0;
                mbarrier.test_wait.shared.b64 %p3, [other], %d4;
                and.pred %p2, %p2, %p3;
                @!%p2 bra wait;
                mbarrier.inval.shared.b64 [%r2];
                xor.b32 %r9, %r1, 63;
                mad.lo.u32 %r9, %r9, 4, %r5;
                ld.shared.u32 %r10, [%r9];
                ld.shared.u32 %r11, [%r9+1024];
                mad.lo.u32 %r8, %r11, 1000, %r10;
                """ + TAIL;
        int[] found = fenced(text, mode, true, 64, 64);
        for (int t = 0; t < 64; t++) {
            assertEquals(((63 - t) * 3 + 1) * 1001, found[t]);
        }
    }

    /** Stores, reductions and copies that complete on a barrier of a block of the cluster, which is the own here. */
    @ParameterizedTest
    @EnumSource(value = FenceMode.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void whatGoesToABlockOfTheClusterCompletes(FenceMode mode) throws Exception {
        String text = HEAD + """
                @%p1 mbarrier.init.shared.b64 [%r2], 1;
                mov.u32 %r9, 7;
                st.shared.u32 [%r6], %r9;
                st.shared.u32 [%r6+1024], %r1;
                bar.sync 0;
                @!%p1 bra remote;
                mbarrier.arrive.expect_tx.shared::cta.b64 %d4, [%r2], 1536;
                remote:
                mapa.shared::cluster.u32 %r10, %r2, 0;
                mapa.shared::cluster.u32 %r11, %r6, 0;
                mov.u32 %r12, 5;
                red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r11], %r1, [%r10];
                st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r11+512], %r12, [%r10];
                @!%p1 bra wait;
                mapa.shared::cluster.u32 %r13, %r5, 0;
                cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r13+2048], [slots+1024], 512, [%r10];
                cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13+3072], [%d1], 512, [%r10];
                wait:
                mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
                @!%p2 bra wait;
                ld.shared.u32 %r14, [%r6+512];
                ld.shared.u32 %r15, [%r6+2048];
                ld.shared.u32 %r16, [%r6+3072];
                mad.lo.u32 %r8, %r14, 1000, %r15;
                mad.lo.u32 %r8, %r8, 1000, %r16;
                bar.sync 0;
                """ + TAIL;
        int[] found = fenced(text, mode, true, 64, 128);
        for (int t = 0; t < 64; t++) {
            assertEquals((5 * 1000 + t) * 1000 + t * 3 + 1, found[t]);
        }
    }

    /** Two blocks tell and send each other what they have. */
    @ParameterizedTest
    @EnumSource(value = FenceMode.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void blocksOfAClusterMeet(FenceMode mode) throws Exception {
        String text = HEAD + """
                mov.u32 %r20, %cluster_ctarank;
                xor.b32 %r21, %r20, 1;
                mad.lo.u32 %r22, %r20, 1000, %r1;
                @%p1 mbarrier.init.shared.b64 [%r2], 65;
                @%p1 fence.mbarrier_init.release.cluster;
                st.shared.u32 [%r6], %r22;
                barrier.cluster.arrive.release;
                barrier.cluster.wait.acquire;
                @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %d4, [%r2], 1024;
                mapa.shared::cluster.u32 %r10, %r2, %r21;
                mapa.shared::cluster.u32 %r11, %r6, %r21;
                mapa.shared::cluster.u32 %r13, %r5, %r21;
                st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r11+1024], %r22, [%r10];
                @%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r13+2048], [slots], 256, [%r10];
                @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13+3072], [%d1], 512, [%r10];
                mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10];
                wait:
                mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r2], 0;
                @!%p2 bra wait;
                ld.shared.u32 %r14, [%r6+1024];
                ld.shared.u32 %r15, [%r6+2048];
                ld.shared.u32 %r16, [%r6+3072];
                mad.lo.u32 %r8, %r14, 10000, %r15;
                mad.lo.u32 %r8, %r8, 1000, %r16;
                barrier.cluster.arrive;
                barrier.cluster.wait;
                mul.wide.u32 %d2, %r20, 256;
                add.u64 %d3, %d3, %d2;
                """ + TAIL;
        try (SoftwareProcessor processor = processor(true)) {
            FenceWindow window = new FenceWindow(processor, mode);
            long out = window.allocate(4L * 128);
            for (int i = 0; i < 128; i++) {
                RealMemory.putInt(out + 4L * i, i * 3 + 1);
            }
            assertEquals(LaunchOutcome.COMPLETED, launchPair(processor, window.load(text), 64, out));
            assertEquals(List.of(), window.violations());
            for (int i = 0; i < 128; i++) {
                int sent = (1 - i / 64) * 1000 + i % 64;
                assertEquals((sent * 10000 + sent) * 1000 + i % 64 * 3 + 1, RealMemory.getInt(out + 4L * i));
            }
        }
    }

    /**
     * Nobody else comes, or the word is none that a barrier was made in: a waiting thread is ended with the tenant, and nothing else
     * happens.
     */
    @ParameterizedTest
    @ValueSource(strings = {"@%p1 mbarrier.init.shared.b64 [bar], 2;", "mov.u64 %d5, 1234567;\nst.shared.u64 [bar], %d5;",
            "mov.u64 %d5, -1;\nst.shared.u64 [bar], %d5;"})
    void theStopWordEndsWhoWaits(String made) throws Exception {
        String endless = HEAD + made + """
                bar.sync 0;
                mbarrier.arrive.shared.b64 %d4, [bar];
                wait:
                mbarrier.arrive.shared.b64 %d4, [bar], 0;
                mbarrier.try_wait.shared.b64 %p2, [bar], %d4;
                @!%p2 bra wait;
                bra wait;
                """ + TAIL;
        try (SoftwareProcessor processor = processor(true)) {
            FenceWindow window = new FenceWindow(processor, FenceMode.MASK);
            long out = window.allocate(4L * 64);
            LoadedModule module = window.load(endless);
            Thread launch = Thread.ofPlatform().daemon().start(() -> launch(processor, module, 64, out));
            assertTrue(!launch.join(Duration.ofMillis(200)), "it does not wait");
            RealMemory.putInt(window.stopWord, 0);
            launch.join(TimeUnit.SECONDS.toMillis(60));
            assertTrue(!launch.isAlive(), "it was not ended");
            assertEquals(0, RealMemory.getInt(out));
        }
    }

    /** Counts that no barrier may have, lengths and addresses of copies that there are not. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatNoProgramMayDoHarmsNobody(boolean compiled) throws Exception {
        String text = HEAD + """
                mov.u32 %r9, -1;
                mov.u64 %d6, 0x123456789abcdef0;
                mbarrier.arrive.shared.b64 %d4, [bar];
                mbarrier.init.shared.b64 [bar], %r9;
                mbarrier.arrive.shared.b64 %d4, [bar], %r9;
                mbarrier.arrive_drop.shared.b64 %d4, [bar], %r1;
                mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], %r9;
                mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], %r9;
                mbarrier.arrive.shared.b64 %d4, [%r9];
                mbarrier.arrive.b64 %d4, [%d6];
                mbarrier.init.shared.b64 [%r1], 1;
                mbarrier.test_wait.shared.b64 %p2, [%r9+3], %d6;
                @!%p1 bra done;
                cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%d1], %r9, [%r9];
                cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [slots], [%d6], %r9, [bar];
                cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [slots+4], [%d1+4], 80, [bar+4];
                done:
                mov.u32 %r8, 1;
                """ + TAIL;
        for (FenceMode mode : List.of(FenceMode.MASK, FenceMode.MODULO)) {
            for (int value : fenced(text, mode, compiled, 64, 64)) {
                assertEquals(1, value);
            }
        }
    }
}
