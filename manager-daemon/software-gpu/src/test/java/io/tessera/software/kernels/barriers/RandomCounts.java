package io.tessera.software.kernels.barriers;

import java.util.Random;

/**
 * A kernel of one thread, which arrives at an mbarrier, drops out of it and changes its bytes in drawn numbers up to the largest that PTX
 * can count, and after each step asks which phase is over: the same on every device. Kernels without bytes also ask how many arrivals are
 * awaited. Immutable.
 */
final class RandomCounts {
    private static final int MOST = (1 << 20) - 1;
    private static final int STEPS = 40;

    private final StringBuilder text = new StringBuilder();
    private final Random random;
    private final boolean bytes;
    private int expected;
    private int pending;
    private int awaited;

    RandomCounts(long seed) {
        this.random = new Random(seed);
        this.bytes = random.nextBoolean();
        this.expected = drawn(MOST);
        this.pending = expected;
        text.append("""
                mov.u32 %r4, COUNT;
                mbarrier.init.shared.b64 [%r2], FIRST;
                """.replace("COUNT", Integer.toString(expected)).replace("FIRST", random.nextBoolean() ? "%r4" : Integer.toString(expected)));
        for (int step = 0; step < STEPS && expected > 0; step++) {
            step();
            ask();
        }
    }

    /** From 1 on: as often small as large, and near powers of two. */
    private int drawn(int most) {
        int near = (1 << random.nextInt(21)) + random.nextInt(3) - 1;
        return Math.clamp(random.nextBoolean() ? near : 1 + random.nextInt(most), 1, most);
    }

    private void step() {
        int kind = random.nextInt(bytes ? 6 : 3);
        if (kind < 4 && pending == 0) {
            kind = 5;
        }
        switch (kind) {
            case 0 -> arrive("arrive", drawn(pending));
            case 1 -> arrive("arrive", pending);
            case 2 -> {
                int count = drawn(pending);
                arrive(bytes && count == 1 && random.nextBoolean() ? "arrive_drop.expect_tx" : "arrive_drop", count);
            }
            case 3 -> arrive("arrive.expect_tx", 1);
            case 4 -> bytes("expect_tx", random.nextInt(MOST - Math.max(awaited, 0)));
            default -> bytes("complete_tx", awaited > 0 && random.nextBoolean() ? awaited : random.nextInt(MOST + Math.min(awaited, 0)));
        }
        if (pending == 0 && awaited == 0) {
            pending = expected;
        }
    }

    private void arrive(String what, int count) {
        if (what.endsWith("expect_tx")) {
            int more = random.nextInt(MOST - Math.max(awaited, 0));
            awaited += more;
            line("mbarrier." + what + ".shared::cta.b64 %d4, [%r2], " + more + ";");
        } else {
            line("mov.u32 %r4, " + count + ";");
            line("mbarrier." + what + ".shared.b64 %d4, [%r2]" + (count == 1 ? "" : ", " + (random.nextBoolean() ? "%r4" : count)) + ";");
            line(bytes ? "" : "mbarrier.pending_count.b64 %r9, %d4;\nmad.lo.u32 %r8, %r8, 31, %r9;");
        }
        pending -= count;
        expected -= what.startsWith("arrive_drop") ? count : 0;
        line("mbarrier.test_wait.shared.b64 %p4, [%r2], %d4;\n@%p4 add.u32 %r8, %r8, 7;");
    }

    private void bytes(String what, int count) {
        awaited += what.startsWith("expect") ? count : -count;
        line("mov.u32 %r4, " + count + ";");
        line("mbarrier." + what + ".relaxed.cta.shared::cta.b64 [%r2], " + (random.nextBoolean() ? "%r4" : count) + ";");
    }

    private void ask() {
        line("mul.lo.u32 %r8, %r8, 31;\nmbarrier.test_wait.parity.shared.b64 %p3, [%r2], " + random.nextInt(2) + ";\n@%p3 add.u32 %r8, %r8, 1;");
    }

    private void line(String line) {
        text.append(line).append('\n');
    }

    /** Returns what the thread does, with names as in {@link MemoryBarriersTest}. */
    String text() {
        return text.toString();
    }
}
