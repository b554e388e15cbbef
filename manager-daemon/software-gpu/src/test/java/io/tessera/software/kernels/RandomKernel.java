package io.tessera.software.kernels;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A kernel of random steps over every kind of memory. Legal ones stay inside what they are given; wild ones form their addresses,
 * indices and function pointers from garbage in some of the steps. Registers {@code %r0} to {@code %r7} are what it computes.
 */
public final class RandomKernel {
    public static final int THREADS = 32;
    public static final int BLOCKS = 2;
    /** Bytes of {@code in}, and of {@code out} for each thread. */
    public static final int IN_BYTES = 4096;
    public static final int OUT_BYTES = 256;
    private static final int VALUES = 8;
    private static final int STEPS = 24;

    private static final String HEAD = """
            .version 8.0
            .target sm_90
            .address_size 64
            .visible .global .align 16 .b32 table[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
            .global .align 8 .u64 inner = table+16;
            .const .align 16 .b32 constants[16] = {7, 77, 777, 7777, 5, 55, 555, 5555};
            .func (.param .b32 result) once(.param .b64 p, .param .b32 x)
            {
            .reg .b32 %r<4>;
            .reg .b64 %d<4>;
            ld.param.b64 %d0, [p];
            ld.param.b32 %r0, [x];
            ld.u32 %r1, [%d0+4];
            add.u32 %r1, %r1, %r0;
            st.u32 [%d0], %r1;
            st.param.b32 [result], %r1;
            ret;
            }
            .func (.param .b32 result) twice(.param .b64 p, .param .b32 x)
            {
            .reg .b32 %r<4>;
            .reg .b64 %d<4>;
            .local .align 4 .b8 own[16];
            ld.param.b64 %d0, [p];
            ld.param.b32 %r0, [x];
            st.local.u32 [own+4], %r0;
            ld.u32 %r1, [%d0];
            ld.local.u32 %r2, [own+4];
            mad.lo.u32 %r1, %r1, 2, %r2;
            st.param.b32 [result], %r1;
            ret;
            }
            .global .align 8 .u64 functions[2] = {once, twice};
            .visible .entry k(.param .u64 in, .param .u64 out, .param .u32 seed, .param .u64 foreign)
            {
            .reg .pred %p<4>;
            .reg .b32 %r<16>, %t<8>;
            .reg .b64 %d<16>;
            .shared .align 16 .b8 tile[1024];
            .local .align 16 .b8 frame[256];
            ld.param.u64 %d0, [in];
            ld.param.u64 %d1, [out];
            ld.param.u32 %r8, [seed];
            ld.param.u64 %d9, [foreign];
            mov.u32 %r9, %tid.x;
            mov.u32 %r10, %ctaid.x;
            mad.lo.u32 %r11, %r10, 32, %r9;
            mul.wide.u32 %d2, %r11, 256;
            add.s64 %d1, %d1, %d2;
            mov.u32 %r12, tile;
            shl.b32 %r13, %r9, 5;
            add.u32 %r12, %r12, %r13;
            mov.u64 %d3, frame;
            cvta.local.u64 %d4, %d3;
            cvt.u64.u32 %d5, %r12;
            cvta.shared.u64 %d6, %d5;
            """;

    private final Random random;
    private final boolean wild;
    private final List<String> lines = new ArrayList<>();
    private int labels;

    private RandomKernel(long seed, boolean wild) {
        this.random = new Random(seed);
        this.wild = wild;
    }

    /** Returns the module's text; kernel {@code k(in, out, seed, foreign)}. */
    public static String text(long seed, boolean wild) {
        RandomKernel kernel = new RandomKernel(seed, wild);
        kernel.write();
        return HEAD + String.join("\n", kernel.lines) + "\n}\n";
    }

    private void add(String line, Object... values) {
        lines.add(String.format(line, values));
    }

    private void write() {
        for (int i = 0; i < VALUES; i++) {
            add("mad.lo.u32 %%r%d, %%r11, %d, %%r8;", i, random.nextInt(1000) + 1);
            add("st.shared.u32 [%%r12+%d], %%r%d;", 4 * i, i);
        }
        for (int i = 0; i < 64; i += 4) {
            add("st.local.v4.u32 [frame+%d], {%%r0, %%r1, %%r2, %%r3};", 4 * i);
        }
        for (int i = 0; i < STEPS; i++) {
            step();
        }
        for (int i = 0; i < VALUES; i++) {
            add("st.global.u32 [%%d1+%d], %%r%d;", 4 * i, i);
        }
        add("ret;");
    }

    private String value() {
        return "%r" + random.nextInt(VALUES);
    }

    private boolean strays() {
        return wild && random.nextInt(3) == 0;
    }

