package io.tessera.fuzz.generate;

/** Loops that move pointers while they count, as loops over an array, a grid or a block do. */
final class WalkSteps {
    private static final int MOST_ROUNDS = 40;
    private static final int WORD = 4;

    private WalkSteps() {
    }

    static void walk(KernelBody b) {
        if (b.kernel == null || !b.names.visible(b.kernel.in())) {
            ValueSteps.arithmetic(b);
            return;
        }
        b.names.pin(b.kernel.in());
        int rounds = 1 + b.random.nextInt(MOST_ROUNDS);
        boolean down = b.random.nextInt(3) == 0;
        long stride = (long) WORD * (1 + b.random.nextInt(MemorySteps.IN_BYTES / WORD / (rounds + 1)));
        NamedEntity pointer = b.temp(RegisterWidth.D64);
        b.line("add.s64 %s, %s, %s;", pointer, b.kernel.in(), b.exact(down ? rounds * stride : 0, 64, true));
        MemorySteps.spoil(b, pointer);
        NamedEntity sum = b.temp(RegisterWidth.W32);
        b.line("mov.u32 %s, 1;", sum);
        count(b, rounds, () -> {
            NamedEntity word = b.temp(RegisterWidth.W32);
            Literal by = b.literal(down ? -stride : stride, 64, true);
            if (b.random.nextInt(3) == 0) {
                NamedEntity middle = b.temp(RegisterWidth.D64);
                b.line("add.s64 %s, %s, %s;", middle, pointer, b.literal(down ? -WORD : 0, 64, true));
                b.line("ld.global.u32 %s, [%s];", word, middle);
                b.line("mad.lo.u32 %s, %s, 3, %s;", sum, sum, word);
            }
            b.line("ld.global.u32 %s, [%s%s];", word, pointer, down ? "+-4" : "");
            b.line("add.s64 %s, %s, %s;", pointer, pointer, by);
            b.line("mad.lo.u32 %s, %s, 5, %s;", sum, sum, word);
        });
        b.use(sum);
    }

    /** Goes round so often, whatever the kernel; what a pass does is one block. */
    private static void count(KernelBody b, int rounds, Runnable pass) {
        int bits = b.random.nextInt(3) == 0 ? 64 : 32;
        boolean signed = b.random.nextBoolean();
        String type = (signed ? "s" : "u") + bits;
        RegisterWidth width = bits == 64 ? RegisterWidth.D64 : RegisterWidth.W32;
        int step = 1 + b.random.nextInt(b.random.nextBoolean() ? 300 : 3);
        long most = bits == 64 ? Long.MAX_VALUE : signed ? Integer.MAX_VALUE : 0xFFFF_FFFFL;
        // Somewhere, or so that the counter comes as near to the end of its range as it can.
        long end = b.random.nextInt(3) == 0 ? most - b.random.nextInt(3) : (long) step * rounds + b.random.nextInt(1000);
        NamedEntity counter = b.temp(width);
        NamedEntity by = b.temp(width);
        NamedEntity limit = b.temp(width);
        NamedEntity goes = b.temp(RegisterWidth.PRED);
        NamedEntity label = b.names.label(b.random);
        boolean equal = b.random.nextInt(4) == 0;
        b.line("mov.b%d %s, %s;", bits, counter, b.exact(end - (long) step * rounds, bits, false));
        b.line("mov.b%d %s, %s;", bits, by, b.exact(step, bits, false));
        b.line("mov.b%d %s, %s;", bits, limit, b.exact(equal ? end : end - b.random.nextInt(step), bits, false));
        b.line("%s:", label);
        pass.run();
        if (b.random.nextInt(3) != 0) {
            b.line("add.%s %s, %s, %s;", type, counter, counter, by);
        } else {
            b.line("add.%s %s, %s, %s;", type, counter, counter, b.exact(step, bits, signed));
        }
        b.line("setp.%s.%s %s, %s, %s;", equal ? "ne" : "lt", type, goes, counter, limit);
        b.line("@%s bra %s;", goes, label);
    }
}
