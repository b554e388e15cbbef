package io.tessera.fuzz.generate;

/** Ways in which programs keep an index below a bound, which proofs may understand. In hostile kernels the numbers in them may be others. */
final class Indices {
    private Indices() {
    }

    /** An index below a bound, a power of two of at least 2. */
    static Index below(KernelBody b, int bound) {
        NamedEntity counter = counter(b, bound);
        if (counter != null) {
            return new Index(counter, null);
        }
        NamedEntity t = b.temp(RegisterWidth.W32);
        NamedEntity v = b.value();
        int log = Integer.numberOfTrailingZeros(bound);
        switch (b.random.nextInt(15)) {
            case 0 -> b.line("and.b32 %s, %s, %s;", t, v, b.literal(bound - 1, 32, false));
            case 1 -> b.line("rem.u32 %s, %s, %s;", t, v, b.exact(bound - b.random.nextInt(2) * (bound > 2 ? 1 : 0), 32, false));
            case 2 -> b.line("min." + b.type32(false) + " %s, %s, %s;", t, v, b.literal(bound - 1, 32, false));
            case 3 -> b.line("shr." + b.type32(false) + " %s, %s, %s;", t, v, b.strays() ? b.random.nextInt(40) : 32 - log);
            case 4 -> b.line("bfe." + b.type32(false) + " %s, %s, %d, %d;", t, v, b.random.nextInt(24), b.strays() ? b.random.nextInt(33) : log);
            case 5 -> {
                b.line("max.s32 %s, %s, %s;", t, v, b.literal(0, 32, true));
                b.line("min." + b.type32(true) + " %s, %s, %s;", t, t, b.literal(bound - 1, 32, true));
            }
            case 6 -> narrow(b, t, v, bound);
            case 7 -> b.line("mul.hi." + b.type32(false) + " %s, %s, %s;", t, v, b.literal(bound, 32, false));
            case 8 -> selected(b, t, v, bound);
            case 9 -> {
                return guarded(b, t, v, bound);
            }
            case 10 -> {
                b.line("mov.u32 %s, %%tid.x;", t);
                b.line("and.b32 %s, %s, %s;", t, t, b.literal(Math.min(bound, 32) - 1, 32, false));
            }
            case 11 -> {
                b.line("and.b32 %s, %s, %s;", t, v, b.literal(bound / 2 - 1, 32, false));
                b.line("add." + b.type32(true) + " %s, %s, %s;", t, t, b.literal(bound / 2, 32, true));
            }
            case 12 -> {
                // Up from the bottom of the range, by a number that wraps around.
                b.line("or.b32 %s, %s, %s;", t, v, b.literal(-bound, 32, true));
                b.line("add.s32 %s, %s, %s;", t, t, b.literal(bound, 32, true));
            }
            case 13 -> b.line("sub.u32 %s, %s, %s;", t, masked(b, v, bound), b.literal(0, 32, false));
            default -> b.line("mad.lo." + b.type32(false) + " %s, %s, %s, %s;", t, masked(b, v, 2), b.literal(bound / 2, 32, false),
                    b.literal(b.random.nextInt(bound / 2), 32, false));
        }
        return new Index(t, null);
    }

    private static NamedEntity masked(KernelBody b, NamedEntity v, int bound) {
        NamedEntity m = b.temp(RegisterWidth.W32);
        b.line("and.b32 %s, %s, %s;", m, v, b.literal(bound - 1, 32, false));
        return m;
    }

    private static NamedEntity counter(KernelBody b, int bound) {
        if (b.random.nextInt(3) != 0) {
            return null;
        }
        for (int i = b.counters.size() - 1; i >= 0; i--) {
            if (b.bounds.get(i) <= bound && b.names.visible(b.counters.get(i))) {
                return b.names.pin(b.counters.get(i));
            }
        }
        return null;
    }

    /** By way of 8 or 16 bits. */
    private static void narrow(KernelBody b, NamedEntity t, NamedEntity v, int bound) {
        NamedEntity h = b.temp(RegisterWidth.H16);
        if (bound >= 256 && b.random.nextBoolean()) {
            b.line((b.strays() ? "cvt.s32.s8" : "cvt.u32.u8") + " %s, %s;", t, v);
            return;
        }
        b.line("cvt.u16.u32 %s, %s;", h, v);
        switch (b.random.nextInt(3)) {
            case 0 -> b.line("and.b16 %s, %s, %d;", h, h, b.strays() ? b.random.nextInt(0x10000) - 0x8000 : bound - 1);
            case 1 -> b.line("min.u16 %s, %s, %d;", h, h, b.strays() ? b.random.nextInt(0x10000) : bound - 1);
            default -> b.line("shr.u16 %s, %s, %d;", h, h, 16 - Integer.numberOfTrailingZeros(bound));
        }
        b.line((b.strays() ? "cvt.s32.s16" : "cvt.u32.u16") + " %s, %s;", t, h);
    }

    private static void selected(KernelBody b, NamedEntity t, NamedEntity v, int bound) {
        NamedEntity p = b.temp(RegisterWidth.PRED);
        b.line("setp." + (b.strays() ? "gt" : "lt") + ".u32 %s, %s, %s;", p, v, b.literal(bound, 32, false));
        b.line("selp.b32 %s, %s, %s, %s;", t, v, b.literal(b.random.nextInt(bound), 32, false), p);
    }

    private static Index guarded(KernelBody b, NamedEntity t, NamedEntity v, int bound) {
        NamedEntity p = b.temp(RegisterWidth.PRED);
        boolean signed = b.random.nextBoolean();
        b.line("mov.b32 %s, %s;", t, v);
        if (signed) {
            // Below as a signed number, and not negative.
            b.line("setp.ge.s32 %s, %s, %s;", p, t, b.literal(0, 32, true));
            b.line("setp.lt.and." + b.type32(true) + " %s, %s, %s, %s;", p, t, b.literal(bound, 32, true), p);
        } else {
            b.line("setp." + (b.random.nextBoolean() ? "lt" : "lo") + ".u32 %s, %s, %s;", p, t, b.literal(bound, 32, false));
        }
        return new Index(t, p);
    }
}