    /** Leaves an index below a power of two in %t0, or garbage. */
    private void index(int below) {
        add(strays() ? "mul.lo.u32 %%t0, %s, 0x9E3779B1;" : "and.b32 %%t0, %s, " + (below - 1) + ";", value());
    }

    /** Spoils the address in a register of 64 bits. */
    private void spoil(String address) {
        if (!strays()) {
            return;
        }
        switch (random.nextInt(6)) {
            case 0 -> add("xor.b64 %s, %s, %d;", address, address, random.nextLong());
            case 1 -> add("add.s64 %s, %s, %d;", address, address, random.nextInt(1 << 20) - (1 << 19));
            case 2 -> add("mov.b64 %s, %%d9;", address);
            case 3 -> add("mov.u64 %s, %d;", address, random.nextInt(1 << 16));
            case 4 -> add("add.s64 %s, %%d9, %d;", address, random.nextInt(1 << 16));
            default -> add("shl.b64 %s, %s, %d;", address, address, random.nextInt(30));
        }
    }

    private void step() {
        switch (random.nextInt(14)) {
            case 0 -> add("mad.lo.u32 %s, %s, %s, %s;", value(), value(), value(), value());
            case 1 -> global();
            case 2 -> vector();
            case 3 -> sharedMemory();
            case 4 -> localMemory();
            case 5 -> constant();
            case 6 -> atomic();
            case 7 -> never();
            case 8 -> variable();
            case 9 -> countedLoop();
            case 10 -> otherLoop();
            case 11 -> call();
            case 12 -> indirectCall();
            default -> branchTable();
        }
    }

    private String cached() {
        return List.of("ld.global", "ld.global.nc", "ld.volatile.global", "ld.relaxed.gpu.global", "ld.global.cg", "ld")
                .get(random.nextInt(6));
    }

    private void global() {
        int size = 1 << random.nextInt(3);
        index(256);
        add("mul.wide.u32 %%d10, %%t0, %d;", size);
        add("add.s64 %%d10, %%d10, %%d0;");
        spoil("%d10");
        add("%s.u%d %%t1, [%%d10+%d];", cached(), 8 * size, size * random.nextInt(16));
        add("xor.b32 %s, %s, %%t1;", value(), value());
    }

    private void vector() {
        index(64);
        add("mul.wide.u32 %%d10, %%t0, 16;");
        add("add.s64 %%d10, %%d10, %%d0;");
        spoil("%d10");
        add("%s.v4.u32 {%%t1, %%t2, %%t3, %%t4}, [%%d10+16];", cached());
        add("ld.global.v2.u32 {%%t5, %%t6}, [%%d10+%d];", 8 * random.nextInt(4));
        add("add.u32 %s, %%t1, %%t4;\nxor.b32 %s, %%t2, %%t5;", value(), value());
        add("mov.b64 %%d11, %%d1;");
        spoil("%d11");
        add("st.global.v2.u32 [%%d11+64], {%%t3, %%t6};");
    }

    private void sharedMemory() {
        index(8);
        add("mad.lo.u32 %%t0, %%t0, 4, %%r12;");
        if (strays()) {
            add("xor.b32 %%t0, %%t0, %d;", random.nextInt());
        }
        add("st.shared.u32 [%%t0], %s;", value());
        add("ld.shared.u32 %s, [%%r12+%d];", value(), 4 * random.nextInt(8));
        if (strays()) {
            add("ld.shared.v4.u32 {%%t1, %%t2, %%t3, %%t4}, [%%t0+%d];", 1 << random.nextInt(20));
        }
        add("atom.shared.add.u32 %s, [%%t0], %s;", value(), value());
    }

    private void localMemory() {
        index(64);
        add("mul.wide.u32 %%d10, %%t0, 4;");
        add("add.s64 %%d11, %%d10, %%d3;");
        add("st.local.u32 [%%d11], %s;", value());
        add("add.s64 %%d11, %%d10, %%d4;");
        spoil("%d11");
        add("ld.u32 %s, [%%d11];", value());
        add("ld.local.u16 %%t1, [frame+%d];\nadd.u32 %s, %s, %%t1;", 2 * random.nextInt(128), value(), value());
    }

    private void constant() {
        index(16);
        add("mul.wide.u32 %%d10, %%t0, 4;\nmov.u64 %%d11, constants;\nadd.s64 %%d10, %%d10, %%d11;");
        add("ld.const.u32 %%t1, [%%d10];\nadd.u32 %s, %s, %%t1;", value(), value());
    }

    private void atomic() {
        add("mov.b64 %%d10, %%d1;");
        spoil("%d10");
        add("atom.%sadd.u32 %s, [%%d10+%d], %s;", random.nextBoolean() ? "global." : "", value(), 96 + 4 * random.nextInt(8),
                value());
        add("red.global.max.u32 [%%d10+%d], %s;", 96 + 4 * random.nextInt(8), value());
    }

