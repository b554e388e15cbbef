package io.tessera.guardian.fence.proof.oracle;

import java.util.Random;

/**
 * Generates kernels of nested loops, branches, guarded instructions and integer arithmetic of every width, with accesses through
 * pointers that are made in all ways that the analysis follows, and many that it does not. Every run ends.
 */
final class RandomProofKernel {
    private static final int FUEL = 300;
    private static final String[] WORDS = {"%r0", "%r1", "%r2", "%r3", "%r4", "%r5", "%r6", "%r7"};
    private static final String[] LONGS = {"%q0", "%q1", "%q2", "%q3", "%q4", "%q5"};
    private static final String[] HALVES = {"%h0", "%h1", "%h2"};
    private static final String[] TRUTHS = {"%p0", "%p1", "%p2", "%p3"};
    private static final String[] COMPARE = {"eq", "ne", "lt", "le", "gt", "ge"};

    private final Random random;
    private final StringBuilder body = new StringBuilder();
    private int labels;

    RandomProofKernel(long seed) {
        random = new Random(seed);
    }

    /** PTX of a module with the kernel {@code k(in, err, out, pointer, number)}. */
    String text() {
        line("ld.param.u64 %in, [in]");
        line("ld.param.u64 %q0, [pointer]");
        line("ld.param.u32 %r0, [number]");
        line("mov.u32 %r1, %tid.x");
        line("mov.u32 %fuel, " + FUEL);
        if (random.nextInt(4) > 0) {
            for (int i = 2; i < WORDS.length; i++) {
                line("mov.u32 " + WORDS[i] + ", " + small());
            }
            for (int i = 1; i < LONGS.length; i++) {
                line(random.nextBoolean() ? "mov.u64 " + LONGS[i] + ", " + small() : "ld.param.u64 " + LONGS[i] + ", [pointer]");
            }
        }
        block(3, 6 + random.nextInt(10));
        body.append("$end:\n");
        for (String word : WORDS) {
            line("xor.b32 %r0, %r0, " + word);
        }
        for (String each : LONGS) {
            line("xor.b64 %q0, %q0, " + each);
        }
        line("ret");
        return module(body);
    }

    /** A module with a kernel {@code k(in, err, pointer, number)} of that body. */
    static String module(CharSequence body) {
        return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 err, "
                + ".param .u64 pointer, .param .u32 number)\n{\n\t.reg .pred %p<4>, %go;\n\t.reg .b16 %h<3>;\n"
                + "\t.reg .b32 %r<8>, %fuel, %c<8>;\n\t.reg .b64 %q<6>, %in, %d<8>;\n\t.shared .align 8 .b8 tile[256];\n"
                + body + "}\n";
    }

    private void line(String text) {
        body.append('\t').append(text).append(";\n");
    }

    private String any(String[] names) {
        return names[random.nextInt(names.length)];
    }

    private long small() {
        return switch (random.nextInt(8)) {
            case 0 -> 0;
            case 1 -> -1 - random.nextInt(16);
            case 2 -> 1L << random.nextInt(31);
            case 3 -> Integer.MAX_VALUE - random.nextInt(3);
            case 4 -> Integer.MIN_VALUE + random.nextInt(3);
            case 5 -> random.nextInt();
            default -> random.nextInt(64);
        };
    }

    private String word() {
        return random.nextInt(3) == 0 ? Long.toString(small()) : any(WORDS);
    }

    private String longer() {
        return random.nextInt(3) == 0 ? Long.toString(small() << (random.nextInt(4) == 0 ? 8 : 0)) : any(LONGS);
    }

    private String guard() {
        return random.nextInt(6) == 0 ? "@" + (random.nextBoolean() ? "!" : "") + any(TRUTHS) + " " : "";
    }

    private void block(int depth, int statements) {
        for (int i = 0; i < statements; i++) {
            int kind = random.nextInt(depth > 0 ? 12 : 8);
            if (kind < 8) {
                operation(kind);
            } else if (kind < 10) {
                branch(depth);
            } else if (random.nextInt(4) > 0) {
                loop(depth);
            } else if (random.nextBoolean()) {
                bisection();
            } else {
                unrolled(depth);
            }
        }
    }

