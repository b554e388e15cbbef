package io.tessera.guardian.fence.proof.analysis;

import java.util.Random;

/**
 * Kernels of few 32-bit registers that add, subtract, round down, compare and branch as compilers do around counted loops, with
 * constants near what decides: whether a sum leaves its register, whether a remainder is nothing, whether a comparison is of the
 * same value. %r1 is the parameter, %r2 to %r7 are written at the start, %r8 counts a loop.
 */
final class IntegerKernels {
    private static final int REGISTERS = 7;
    private static final String[] COMPARISONS = {"lt", "le", "gt", "ge", "eq", "ne"};
    private static final long[] NEAR = {0, 1, 2, 3, 4, 7, 8, 31, 99, Integer.MAX_VALUE, Integer.MIN_VALUE};

    private final Random random;
    private final StringBuilder text = new StringBuilder();
    private int labels;

    private IntegerKernels(Random random) {
        this.random = random;
    }

    /** Statements of a kernel; the same for the same numbers. */
    static String draw(Random random) {
        return new IntegerKernels(random).kernel();
    }

    private String kernel() {
        for (int r = 2; r <= REGISTERS; r++) {
            line("add.s32 %%r%d, %%r1, %d;", r, constant());
        }
        int statements = 4 + random.nextInt(8);
        for (int i = 0; i < statements; i++) {
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> compared(2);
                case 3 -> countedDown();
                default -> plain();
            }
        }
        return text.toString();
    }

    private void line(String format, Object... arguments) {
        text.append(String.format(format, arguments)).append('\n');
    }

    private int register() {
        return 1 + random.nextInt(REGISTERS);
    }

    private int constant() {
        long near = NEAR[random.nextInt(NEAR.length)] + random.nextInt(3) - 1;
        return (int) (random.nextInt(8) == 0 ? random.nextInt() : random.nextBoolean() ? near : -near);
    }

    private void plain() {
        switch (random.nextInt(5)) {
            case 0, 1 -> line("add.s32 %%r%d, %%r%d, %d;", register(), register(), constant());
            case 2 -> line("and.b32 %%r%d, %%r%d, %d;", register(), register(), (1 << random.nextInt(6)) - 1);
            case 3 -> line("sub.s32 %%r%d, %%r%d, %%r%d;", register(), register(), register());
            default -> line("mov.u32 %%r%d, %%r%d;", register(), register());
        }
    }

    private String comparison() {
        return COMPARISONS[random.nextInt(COMPARISONS.length)] + (random.nextBoolean() ? ".s32" : ".u32");
    }

    /** Statements that run if a comparison holds, or does not; between the sum and its comparison something may change. */
    private void compared(int deep) {
        int sum = register();
        int of = register();
        line("add.s32 %%r%d, %%r%d, %d;", sum, of, constant());
        if (random.nextInt(3) == 0) {
            plain();
        }
        String other = random.nextInt(4) == 0 ? "%r" + register() : Integer.toString(constant());
        int over = labels++;
        line("setp.%s %%p1, %%r%d, %s;", comparison(), sum, other);
        line("@%s%%p1 bra over%d;", random.nextBoolean() ? "!" : "", over);
        // The comparison's fact about the summand is used at once: a value made of it shows whether it is true.
        line("add.s32 %%r%d, %%r%d, %d;", register(), of, constant());
        for (int i = random.nextInt(3); i > 0; i--) {
            if (deep > 0 && random.nextInt(3) == 0) {
                compared(deep - 1);
            } else {
                plain();
            }
        }
        line("over%d:", over);
    }

    /** A count rounded down to a multiple of 4, looked at, and counted down to nothing; some of it wrong. */
    private void countedDown() {
        int count = register();
        int rest = register();
        int rounded = register();
        int looked = register();
        int mask = random.nextInt(4) == 0 ? 7 : 3;
        line("and.b32 %%r%d, %%r%d, %d;", rest, count, mask);
        line("sub.s32 %%r%d, %%r%d, %%r%d;", rounded, random.nextInt(4) == 0 ? register() : count, rest);
        if (random.nextInt(3) == 0) {
            plain();
        }
        line("add.s32 %%r%d, %%r%d, %d;", looked, random.nextInt(4) == 0 ? register() : count, random.nextInt(3) == 0 ? constant() : -1);
        int around = labels++;
        line("setp.%s %%p1, %%r%d, %d;", random.nextInt(3) == 0 ? comparison() : "lt.u32", looked, random.nextInt(3) == 0 ? constant() : mask);
        line("@%%p1 bra rest%d;", around);
        line("mov.u32 %%r8, %%r%d;", rounded);
        line("loop%d:", around);
        if (random.nextBoolean()) {
            plain();
        }
        line("add.s32 %%r8, %%r8, %d;", -1 - mask);
        line("setp.ne.s32 %%p2, %%r8, 0;");
        line("@%%p2 bra loop%d;", around);
        line("rest%d:", around);
    }
}
