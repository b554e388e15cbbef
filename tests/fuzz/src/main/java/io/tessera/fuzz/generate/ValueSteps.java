package io.tessera.fuzz.generate;

import java.util.List;

/** Steps on registers alone. All of them have the same result for the same values on every device. */
final class ValueSteps {
    private ValueSteps() {
    }

    static void arithmetic(KernelBody b) {
        NamedEntity v = b.value();
        NamedEntity w = b.value();
        NamedEntity x = b.value();
        String sign = b.random.nextBoolean() ? "u32" : "s32";
        boolean signed = sign.equals("s32");
        Literal literal = Literal.of(b.random, Literal.border(b.random), 32, signed);
        switch (b.random.nextInt(14)) {
            case 0 -> b.line("mad.lo." + sign + " %s, %s, %s, %s;", v, w, x, v);
            case 1 -> b.line("add." + sign + " %s, %s, %s;", v, w, literal);
            case 2 -> b.line("sub." + sign + " %s, %s, %s;", v, w, literal);
            case 3 -> b.line("mul.lo." + sign + " %s, %s, %s;", v, w, literal);
            case 4 -> b.line("min." + sign + " %s, %s, %s;", v, w, literal);
            case 5 -> b.line("max." + sign + " %s, %s, %s;", v, w, literal);
            case 6 -> b.line("xor.b32 %s, %s, %s;", v, w, Literal.of(b.random, Literal.border(b.random), 32, false));
            case 7 -> b.line("shr." + sign + " %s, %s, %d;", v, w, b.random.nextInt(34));
            case 8 -> b.line("shl.b32 %s, %s, %d;", v, w, b.random.nextInt(34));
            case 9 -> b.line("mul.hi." + sign + " %s, %s, %s;", v, w, x);
            case 10 -> field(b, v, w, signed);
            case 11 -> b.line("prmt.b32 %s, %s, %s, %d;", v, w, x, b.random.nextInt(0x10000));
            case 12 -> b.line("popc.b32 %s, %s;", v, w);
            default -> compare(b, v, w, sign, literal);
        }
    }

    /**
     * A field of bits. A signed one starts within the word: beyond, the PTX ISA has the word's sign, as the code that NVIDIA's assembler writes for a start
     * in a register; for a constant one it writes -1, whatever the word (ptxas 13.0).
     */
    private static void field(KernelBody b, NamedEntity v, NamedEntity w, boolean signed) {
        int start = b.random.nextInt(40);
        b.line("bfe." + (signed ? "s32" : "u32") + " %s, %s, %d, %d;", v, w, signed ? Math.min(start, Integer.SIZE - 1) : start,
                b.random.nextInt(40));
    }

    private static void compare(KernelBody b, NamedEntity v, NamedEntity w, String sign, Literal literal) {
        NamedEntity p = b.temp(RegisterWidth.PRED);
        String[] relations = {"lt", "le", "gt", "ge", "eq", "ne"};
        b.line("setp." + relations[b.random.nextInt(6)] + "." + sign + " %s, %s, %s;", p, w, literal);
        if (b.random.nextBoolean()) {
            b.line("@%s add.u32 %s, %s, 77;", p, v, v);
        } else {
            b.use(p);
        }
    }

    static void wide(KernelBody b) {
        NamedEntity d = b.temp(RegisterWidth.D64);
        NamedEntity e = b.temp(RegisterWidth.D64);
        NamedEntity v = b.value();
        boolean signed = b.random.nextBoolean();
        b.line(signed ? "cvt.s64.s32 %s, %s;" : "cvt.u64.u32 %s, %s;", d, v);
        Literal literal = Literal.of(b.random, Literal.border(b.random), 64, signed);
        String sign = signed ? "s64" : "u64";
        switch (b.random.nextInt(6)) {
            case 0 -> b.line("add." + sign + " %s, %s, %s;", e, d, literal);
            case 1 -> b.line("mul.lo." + sign + " %s, %s, %s;", e, d, literal);
            case 2 -> b.line("min." + sign + " %s, %s, %s;", e, d, literal);
            case 3 -> b.line("max." + sign + " %s, %s, %s;", e, d, literal);
            case 4 -> b.line("shr." + sign + " %s, %s, %d;", e, d, b.random.nextInt(66));
            default -> {
                NamedEntity p = b.temp(RegisterWidth.PRED);
                b.line("setp." + (b.random.nextBoolean() ? "lt." : "ge.") + sign + " %s, %s, %s;", p, d, literal);
                b.line("selp.b64 %s, %s, 12345, %s;", e, d, p);
            }
        }
        b.use(e);
    }

    static void narrow(KernelBody b) {
        NamedEntity h = b.temp(RegisterWidth.H16);
        NamedEntity k = b.temp(RegisterWidth.H16);
        NamedEntity v = b.value();
        boolean signed = b.random.nextBoolean();
        String sign = signed ? "s16" : "u16";
        b.line("cvt.u16.u32 %s, %s;", h, v);
        int literal = signed ? (short) Literal.border(b.random) : (int) Literal.border(b.random) & 0xFFFF;
        switch (b.random.nextInt(5)) {
            case 0 -> b.line("add." + sign + " %s, %s, %d;", k, h, literal);
            case 1 -> b.line("min." + sign + " %s, %s, %d;", k, h, literal);
            case 2 -> b.line("mul.lo." + sign + " %s, %s, %d;", k, h, literal);
            case 3 -> b.line("shr." + sign + " %s, %s, %d;", k, h, b.random.nextInt(18));
            default -> {
                NamedEntity p = b.temp(RegisterWidth.PRED);
                b.line("setp.lt." + sign + " %s, %s, %d;", p, h, literal);
                b.line("selp.b16 %s, %s, 99, %s;", k, h, p);
            }
        }
        b.use(k);
    }

    /** New registers with data: some that hide others, or a row of them. */
    static void declare(KernelBody b) {
        if (b.random.nextInt(3) == 0) {
            List<NamedEntity> row = b.names.row(b.random, RegisterWidth.W32, 1 + b.random.nextInt(4));
            if (!row.isEmpty()) {
                String first = row.getFirst().scoped();
                b.text.row(first.substring(0, first.length() - 1), row);
                for (NamedEntity thing : row) {
                    b.line("mov.u32 %s, %s;", b.names.pin(thing), Literal.of(b.random, Literal.border(b.random), 32, false));
                    b.values.add(thing);
                }
            }
            return;
        }
        NamedEntity from = b.value();
        NamedEntity made = b.temp(RegisterWidth.W32);
        b.line("mov.b32 %s, %s;", made, from);
        b.values.add(made);
    }
}