    /** An access that is not made: its address is garbage in a legal kernel too. */
    private void never() {
        add("add.u32 %%t0, %%r9, 100;\nsetp.lt.u32 %%p0, %%t0, %%r9;");
        add("mul.wide.u32 %%d10, %s, %s;", value(), value());
        add("@%%p0 st.global.u32 [%%d10], %s;\n@%%p0 ld.shared.u32 %s, [%s];", value(), value(), value());
        add("setp.ge.u32 %%p1, %%t0, %%r9;\n@!%%p1 atom.global.add.u32 %s, [%%d10+4], %s;", value(), value());
        add("@!%%p1 ld.u32 %s, [%%d10+8];\n@%%p1 ld.global.u32 %s, [%%d0+%d];", value(), value(), 4 * random.nextInt(64));
    }

    private void variable() {
        index(32);
        add("mul.wide.u32 %%d10, %%t0, 4;\nmov.u64 %%d11, table;\nadd.s64 %%d11, %%d11, %%d10;");
        add("ld.global.u32 %%t1, [%%d11+%d];\nadd.u32 %s, %s, %%t1;", 4 * random.nextInt(32), value(), value());
        add("ld.global.u64 %%d12, [inner];");
        spoil("%d12");
        add("ld.u32 %%t1, [%%d12+%d];\nxor.b32 %s, %s, %%t1;\nld.global.u32 %%t2, [table+%d];", 4 * random.nextInt(8), value(),
                value(), 4 * random.nextInt(64));
    }

    private void countedLoop() {
        String label = "COUNT" + labels++;
        String sum = value();
        add("mov.u32 %%t0, 0;\nmov.b64 %%d10, %%d0;");
        spoil("%d10");
        add("%s:\nld.global.u32 %%t1, [%%d10+%d];\nadd.u32 %s, %s, %%t1;", label, 4 * random.nextInt(4), sum, sum);
        add("add.s64 %%d10, %%d10, %d;\nadd.u32 %%t0, %%t0, 2;", wild ? 4 * random.nextInt(100000) : 8);
        add("setp.%s.u32 %%p0, %%t0, %d;\n@%%p0 bra %s;", random.nextBoolean() ? "ne" : "lt", 2 * (random.nextInt(8) + 1),
                label);
    }

    private void otherLoop() {
        String label = "WHILE" + labels++;
        add("and.b32 %%t0, %s, 7;\n%s:\nshl.b32 %%t1, %%t0, 2;\ncvt.u64.u32 %%d10, %%t1;", value(), label);
        add("add.s64 %%d10, %%d10, %%d0;");
        spoil("%d10");
        add("ld.u32 %%t2, [%%d10+8];\nadd.u32 %s, %s, %%t2;", value(), value());
        add("setp.eq.u32 %%p0, %%t0, 0;\nsub.u32 %%t0, %%t0, 1;\n@!%%p0 bra %s;", label);
    }

    private String pointer() {
        return List.of("%d1", "%d4", "%d6").get(random.nextInt(3));
    }

    private void call() {
        add("mov.b64 %%d10, %s;", pointer());
        spoil("%d10");
        add("{\n.param .b64 a;\n.param .b32 b;\n.param .b32 c;\nst.param.b64 [a], %%d10;\nst.param.b32 [b], %s;", value());
        add("call (c), %s, (a, b);\nld.param.b32 %s, [c];\n}", random.nextBoolean() ? "once" : "twice", value());
    }

    private void indirectCall() {
        index(2);
        add("mul.wide.u32 %%d10, %%t0, 8;\nmov.u64 %%d11, functions;\nadd.s64 %%d10, %%d10, %%d11;");
        add("ld.global.u64 %%d12, [%%d10];\nmov.b64 %%d11, %s;", pointer());
        if (random.nextInt(4) == 0) {
            spoil("%d12");
        }
        add("{\n.param .b64 a;\n.param .b32 b;\n.param .b32 c;\nst.param.b64 [a], %%d11;\nst.param.b32 [b], %s;", value());
        add("P%d: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);", labels);
        add("call (c), %%d12, (a, b), P%d;\nld.param.b32 %s, [c];\n}", labels++, value());
    }

    private void branchTable() {
        int n = labels++;
        index(2);
        add("T%d: .branchtargets A%d, B%d;\nbrx.idx %%t0, T%d;", n, n, n, n);
        add("A%d:\nadd.u32 %s, %s, 5;\nbra C%d;", n, value(), value(), n);
        add("B%d:\nxor.b32 %s, %s, 9;\nC%d:", n, value(), value(), n);
        index(16);
        add(wild ? "bar.arrive %%t0, 64;" : "bar.sync 0;");
    }
}