    /** What compilers make of a loop that is unrolled: a count that is rounded down, a look at whether it is large enough, and a loop, perhaps in another. */
    private void unrolled(int depth) {
        int label = labels++;
        String count = any(WORDS);
        int mask = (1 << 1 + random.nextInt(3)) - 1;
        int least = random.nextInt(3) > 0 ? mask : random.nextInt(6);
        boolean below = random.nextBoolean();
        line("and.b32 " + count + ", " + any(WORDS) + ", " + any(new String[] {"7", "15", "255", "-1"}));
        line("add.s32 %c7, " + count + ", " + (below ? -1 : random.nextInt(3)));
        line("and.b32 %c6, " + count + ", " + mask);
        line("sub.s32 %c5, " + count + ", %c6");
        boolean nested = random.nextBoolean();
        if (nested) {
            body.append("$loop").append(label).append(":\n");
            line("sub.s32 %fuel, %fuel, 1");
            line("setp.lt.s32 %go, %fuel, 0");
            line("@%go bra $end");
        }
        line("setp.lt." + (random.nextInt(4) > 0 ? "u32" : "s32") + " %go, " + (random.nextInt(4) > 0 ? "%c7" : count) + ", " + least);
        line("@%go bra $else" + label);
        line("mov.u32 %c4, %c5");
        String pointer = any(LONGS);
        body.append("$end").append(label).append(":\n");
        line("sub.s32 %fuel, %fuel, 1");
        line("setp.lt.s32 %go, %fuel, 0");
        line("@%go bra $end");
        access(pointer);
        line("add.s64 " + pointer + ", " + pointer + ", " + (1L << random.nextInt(32)));
        line("add.s32 %c4, %c4, " + -(mask + 1));
        line("setp.ne.s32 %go, %c4, 0");
        line("@%go bra $end" + label);
        body.append("$else").append(label).append(":\n");
        if (nested) {
            if (random.nextInt(3) == 0) {
                operation(random.nextInt(8));
            }
            compare("%p3");
            line("@%p3 bra $loop" + label);
        } else if (depth > 1) {
            operation(random.nextInt(8));
        }
    }

    /** A loop that halves a range, or does what looks like it. */
    private void bisection() {
        int label = labels++;
        int at = random.nextInt(WORDS.length);
        String low = WORDS[at];
        String high = WORDS[(at + 1 + random.nextInt(3)) % WORDS.length];
        String middle = "%c6";
        boolean odd = random.nextInt(3) == 0;
        line("mov.u32 " + low + ", " + (odd ? small() : random.nextInt(50)));
        line(random.nextBoolean() ? "and.b32 " + high + ", " + any(WORDS) + ", 65535"
                : "mov.u32 " + high + ", " + (odd ? small() : random.nextInt(1 << 20)));
        body.append("$loop").append(label).append(":\n");
        line("sub.s32 %fuel, %fuel, 1");
        line("setp.lt.s32 %go, %fuel, 0");
        line("@%go bra $end");
        switch (random.nextInt(3)) {
            case 0 -> {
                line("add.s32 %c5, " + low + ", " + high);
                line("shr." + (random.nextBoolean() ? "s32 " : "u32 ") + middle + ", %c5, 1");
            }
            case 1 -> {
                line("add.s32 %c5, " + high + ", " + low);
                line("shr.u32 %c4, %c5, 31");
                line("add.s32 %c4, %c5, %c4");
                line("shr.s32 " + middle + ", %c4, 1");
            }
            default -> {
                line("sub.s32 %c5, " + high + ", " + low);
                line("shr." + (random.nextBoolean() ? "s32 " : "u32 ") + "%c4, %c5, 1");
                line("add.s32 " + middle + ", %c4, " + low);
            }
        }
        if (random.nextInt(4) == 0) {
            operation(random.nextInt(8));
        }
        compare("%p3");
        boolean closed = random.nextBoolean();
        int up = random.nextInt(5) == 0 ? random.nextInt(3) : 1;
        int down = random.nextInt(5) == 0 ? random.nextInt(3) - 1 : closed ? -1 : 0;
        line("add.s32 %c5, " + middle + ", " + up);
        if (down != 0) {
            line("add.s32 %c4, " + middle + ", " + down);
        }
        String lower = down == 0 ? middle : "%c4";
        if (random.nextBoolean()) {
            line("selp.b32 " + low + ", %c5, " + low + ", %p3");
            line("selp.b32 " + high + ", " + high + ", " + lower + ", " + (random.nextInt(8) == 0 ? any(TRUTHS) : "%p3"));
        } else {
            line("@%p3 bra $else" + label);
            line("mov.u32 " + high + ", " + lower);
            line("bra.uni $end" + label);
            body.append("$else").append(label).append(":\n");
            line("mov.u32 " + low + ", %c5");
            body.append("$end").append(label).append(":\n");
        }
        String sign = random.nextInt(3) > 0 ? ".s32" : ".u32";
        line(random.nextBoolean() ? "setp." + (closed ? "le" : "lt") + sign + " %go, " + low + ", " + high
                : "setp." + (closed ? "ge" : "gt") + sign + " %go, " + high + ", " + low);
        line("@%go bra $loop" + label);
    }

