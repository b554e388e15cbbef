package io.tessera.guardian.fence.proof.oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Generates kernels in which hardly anything happens but what two proofs are about: comparisons of a sum that say something of its summand
 * ({@code SsaBuilder.refineSummand}), and counts that are rounded down far above the loop that counts them ({@code EntryValues}). Values are
 * loaded, so nothing is known of them; {@link #inputs} has numbers around each constant of the kernel, where sums wrap and comparisons
 * change. Most kernels have something that makes the proof impossible: a register that is written in between, on one way or in a loop.
 */
final class DirectedKernel {
    private static final int FUEL = 300;
    private static final String[] COMPARE = {"eq", "ne", "lt", "le", "gt", "ge"};
    private static final long[] EDGES = {0, 1, -1, 2, 3, 4, 8, 100, 255, Integer.MAX_VALUE, Integer.MAX_VALUE - 1, Integer.MIN_VALUE,
            Integer.MIN_VALUE + 1, 1 << 30, 0xFFFF_FFFFL, 1L << 31, 1L << 32, 1L << 33, 1L << 61, Long.MAX_VALUE, Long.MIN_VALUE};

    private final Random random;
    private final StringBuilder body = new StringBuilder();
    private final List<Long> near = new ArrayList<>();
    private int labels;

    DirectedKernel(long seed) {
        random = new Random(seed);
    }

    /** PTX of a module with the kernel {@code k(in, err, pointer, number)}. */
    String text() {
        line("ld.param.u64 %in, [in]");
        line("mov.u32 %r1, %tid.x");
        line("mul.wide.u32 %q1, %r1, 8");
        line("mov.u32 %fuel, " + FUEL);
        line("setp.ne.u32 %p0, %r1, 3");
        int pieces = 1 + random.nextInt(3);
        for (int i = 0; i < pieces; i++) {
            switch (random.nextInt(5)) {
                case 0, 1 -> summand(random.nextInt(3) == 0);
                case 2 -> countedSummand(random.nextInt(3) == 0);
                default -> roundedDown();
            }
        }
        body.append("$end:\n");
        line("ret");
        return RandomProofKernel.module(body);
    }

    /** Returns what loads should give: numbers around the constants. For use after {@link #text}. */
    long[] inputs(int count, Random from) {
        long[] found = new long[count];
        for (int i = 0; i < count; i++) {
            found[i] = from.nextInt(4) == 0 ? EDGES[from.nextInt(EDGES.length)] + from.nextInt(3) - 1
                    : near.get(from.nextInt(near.size())) + from.nextInt(5) - 2;
        }
        return found;
    }

    private void line(String text) {
        body.append('\t').append(text).append(";\n");
    }

    private void label(String name) {
        body.append(name).append(":\n");
    }

    private boolean oneIn(int count) {
        return random.nextInt(count) == 0;
    }

    private long edge(boolean wide) {
        long found = EDGES[random.nextInt(wide ? EDGES.length : 14)] + random.nextInt(3) - 1;
        long number = oneIn(3) ? random.nextInt(40) - 8 : found;
        return wide ? number : (int) number;
    }

    private void load(String register, boolean wide) {
        line("ld.global." + (wide ? "u64 " : "u32 ") + register + ", [%q1+" + 8 * random.nextInt(64) + "]");
    }

    /** Bounds a register, or leaves it open. */
    private void bound(String register, boolean wide) {
        String bits = wide ? "64 " : "32 ";
        switch (random.nextInt(6)) {
            case 0 -> line("and.b" + bits + register + ", " + register + ", " + ((1 << 1 + random.nextInt(12)) - 1));
            case 1 -> line("shr." + (random.nextBoolean() ? "s" : "u") + bits + register + ", " + register + ", " + (1 + random.nextInt(30)));
            case 2 -> line((random.nextBoolean() ? "min.s" : "max.s") + bits + register + ", " + register + ", " + (int) edge(false));
            default -> {}
        }
    }

    private void read(String register, boolean wide) {
        line((wide ? "xor.b64 %q5, %q5, " : "xor.b32 %r7, %r7, ") + register);
    }

    /** Something that may write a register, or not, perhaps on one way alone. */
    private void disturb(String register, boolean wide) {
        String write = switch (random.nextInt(4)) {
            case 0 -> "add.s" + (wide ? "64 " : "32 ") + register + ", " + register + ", " + (random.nextInt(9) - 4);
            case 1 -> "ld.global." + (wide ? "u64 " : "u32 ") + register + ", [%q1+" + 8 * random.nextInt(64) + "]";
            default -> "add.s32 %r6, %r6, 1";
        };
        switch (random.nextInt(4)) {
            case 0 -> line("@%p0 " + write);
            case 1 -> line(write);
            default -> {
                int label = labels++;
                line("@" + (random.nextBoolean() ? "!" : "") + "%p0 bra $over" + label);
                line(write);
                label("$over" + label);
            }
        }
    }

    private void write(String register, boolean wide) {
        if (oneIn(2)) {
            load(register, wide);
        } else {
            line("add.s" + (wide ? "64 " : "32 ") + register + ", " + register + ", " + edge(false));
        }
    }

    private void fuel() {
        line("sub.s32 %fuel, %fuel, 1");
        line("setp.lt.s32 %go, %fuel, 0");
        line("@%go bra $end");
    }

    /** {@code sum = x + amount}; numbers at which a comparison with the limit changes become inputs. */
    private void add(String sum, String x, long amount, long limit, boolean wide) {
        String type = oneIn(2) ? ".s" : ".u";
        String guard = oneIn(12) ? "@%p0 " : "";
        line(guard + (oneIn(16) ? "sub" : "add") + type + (wide ? "64 " : "32 ") + sum + ", " + x + ", " + amount);
        near.add(limit - amount);
        near.add(limit);
        near.add(-amount);
        near.add(Integer.MIN_VALUE - amount);
        near.add(Long.MIN_VALUE - amount);
    }

    private void compare(String truth, String compared, long limit, boolean wide) {
        String type = (oneIn(2) ? ".s" : ".u") + (wide ? "64 " : "32 ");
        String relation = COMPARE[random.nextInt(COMPARE.length)];
        String other = Long.toString(limit);
        boolean exchanged = oneIn(3);
        if (exchanged || oneIn(4)) {
            other = wide ? "%d7" : "%c7";
            line("mov.u" + (wide ? "64 " : "32 ") + other + ", " + limit);
        }
        line("setp." + relation + type + truth + ", " + (exchanged ? other + ", " + compared : compared + ", " + other));
    }

    /** A sum is compared, in the same block or later; the summand is looked at on both sides and where they meet. */
    private void summand(boolean wide) {
        int label = labels++;
        String x = wide ? "%q2" : "%r2";
        String sum = oneIn(10) ? x : wide ? "%q3" : "%r3";
        long limit = edge(wide);
        long amount = oneIn(12) && wide ? edge(true) : (int) edge(false);
        load(x, wide);
        bound(x, wide);
        add(sum, x, amount, limit, wide);
        if (oneIn(4)) {
            write(oneIn(2) ? x : sum, wide);
        }
        if (oneIn(2)) {
            line("@" + (random.nextBoolean() ? "!" : "") + "%p0 bra $skip" + label);
            disturb(oneIn(2) ? x : sum, wide);
            label("$skip" + label);
        }
        compare("%p1", sum, limit, wide);
        if (oneIn(5)) {
            compare("%p2", oneIn(2) ? x : sum, edge(wide), wide);
            line((random.nextBoolean() ? "and" : "or") + ".pred %p1, %p1, %p2");
        }
        if (oneIn(6)) {
            disturb(oneIn(2) ? x : sum, wide);
        }
        line("@" + (random.nextBoolean() ? "!" : "") + "%p1 bra $else" + label);
        inside(x, sum, wide);
        if (oneIn(2)) {
            line("bra.uni $join" + label);
            label("$else" + label);
            inside(x, sum, wide);
        } else {
            label("$else" + label);
        }
        label("$join" + label);
        read(x, wide);
        read(sum, wide);
    }

    /** Looks at the registers, perhaps after a change, and perhaps once more after another comparison. */
    private void inside(String x, String sum, boolean wide) {
        read(x, wide);
        if (oneIn(4)) {
            disturb(x, wide);
            read(x, wide);
        }
        if (oneIn(3)) {
            int label = labels++;
            compare("%p3", oneIn(2) ? x : sum, edge(wide), wide);
            line("@%p3 bra $inner" + label);
            read(x, wide);
            label("$inner" + label);
        }
        read(sum, wide);
    }

    /** As above, in a loop that goes on by steps: the sum is of this round's value, or of the last one's, or of that before the loop. */
    private void countedSummand(boolean wide) {
        int label = labels++;
        String x = wide ? "%q2" : "%r2";
        String sum = wide ? "%q3" : "%r3";
        long limit = edge(wide);
        long amount = (int) edge(false);
        int made = random.nextInt(3);
        load(x, wide);
        bound(x, wide);
        add(sum, x, amount, limit, wide);
        label("$loop" + label);
        fuel();
        if (made == 1) {
            add(sum, x, amount, limit, wide);
        }
        if (oneIn(2)) {
            line("@%p0 bra $skip" + label);
            disturb("%r5", false);
            label("$skip" + label);
        }
        compare("%p1", sum, limit, wide);
        line("@" + (random.nextBoolean() ? "!" : "") + "%p1 bra $out" + label);
        read(x, wide);
        if (made == 2) {
            add(sum, x, amount, limit, wide);
        }
        if (oneIn(3)) {
            disturb(x, wide);
        } else {
            line("add.s" + (wide ? "64 " : "32 ") + x + ", " + x + ", " + (1L << random.nextInt(wide ? 40 : 30)));
        }
        read(x, wide);
        compare("%go", x, edge(wide), wide);
        line("@%go bra $loop" + label);
        label("$out" + label);
        read(x, wide);
        read(sum, wide);
    }

    /** {@code for (i = n - (n & mask); i != 0; i -= mask + 1)}, where it was looked whether n is large enough. */
    private void roundedDown() {
        int label = labels++;
        boolean wide = oneIn(4);
        int mask = (1 << 1 + random.nextInt(3)) - 1;
        long limit = oneIn(3) ? random.nextInt(12) - 2 : mask + random.nextInt(3) - 1;
        String count = wide ? "%q4" : "%r4";
        String sum = wide ? "%q3" : "%r5";
        String index = counted(count, sum, mask, limit, wide);
        boolean nested = oneIn(3);
        if (nested) {
            label("$outer" + label);
            fuel();
        }
        if (oneIn(5)) {
            line("@%p0 bra $look" + label);
        }
        if (oneIn(6)) {
            disturb(count, wide);
        }
        compare("%p1", oneIn(2) ? sum : count, limit, wide);
        line("@" + (random.nextBoolean() ? "!" : "") + "%p1 bra $past" + label);
        label("$look" + label);
        if (oneIn(6)) {
            disturb(count, wide);
        }
        down(label, index, mask, !nested, wide);
        label("$past" + label);
        if (nested) {
            disturb(oneIn(2) ? count : index, wide);
            line("add.s32 %c0, %c0, 1");
            line("setp.lt.s32 %go, %c0, 3");
            line("@%go bra $outer" + label);
        }
        read(count, wide);
    }

    /** A count that is rounded down, or nearly so; returns where it stands, after a few copies. */
    private String counted(String count, String sum, int mask, long limit, boolean wide) {
        String bits = wide ? "64 " : "32 ";
        String at = wide ? "%d" : "%c";
        load(count, wide);
        if (!oneIn(5)) {
            line("and.b" + bits + count + ", " + count + ", " + (oneIn(3) ? 15 : 255));
        }
        near.add((long) mask);
        near.add(mask * 2L);
        near.add(-1L);
        add(sum, count, oneIn(3) ? edge(false) : random.nextInt(5) - 2, limit, wide);
        line("and.b" + bits + at + "6, " + count + ", " + (oneIn(8) ? mask - 1 : mask));
        if (oneIn(8)) {
            disturb(count, wide);
        }
        line((oneIn(12) ? "add.s" : "sub.s") + bits + at + "5, " + (oneIn(10) ? sum : count) + ", " + at + "6");
        int copies = random.nextInt(3);
        for (int i = 0; i < copies; i++) {
            String from = at + (5 - i);
            String to = at + (4 - i);
            line(oneIn(6) ? "add.s" + bits + to + ", " + from + ", " + (random.nextInt(9) - 4) : "mov.u" + bits + to + ", " + from);
        }
        return at + (5 - copies);
    }

    /** Counts down from a register; perhaps the loop can be entered with something else, too. */
    private void down(int label, String from, int mask, boolean mayEnterTwice, boolean wide) {
        String bits = wide ? "64 " : "32 ";
        String i = wide ? "%d2" : "%c2";
        line("mov.u" + bits + i + ", " + from);
        if (mayEnterTwice && oneIn(5)) {
            line("@%p0 bra $loop" + label);
            line("mov.u" + bits + i + ", " + (mask + 1) * random.nextInt(70));
        }
        label("$loop" + label);
        fuel();
        read(i, wide);
        int step = oneIn(8) ? mask : mask + 1;
        line("add.s" + bits + i + ", " + i + ", " + (oneIn(8) ? step : -step));
        line("setp." + (oneIn(3) ? "gt.s" : "ne.s") + bits + "%go, " + i + ", " + (oneIn(6) ? step : 0));
        line("@%go bra $loop" + label);
        read(i, wide);
    }
}
