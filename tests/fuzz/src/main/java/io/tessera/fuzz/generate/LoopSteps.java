package io.tessera.fuzz.generate;

/** Loops that count in every style, loops with two ways in, and in hostile kernels loops that never end. */
final class LoopSteps {
    private static final int MOST_ROUNDS = 6;
    /** Rounds of loops in loops: what they do is the same in the fourth round. */
    private static final int MOST_INNER_ROUNDS = 3;
    /** Rounds after which a loop of a hostile kernel is left, in most of them. */
    private static final int PATIENCE = 9;

    private LoopSteps() {
    }

    /**
     * Style of a loop: it counts from {@code first} by {@code step} while the counter has a relation to {@code bound}.
     */
    private record Style(int bits, boolean signed, String relation, long first, long step, long bound) {
        static Style of(KernelBody b, int rounds) {
            int bits = b.random.nextInt(4) == 0 ? 64 : 32;
            boolean signed = b.random.nextBoolean();
            boolean up = b.random.nextBoolean();
            long step = 1L << b.random.nextInt(b.random.nextInt(3) == 0 ? 24 : 4);
            long most = bits == 64 ? 1L << 40 : signed ? Integer.MAX_VALUE : 0xFFFF_FFFFL;
            long least = bits == 64 ? signed ? -(1L << 40) : 0 : signed ? Integer.MIN_VALUE : 0;
            long span = step * (rounds + 1);
            // At the border of the type, or somewhere.
            long low = b.random.nextInt(3) == 0 ? least + (up ? 0 : step) : b.random.nextInt(3) == 0 ? most - span - step
                    : Math.max(least + step, b.random.nextInt(1000));
            long first = up ? low : low + span - step;
            long last = up ? first + step * rounds : first - step * rounds;
            long slack = step == 1 ? 0 : b.random.nextInt((int) Math.min(step, 1 << 20));
            String relation;
            long bound;
            switch (b.random.nextInt(4)) {
                case 0 -> {
                    relation = "ne";
                    bound = last;
                }
                case 1 -> {
                    relation = up ? "le" : "ge";
                    bound = up ? last - step + Math.min(slack, step - 1) : last + step - Math.min(slack, step - 1);
                }
                default -> {
                    relation = up ? !signed && bits == 32 && b.random.nextInt(3) == 0 ? "lo" : "lt"
                            : !signed && bits == 32 && b.random.nextInt(3) == 0 ? "hi" : "gt";
                    bound = up ? last - Math.min(slack, step - 1) : last + Math.min(slack, step - 1);
                }
            }
            return new Style(bits, signed, relation, first, up ? step : -step, bound);
        }

        String type() {
            return (signed ? "s" : "u") + bits;
        }
    }

    static void counted(KernelBody b, long place) {
        if (!b.mayNest()) {
            return;
        }
        int rounds = 1 + b.random.nextInt(b.counters.isEmpty() ? MOST_ROUNDS : MOST_INNER_ROUNDS);
        Style style = Style.of(b, rounds);
        NamedEntity i = b.temp(style.bits() == 64 ? RegisterWidth.D64 : RegisterWidth.W32);
        NamedEntity p = b.temp(RegisterWidth.PRED);
        NamedEntity limit = b.temp(i.width());
        NamedEntity label = b.names.label(b.random);
        b.line("mov." + style.type() + " %s, %s;", i, b.exact(style.first(), style.bits(), style.signed()));
        boolean inRegister = b.random.nextInt(3) == 0;
        b.line("mov." + style.type() + " %s, %s;", limit, b.literal(style.bound(), style.bits(), style.signed()));
        NamedEntity patience = b.shape.hostile() && (b.random.nextInt(4) != 0 || !b.shape.endless()) ? b.temp(RegisterWidth.W32) : null;
        NamedEntity out = b.names.ahead(b.random);
        if (patience != null) {
            b.line("mov.u32 %s, 0;", patience);
        }
        b.line("%s:", label);
        body(b, place, i, style, rounds);
        boolean adds = b.random.nextBoolean();
        String operation = adds ? "add" : "sub";
        long by = adds ? style.step() : -style.step();
        b.line(operation + "." + style.type() + " %s, %s, %s;", i, i, b.literal(by, style.bits(), style.signed()));
        if (patience != null) {
            b.line("add.u32 %s, %s, 1;", patience, patience);
            b.line("setp.gt.u32 %s, %s, %d;", p, patience, PATIENCE);
            b.line("@%s bra %s;", p, out);
        }
        String compare = "setp." + style.relation() + "."
                + (style.bits() == 32 && style.relation().length() == 2 && !style.relation().matches("lo|hi")
                        ? b.type32(style.signed()) : style.type());
        b.line(compare + " %s, %s, %s;", p, i, inRegister ? limit : b.literal(style.bound(), style.bits(), style.signed()));
        b.line("@%s bra %s;", p, label);
        pointerAfter(b, i, style);
        if (patience != null) {
            b.line("%s:", out);
        }
    }

