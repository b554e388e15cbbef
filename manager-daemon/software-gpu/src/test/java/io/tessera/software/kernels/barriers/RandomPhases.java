package io.tessera.software.kernels.barriers;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A kernel whose threads exchange words in phases of an mbarrier, arriving and waiting in forms that are drawn. Threads arrive
 * {@code 1 + (thread + phase) % 4} times in each phase, so all phases expect the same. Immutable.
 */
final class RandomPhases {
    private static final String[] ARRIVALS = {"COUNTED", "SPLIT", "SINGLY", "COMPUTED", "BYTES", "REMOTE", "GENERIC", "PENDING"};
    private static final String[] WAITS = {"try_wait.parity", "test_wait.parity", "test_wait", "try_wait"};
    private static final int COUNTS = 4;

    final int threads;
    final int phases;
    private final long seed;
    private final StringBuilder text = new StringBuilder();

    RandomPhases(long seed) {
        Random random = new Random(seed);
        this.seed = seed;
        this.threads = 32 * (1 + random.nextInt(4)) - (random.nextBoolean() ? 0 : 12);
        this.phases = 5 + random.nextInt(8);
        head();
        // Kernels that await bytes do not ask how many arrivals are awaited.
        String without = random.nextBoolean() ? "BYTES" : "PENDING";
        List<String> forms = Arrays.stream(ARRIVALS).filter(form -> !form.equals(without)).toList();
        for (int phase = 0; phase < phases; phase++) {
            phase(phase, forms.get(random.nextInt(forms.size())), WAITS[random.nextInt(WAITS.length)], random);
        }
        text.append("st.global.u32 [%d3], %r8;\nret;\n}\n");
    }

    private int arrivals() {
        return threads / COUNTS * (1 + 2 + 3 + 4);
    }

    private void head() {
        text.append("""
                .version 8.5
                .target sm_90
                .address_size 64
                .visible .entry k(.param .u64 out)
                {
                .shared .align 8 .b64 unused;
                .shared .align 8 .b64 bar;
                .shared .align 16 .b8 slots[1024];
                .reg .b32 %r<40>;
                .reg .b64 %d<20>;
                .reg .pred %p<8>;
                ld.param.u64 %d1, [out];
                mov.u32 %r1, %tid.x;
                mul.wide.u32 %d2, %r1, 4;
                add.u64 %d3, %d1, %d2;
                mov.u32 %r2, bar;
                cvt.u64.u32 %d4, %r2;
                cvta.shared.u64 %d5, %d4;
                mapa.shared::cluster.u32 %r3, %r2, 0;
                mov.u32 %r5, slots;
                and.b32 %r4, %r1, 0;
                add.u32 %r4, %r4, %r2;
                mov.u32 %r8, 0;
                setp.ne.u32 %p1, %r1, 0;
                @!%p1 mbarrier.init.shared::cta.b64 [bar], ARRIVALS;
                @!%p1 fence.mbarrier_init.release.cluster;
                bar.sync 0;
                """.replace("ARRIVALS", Integer.toString(arrivals())));
    }

    private void phase(int phase, String arrival, String wait, Random random) {
        String after = random.nextBoolean() ? "" : ".release.cta";
        boolean parity = wait.endsWith("parity") || arrival.equals("REMOTE");
        String waits = parity ? wait.replace(".parity", "") + ".parity" : wait;
        text.append("""
                // phase PHASE
                mad.lo.u32 %r6, %r1, FACTOR, SALT;
                mad.lo.u32 %r7, %r1, 4, %r5;
                st.shared.u32 [%r7+BUFFER], %r6;
                add.u32 %r9, %r1, PHASE;
                and.b32 %r9, %r9, 3;
                add.u32 %r10, %r9, 1;
                setp.ne.u32 %p2, %r9, 0;
                ARRIVE
                wait_PHASE:
                mbarrier.WAIT.shared::cta.b64 %p3, [%r2], FOR;
                @!%p3 bra wait_PHASE;
                mad.lo.u32 %r11, %r1, 7, PHASE;
                rem.u32 %r11, %r11, THREADS;
                mad.lo.u32 %r11, %r11, 4, %r5;
                ld.shared.u32 %r12, [%r11+BUFFER];
                mad.lo.u32 %r8, %r8, 31, %r12;
                """.replace("ARRIVE", arrive(arrival)).replace("PHASE", Integer.toString(phase)).replace("AFTER", after)
                .replace("WAIT", waits).replace("FOR", parity ? Integer.toString(phase & 1) : "%d6")
                .replace("FACTOR", Integer.toString(phase + 3)).replace("SALT", Long.toString(seed & 0xFFFF))
                .replace("BUFFER", Integer.toString((phase & 1) * 512)).replace("THREADS", Integer.toString(threads)));
    }

    private static String arrive(String form) {
        return switch (form) {
            case "COUNTED" -> "mbarrier.arriveAFTER.shared.b64 %d6, [%r2], %r10;";
            case "SPLIT" -> "@%p2 mbarrier.arrive.noComplete.shared.b64 %d7, [bar], %r9;\nmbarrier.arriveAFTER.shared::cta.b64 %d6, [bar];";
            case "SINGLY" -> "again_PHASE:\nmbarrier.arriveAFTER.shared.b64 %d6, [%r2+0];\nsub.u32 %r10, %r10, 1;\n"
                    + "setp.gt.u32 %p4, %r10, 0;\n@%p4 bra again_PHASE;";
            case "COMPUTED" -> "mbarrier.arriveAFTER.shared.b64 %d6, [%r4];\n@%p2 mbarrier.arrive.shared.b64 %d7, [%r4], %r9;";
            case "BYTES" -> "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 48;\n@%p2 mbarrier.arrive.shared.b64 _, [%r2], %r9;\n"
                    + "mul.lo.u32 %r13, %r1, 16;\nmbarrier.arrive.expect_txAFTER.shared::cta.b64 %d6, [%r2], %r13;\n"
                    + "add.u32 %r13, %r13, 32;\nmbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], 16;\n"
                    + "mbarrier.complete_tx.shared::cta.b64 [%r2], %r13;";
            case "REMOTE" -> "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3], %r10;";
            case "GENERIC" -> "@%p2 mbarrier.arrive.b64 %d7, [%d5], %r9;\nmbarrier.arriveAFTER.b64 %d6, [%d5], 1;";
            case "PENDING" -> "mbarrier.arrive.shared.b64 %d6, [%r2], %r10;\nmbarrier.pending_count.b64 %r14, %d6;\n"
                    + "setp.lt.u32 %p5, %r14, %r10;\n@%p5 add.u32 %r8, %r8, 1000000;";
            default -> throw new IllegalArgumentException(form);
        };
    }

    String ptx() {
        return text.toString();
    }

    /** Returns what each thread computes. */
    int[] expected() {
        int[] sums = new int[threads];
        for (int phase = 0; phase < phases; phase++) {
            for (int t = 0; t < threads; t++) {
                int other = (t * 7 + phase) % threads;
                sums[t] = sums[t] * 31 + other * (phase + 3) + (int) (seed & 0xFFFF);
            }
        }
        return sums;
    }
}