    private void branch(int depth) {
        int label = labels++;
        String truth = any(TRUTHS);
        compare(truth);
        if (random.nextInt(4) == 0) {
            String other = any(TRUTHS);
            compare(other);
            line((random.nextBoolean() ? "and" : "or") + ".pred " + truth + ", " + truth + ", " + other);
        }
        line("@" + (random.nextBoolean() ? "!" : "") + truth + " bra $else" + label);
        block(depth - 1, 1 + random.nextInt(4));
        if (random.nextBoolean()) {
            line("bra.uni $end" + label);
            body.append("$else").append(label).append(":\n");
            block(depth - 1, 1 + random.nextInt(4));
            body.append("$end").append(label).append(":\n");
        } else {
            body.append("$else").append(label).append(":\n");
        }
    }

    private void compare(String truth) {
        if (random.nextInt(4) == 0) {
            line("setp." + any(COMPARE) + (random.nextBoolean() ? ".s64 " : ".u64 ") + truth + ", " + any(LONGS) + ", "
                    + longer());
        } else {
            line("setp." + any(COMPARE) + (random.nextBoolean() ? ".s32 " : ".u32 ") + truth + ", " + any(WORDS) + ", "
                    + word());
        }
    }

    /** A loop that counts, up or down, in registers that the body may use, and perhaps leaves to change, and moves a pointer. */
    private void loop(int depth) {
        int label = labels++;
        boolean own = random.nextInt(3) > 0;
        String counter = own ? "%c" + depth : any(WORDS);
        int step = random.nextBoolean() ? 1 << random.nextInt(4) : 1 + random.nextInt(5);
        int rounds = 1 + random.nextInt(12);
        boolean down = random.nextBoolean();
        line("mov.u32 " + counter + ", " + (random.nextInt(4) == 0 ? small() : down ? step * rounds : random.nextInt(2)));
        String pointer = any(LONGS);
        body.append("$loop").append(label).append(":\n");
        line("sub.s32 %fuel, %fuel, 1");
        line("setp.lt.s32 %go, %fuel, 0");
        line("@%go bra $end");
        if (random.nextInt(3) > 0) {
            access(pointer);
        }
        block(depth - 1, 1 + random.nextInt(4));
        if (random.nextInt(3) > 0) {
            line("add.s64 " + pointer + ", " + pointer + ", " + (random.nextInt(4) == 0 ? any(LONGS) : 1L << random.nextInt(34)));
        }
        boolean shifts = random.nextInt(4) == 0;
        if (shifts) {
            line((down ? random.nextBoolean() ? "shr.s32 " : "shr.u32 " : "shl.b32 ") + counter + ", " + counter + ", " + (1 + random.nextInt(3)));
        } else {
            line("add.s32 " + counter + ", " + counter + ", " + (down ? -step : step));
        }
        String relation = random.nextInt(shifts ? 12 : 3) == 0 ? "ne" : down ? "gt" : "lt";
        line("setp." + relation + (random.nextInt(3) > 0 ? ".s32" : ".u32") + " %go, " + counter + ", "
                + (random.nextInt(4) == 0 ? any(WORDS) : Integer.toString(down ? 0 : step * rounds)));
        line("@%go bra $loop" + label);
    }

    private void access(String pointer) {
        int bytes = 1 << random.nextInt(4);
        String offset = random.nextInt(3) == 0 ? "+" + (random.nextInt(64) - 32) * bytes : "";
        String to = bytes == 8 ? any(LONGS) : any(WORDS);
        line(guard() + "ld.global.u" + 8 * bytes + " " + to + ", [" + pointer + offset + "]");
    }

    private void operation(int kind) {
        switch (kind) {
            case 0 -> access(any(LONGS));
            case 1, 2 -> wordOperation();
            case 3 -> longOperation();
            case 4 -> mixed();
            case 5 -> line(guard() + "mul.wide." + (random.nextBoolean() ? "s32 " : "u32 ") + any(LONGS) + ", " + any(WORDS)
                    + ", " + (random.nextBoolean() ? 1 << random.nextInt(5) : word()));
            case 6 -> line(guard() + "add.s64 " + any(LONGS) + ", " + any(LONGS) + ", " + longer());
            default -> line(guard() + "mad.wide." + (random.nextBoolean() ? "s32 " : "u32 ") + any(LONGS) + ", " + any(WORDS)
                    + ", " + (1 << random.nextInt(5)) + ", " + any(LONGS));
        }
    }