    /** The loop's body is a block of its own; what it declares may have the counter's name. */
    private static void body(KernelBody b, long place, NamedEntity i, Style style, int rounds) {
        boolean uniform = b.uniform;
        b.uniform &= !b.shape.hostile();
        b.open();
        NamedEntity round = b.temp(RegisterWidth.W32);
        if (style.bits() == 64) {
            NamedEntity d = b.temp(RegisterWidth.D64);
            b.line("sub." + style.type() + " %s, %s, %s;", d, i, b.exact(style.first(), 64, style.signed()));
            if (style.step() < 0) {
                b.line("neg.s64 %s, %s;", d, d);
            }
            b.line("shr.u64 %s, %s, %d;", d, d, Long.numberOfTrailingZeros(style.step()));
            b.line("cvt.u32.u64 %s, %s;", round, d);
        } else {
            if (style.step() < 0) {
                b.line("sub.u32 %s, %s, %s;", round, b.exactIn(style.first(), 32), i);
            } else {
                b.line("sub.u32 %s, %s, %s;", round, i, b.exact(style.first(), 32, false));
            }
            b.line("shr.u32 %s, %s, %d;", round, round, Long.numberOfTrailingZeros(style.step()));
        }
        b.counters.add(round);
        b.bounds.add(rounds);
        b.steps(place, 1 + b.random.nextInt(3));
        b.counters.removeLast();
        b.bounds.removeLast();
        b.close();
        b.uniform = uniform;
    }

    /** Uses what a proof may conclude after the loop: the counter has reached its bound. */
    private static void pointerAfter(KernelBody b, NamedEntity i, Style style) {
        if (b.random.nextInt(3) != 0 || b.kernel == null || !b.names.visible(b.kernel.in()) || style.bits() == 64 || !style.relation().equals("ne")) {
            return;
        }
        b.names.pin(b.kernel.in());
        NamedEntity d = b.temp(RegisterWidth.D64);
        NamedEntity t = b.temp(RegisterWidth.W32);
        b.line("sub.u32 %s, %s, %s;", t, i, b.exact(style.bound(), 32, false));
        b.line("mad.wide.u32 %s, %s, %s, %s;", d, t, b.exact(1L << b.random.nextInt(30), 32, false), b.kernel.in());
        b.line("ld.global.u32 %s, [%s];", t, d);
        b.use(t);
    }

    /** A loop that can be entered in its middle: of functions with one, less is proved. */
    static void twoWaysIn(KernelBody b) {
        NamedEntity p = b.temp(RegisterWidth.PRED);
        NamedEntity n = b.temp(RegisterWidth.W32);
        NamedEntity v = b.value();
        NamedEntity behind = b.names.label(b.random);
        NamedEntity within = b.names.ahead(b.random);
        b.line("and.b32 %s, %s, 1;", n, v);
        b.line("setp.eq.u32 %s, %s, 0;", p, n);
        b.line("@%s bra %s;", p, within);
        b.line("%s:", behind);
        b.line("add.u32 %s, %s, %s;", v, v, b.exact(1 + b.random.nextInt(100), 32, false));
        b.line("%s:", within);
        b.line("add.u32 %s, %s, 1;", n, n);
        b.line("setp.lt.u32 %s, %s, %d;", p, n, 2 + b.random.nextInt(4));
        b.line("@%s bra %s;", p, behind);
    }

    /** In endless kernels: a loop that looks as if it ended. */
    static void endless(KernelBody b) {
        if (!b.shape.endless()) {
            ValueSteps.arithmetic(b);
            return;
        }
        NamedEntity i = b.temp(RegisterWidth.W32);
        NamedEntity p = b.temp(RegisterWidth.PRED);
        NamedEntity label = b.names.label(b.random);
        b.line("mov.u32 %s, 0;", i);
        b.line("setp.eq.u32 %s, %s, 0;", p, i);
        b.line("%s:", label);
        switch (b.random.nextInt(4)) {
            case 0 -> {
                hidden(b, i, "add.u32 %s, %s, 1;", "mov.u32 %s, 0;");
                b.line("setp.lt.u32 %s, %s, 16;", p, i);
            }
            case 1 -> {
                b.line("add.u32 %s, %s, %s;", i, i, new Literal("0x100000000", "0"));
                b.line("setp.lt.u32 %s, %s, 16;", p, i);
            }
            case 2 -> hidden(b, p, "setp.lt.u32 %s, 16, 4;", "setp.lt.u32 %s, 4, 16;");
            default -> {
                b.line("sub.u32 %s, %s, 7;", i, i);
                b.line("setp.ge.u32 %s, %s, 0;", p, i);
            }
        }
        b.line("@%s bra %s;", p, label);
    }

    /** Writes a register of the same name, which a block of its own has. */
    private static void hidden(KernelBody b, NamedEntity outer, String write, String begin) {
        b.open();
        NamedEntity inner = b.names.declare(outer.scoped(), outer.width());
        b.text.register(inner);
        b.line(begin, inner);
        Object[] operands = new Object[write.split("%s", -1).length - 1];
        java.util.Arrays.fill(operands, inner);
        b.line(write, operands);
        b.close();
    }
}