    private void wordOperation() {
        String sign = random.nextBoolean() ? "s32 " : "u32 ";
        String to = guard();
        String result = any(WORDS);
        String operation = switch (random.nextInt(16)) {
            case 0 -> "add." + sign;
            case 1 -> "sub." + sign;
            case 2 -> "mul.lo." + sign;
            case 3 -> "mul.hi." + sign;
            case 4 -> "min." + sign;
            case 5 -> "max." + sign;
            case 6 -> "and.b32 ";
            case 7 -> "or.b32 ";
            case 8 -> "xor.b32 ";
            case 9 -> "rem." + sign;
            case 10 -> "div." + sign;
            default -> "";
        };
        switch (operation.isEmpty() ? random.nextInt(7) : -1) {
            case 0 -> line(to + "shl.b32 " + result + ", " + any(WORDS) + ", " + random.nextInt(34));
            case 1 -> line(to + "shr." + sign + result + ", " + any(WORDS) + ", " + (random.nextBoolean() ? any(WORDS) : random.nextInt(34)));
            case 2 -> line(to + "bfe." + sign + result + ", " + any(WORDS) + ", " + random.nextInt(32) + ", " + random.nextInt(33));
            case 3 -> line(to + "selp.b32 " + result + ", " + word() + ", " + word() + ", " + any(TRUTHS));
            case 4 -> line(to + (random.nextBoolean() ? "neg.s32 " : random.nextBoolean() ? "abs.s32 " : "not.b32 ") + result + ", " + any(WORDS));
            case 5 -> line(to + "mad.lo." + sign + result + ", " + any(WORDS) + ", " + word() + ", " + word());
            case 6 -> line(to + "mov.u32 " + result + ", " + (random.nextBoolean() ? "%tid.x" : random.nextBoolean() ? "tile" : word()));
            default -> line(to + operation + result + ", " + any(WORDS) + ", "
                    + (operation.startsWith("rem") || operation.startsWith("div") ? Integer.toString(1 + random.nextInt(40)) : word()));
        }
    }

    private void longOperation() {
        String sign = random.nextBoolean() ? "s64 " : "u64 ";
        switch (random.nextInt(9)) {
            case 0 -> line(guard() + "sub.s64 " + any(LONGS) + ", " + any(LONGS) + ", " + longer());
            case 1 -> line(guard() + "mul.lo.s64 " + any(LONGS) + ", " + any(LONGS) + ", " + longer());
            case 2 -> line(guard() + "and.b64 " + any(LONGS) + ", " + any(LONGS) + ", " + longer());
            case 3 -> line(guard() + "or.b64 " + any(LONGS) + ", " + any(LONGS) + ", " + longer());
            case 4 -> line(guard() + "shl.b64 " + any(LONGS) + ", " + any(LONGS) + ", " + random.nextInt(66));
            case 5 -> line(guard() + "shr." + sign + any(LONGS) + ", " + any(LONGS) + ", " + random.nextInt(66));
            case 6 -> line(guard() + (random.nextBoolean() ? "min." : "max.") + sign + any(LONGS) + ", " + any(LONGS) + ", " + longer());
            case 7 -> line(guard() + "selp.b64 " + any(LONGS) + ", " + any(LONGS) + ", " + any(LONGS) + ", " + any(TRUTHS));
            default -> line(guard() + "mov.u64 " + any(LONGS) + ", " + any(LONGS));
        }
    }

    private void mixed() {
        switch (random.nextInt(10)) {
            case 0 -> line(guard() + "cvt.s64.s32 " + any(LONGS) + ", " + any(WORDS));
            case 1 -> line(guard() + "cvt.u64.u32 " + any(LONGS) + ", " + any(WORDS));
            case 2 -> line(guard() + "cvt.u32.u64 " + any(WORDS) + ", " + any(LONGS));
            case 3 -> line(guard() + "cvt.u16.u32 " + any(HALVES) + ", " + any(WORDS));
            case 4 -> line(guard() + "cvt.s32.s16 " + any(WORDS) + ", " + any(HALVES));
            case 5 -> line(guard() + "cvt.u32.u16 " + any(WORDS) + ", " + any(HALVES));
            case 6 -> line(guard() + "cvt." + (random.nextBoolean() ? "s8.s32 " : "u8.u32 ") + any(WORDS) + ", " + any(WORDS));
            case 7 -> line("mov.b64 {" + WORDS[random.nextInt(4)] + ", " + WORDS[4 + random.nextInt(4)] + "}, " + any(LONGS));
            case 8 -> line("mov.b64 " + any(LONGS) + ", {" + any(WORDS) + ", " + any(WORDS) + "}");
            default -> line(guard() + "add.s16 " + any(HALVES) + ", " + any(HALVES) + ", " + any(HALVES));
        }
    }
}
