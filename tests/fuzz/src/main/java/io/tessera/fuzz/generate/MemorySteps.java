package io.tessera.fuzz.generate;

/** Accesses to memory of every space and width. */
final class MemorySteps {
    /** Bytes of what kernels are given to read, of a thread's own part of the results, and of its parts of shared and local memory. */
    static final int IN_BYTES = 4096;
    static final int OUT_BYTES = 256;
    static final int SLICE_BYTES = 64;
    static final int TABLE_BYTES = 256;
    static final int CONST_BYTES = 64;
    private static final int OWN_ATOMICS = 96;

    private MemorySteps() {
    }

    private static String cached(KernelBody b, String space) {
        String[] ways = space.equals("global")
                ? new String[] {"ld.global", "ld.global.nc", "ld.volatile.global", "ld.relaxed.gpu.global", "ld.global.cg", "ld"}
                : new String[] {space.isEmpty() ? "ld" : "ld." + space};
        return ways[b.random.nextInt(ways.length)];
    }

    /** Address of an element, by one of the ways of counting in 64 bits. */
    private static NamedEntity wide(KernelBody b, NamedEntity base, Index index, int size) {
        NamedEntity d = b.temp(RegisterWidth.D64);
        NamedEntity a = b.temp(RegisterWidth.D64);
        NamedEntity i = index.register();
        switch (b.random.nextInt(5)) {
            case 0 -> b.line("mad.wide.u32 %s, %s, %s, %s;", a, i, b.literal(size, 32, false), base);
            case 1 -> {
                b.line("mul.wide." + b.type32(b.random.nextBoolean()) + " %s, %s, %s;", d, i, b.literal(size, 32, false));
                b.line("add.s64 %s, %s, %s;", a, d, base);
            }
            case 2 -> {
                b.line("cvt.u64.u32 %s, %s;", d, i);
                b.line("shl.b64 %s, %s, %d;", d, d, b.strays() ? b.random.nextInt(40) : Integer.numberOfTrailingZeros(size));
                b.line("add.u64 %s, %s, %s;", a, base, d);
            }
            case 3 -> {
                b.line((b.strays() ? "cvt.s64.s32" : "cvt.u64.u32") + " %s, %s;", d, i);
                b.line("mad.lo.s64 %s, %s, %s, %s;", a, d, b.literal(size, 64, true), base);
            }
            default -> {
                b.line("mul.wide.u32 %s, %s, %s;", d, i, b.literal(size, 32, false));
                b.line("neg.s64 %s, %s;", d, d);
                b.line("sub.s64 %s, %s, %s;", a, base, d);
            }
        }
        spoil(b, a);
        return a;
    }

    /** Spoils an address now and then in hostile kernels. */
    static void spoil(KernelBody b, NamedEntity address) {
        if (!b.strays()) {
            return;
        }
        NamedEntity foreign = b.kernel == null || !b.names.visible(b.kernel.foreign()) ? address : b.kernel.foreign();
        switch (b.random.nextInt(7)) {
            case 0 -> b.line("xor.b64 %s, %s, %s;", address, address, Long.toString(b.random.nextLong()));
            case 1 -> b.line("add.s64 %s, %s, %d;", address, address, b.random.nextInt(1 << 20) - (1 << 19));
            case 2 -> b.line("mov.b64 %s, %s;", address, foreign);
            case 3 -> b.line("mov.u64 %s, %d;", address, b.random.nextInt(1 << 16));
            case 4 -> b.line("add.s64 %s, %s, %s;", address, foreign, Literal.of(b.random, Literal.border(b.random), 64, true));
            case 5 -> b.line("mul.lo.s64 %s, %s, %s;", address, address, Literal.of(b.random, Literal.border(b.random), 64, true));
            default -> b.line("shl.b64 %s, %s, %d;", address, address, b.random.nextInt(30));
        }
    }

    private static long offset(KernelBody b, int size, int room) {
        if (b.strays()) {
            return b.random.nextInt(3) == 0 ? b.random.nextInt() : size * (b.random.nextInt(4000) - 2000L);
        }
        return room <= 1 ? 0 : (long) size * b.random.nextInt(room);
    }

    /** Loads an element, or some, from a place of so many bytes. */
    private static void load(KernelBody b, String space, NamedEntity base, int bytes) {
        int size = 1 << b.random.nextInt(4);
        int lanes = b.random.nextInt(4) != 0 || size == 1 ? 1 : size == 8 ? 2 : 2 << b.random.nextInt(2);
        int unit = size * lanes;
        int elements = bytes / unit;
        int steps = Math.max(2, elements / 2);
        if (elements < 2) {
            return;
        }
        Index index = Indices.below(b, steps);
        NamedEntity address = wide(b, base, index, unit);
        // In the other half: index below steps, offset below the rest.
        long offset = offset(b, unit, elements - steps + 1);
        String type = size == 8 ? "u64" : (b.random.nextBoolean() ? "u" : "s") + 8 * size;
        NamedEntity[] into = new NamedEntity[lanes];
        for (int i = 0; i < lanes; i++) {
            into[i] = b.temp(size == 8 ? RegisterWidth.D64 : RegisterWidth.W32);
            b.line(size == 8 ? "mov.u64 %s, 5;" : "mov.u32 %s, 7;", into[i]);
        }
        String ld = cached(b, space);
        if (lanes == 1) {
            b.guarded(index.guard(), ld + "." + type + " %s, [%s%s];", into[0], address, plus(offset));
        } else if (lanes == 2) {
            b.guarded(index.guard(), ld + ".v2." + type + " {%s, %s}, [%s%s];", into[0], into[1], address, plus(offset));
        } else {
            b.guarded(index.guard(), ld + ".v4." + type + " {%s, %s, %s, %s}, [%s%s];", into[0], into[1], into[2], into[3], address, plus(offset));
        }
        for (NamedEntity thing : into) {
            b.use(thing);
        }
    }

    private static String plus(long offset) {
        return offset == 0 ? "" : offset > 0 ? "+" + offset : Long.toString(offset);
    }

    /** Stores an element into a place of this many bytes, which must be multiples of 8. */
    private static void store(KernelBody b, String space, NamedEntity base, int bytes) {
        int size = 1 << b.random.nextInt(4);
        int lanes = b.random.nextInt(3) != 0 || size < 4 ? 1 : 2;
        int unit = size * lanes;
        Index index = Indices.below(b, bytes / unit / 2);
        NamedEntity address = wide(b, base, index, unit);
        long offset = offset(b, unit, bytes / unit / 2);
        String st = "st" + (space.isEmpty() ? "" : "." + space);
        if (size == 8) {
            NamedEntity d = b.temp(RegisterWidth.D64);
            NamedEntity v = b.value();
            b.line("cvt.u64.u32 %s, %s;", d, v);
            if (lanes == 1) {
                b.guarded(index.guard(), st + ".u64 [%s%s], %s;", address, plus(offset), d);
            } else {
                b.guarded(index.guard(), st + ".v2.u64 [%s%s], {%s, %s};", address, plus(offset), d, d);
            }
            return;
        }
        NamedEntity v = b.value();
        NamedEntity w = b.value();
        if (lanes == 1) {
            b.guarded(index.guard(), st + ".u" + 8 * size + " [%s%s], %s;", address, plus(offset), v);
        } else {
            b.guarded(index.guard(), st + ".v2.u32 [%s%s], {%s, %s};", address, plus(offset), v, w);
        }
    }

    private static boolean shown(KernelBody b, NamedEntity... things) {
        for (NamedEntity thing : things) {
            if (!b.names.visible(thing)) {
                return false;
            }
            b.names.pin(thing);
        }
        return true;
    }

    static void global(KernelBody b) {
        if (b.kernel == null) {
            if (shown(b, b.own)) {
                load(b, "", b.own, SLICE_BYTES);
                store(b, "", b.own, SLICE_BYTES);
            }
        } else if (shown(b, b.kernel.in(), b.kernel.out())) {
            load(b, "global", b.kernel.in(), IN_BYTES);
            if (b.random.nextBoolean()) {
                store(b, b.random.nextBoolean() ? "global" : "", b.kernel.out(), SLICE_BYTES);
            }
        }
    }

    static void generic(KernelBody b) {
        if (b.kernel == null) {
            global(b);
            return;
        }
        NamedEntity base = b.random.nextBoolean() ? b.kernel.sharedGeneric() : b.kernel.localGeneric();
        if (shown(b, base)) {
            store(b, "", base, SLICE_BYTES);
            load(b, "", base, SLICE_BYTES);
        }
    }

    /** Shared memory by an address of 32 bits. */
    static void shared(KernelBody b) {
        if (b.kernel == null || !shown(b, b.kernel.tile())) {
            return;
        }
        shared(b, b.kernel.tile());
    }

    private static void shared(KernelBody b, NamedEntity variable) {
        int size = 4 << b.random.nextInt(2);
        NamedEntity a = b.temp(RegisterWidth.W32);
        NamedEntity start = b.temp(RegisterWidth.W32);
        NamedEntity tid = b.temp(RegisterWidth.W32);
        Index index = Indices.below(b, SLICE_BYTES / size / 2);
        b.line("mov.u32 %s, %%tid.x;", tid);
        b.line("mov.u32 %s, %s;", start, variable);
        b.line("mad.lo.u32 %s, %s, %s, %s;", start, tid, b.literal(SLICE_BYTES, 32, false), start);
        b.line("mad.lo." + b.type32(false) + " %s, %s, %s, %s;", a, index.register(), b.literal(size, 32, false), start);
        if (b.strays()) {
            b.line("xor.b32 %s, %s, %s;", a, a, Literal.of(b.random, Literal.border(b.random), 32, false));
        }
        long offset = offset(b, size, SLICE_BYTES / size / 2);
        NamedEntity v = b.value();
        NamedEntity got = b.temp(RegisterWidth.W32);
        b.line("mov.u32 %s, 3;", got);
        if (size == 4) {
            b.guarded(index.guard(), "st.shared.u32 [%s%s], %s;", a, plus(offset), v);
            b.guarded(index.guard(), b.random.nextBoolean() ? "ld.shared.s32 %s, [%s%s];" : "ld.shared.u16 %s, [%s%s];", got, a, plus(offset));
            if (b.random.nextInt(3) == 0) {
                b.guarded(index.guard(), "atom.shared.add.u32 %s, [%s%s], %s;", got, a, plus(offset), v);
            }
        } else {
            NamedEntity w = b.value();
            b.guarded(index.guard(), "st.shared.v2.u32 [%s%s], {%s, %s};", a, plus(offset), v, w);
            b.guarded(index.guard(), "ld.shared.u32 %s, [%s%s];", got, a, plus(offset + (b.random.nextBoolean() ? 4 : 0)));
        }
        b.use(got);
    }

    /** Local memory, or shared memory, of a block inside the body, with a name that probably hides another's. */
    static void inner(KernelBody b) {
        boolean local = b.shape.inner() && b.random.nextBoolean();
        if (!local && (b.kernel == null || !b.mayShare())) {
            return;
        }
        b.open();
        NamedEntity variable = b.names.any(b.random, null);
        b.names.pin(variable);
        if (local) {
            b.text.variable(".local .align 16 .b8 %s[" + SLICE_BYTES + "];", variable);
            local(b, variable);
        } else {
            b.text.variable(".shared .align 16 .b8 %s[" + SLICE_BYTES * b.shape.threads() + "];", variable);
            shared(b, variable);
        }
        b.close();
    }

    static void local(KernelBody b) {
        if (b.kernel != null && shown(b, b.kernel.frame())) {
            local(b, b.kernel.frame());
        }
    }

    private static void local(KernelBody b, NamedEntity variable) {
        NamedEntity base = b.temp(RegisterWidth.D64);
        b.line("mov.u64 %s, %s;", base, variable);
        for (int i = 0; i < SLICE_BYTES; i += 16) {
            NamedEntity v = b.value();
            NamedEntity w = b.value();
            b.line("st.local.v4.u32 [%s+%d], {%s, %s, %s, %s};", variable, i, v, w, v, w);
        }
        store(b, "local", base, SLICE_BYTES);
        load(b, "local", base, SLICE_BYTES);
    }

    static void constant(KernelBody b) {
        NamedEntity base = b.temp(RegisterWidth.D64);
        NamedEntity table = b.names.module(b.random.nextBoolean() ? "constants" : "table");
        if (!b.names.visible(table)) {
            return;
        }
        b.names.pin(table);
        b.line("mov.u64 %s, %s;", base, table);
        boolean constants = table.scoped().equals("constants");
        load(b, constants ? "const" : "global", base, constants ? CONST_BYTES : TABLE_BYTES);
    }

    static void atomic(KernelBody b) {
        if (b.kernel == null || !shown(b, b.kernel.out())) {
            return;
        }
        NamedEntity a = b.temp(RegisterWidth.D64);
        NamedEntity got = b.temp(RegisterWidth.W32);
        NamedEntity v = b.value();
        int at = OWN_ATOMICS + 4 * b.random.nextInt(8);
        b.line("add.s64 %s, %s, %d;", a, b.kernel.out(), b.random.nextInt(2) * 4);
        spoil(b, a);
        String space = b.random.nextBoolean() ? "global." : "";
        String[] operations = {"add.u32", "add.s32", "min.u32", "max.s32", "xor.b32", "exch.b32", "inc.u32"};
        b.line("atom." + space + operations[b.random.nextInt(operations.length)] + " %s, [%s+%d], %s;", got, a, at, v);
        b.line("red." + space + "add.u32 [%s+%d], %s;", a, at, v);
        b.use(got);
    }

    /** An asynchronous copy into the thread's part of shared memory, of any size, at an address that is aligned to just that. */
    static void copy(KernelBody b) {
        if (b.kernel == null || !shown(b, b.kernel.in(), b.kernel.tile())) {
            return;
        }
        int size = 4 << b.random.nextInt(3);
        NamedEntity to = b.temp(RegisterWidth.W32);
        NamedEntity tid = b.temp(RegisterWidth.W32);
        NamedEntity got = b.temp(RegisterWidth.W32);
        Index index = Indices.below(b, IN_BYTES / size / 2);
        NamedEntity from = wide(b, b.kernel.in(), index, size);
        b.line("mov.u32 %s, %%tid.x;", tid);
        b.line("mov.u32 %s, %s;", to, b.kernel.tile());
        b.line("mad.lo.u32 %s, %s, %s, %s;", to, tid, b.literal(SLICE_BYTES, 32, false), to);
        String form = size == 16 && b.random.nextBoolean() ? "cp.async.cg" : "cp.async.ca";
        long at = (long) size * b.random.nextInt(SLICE_BYTES / size);
        String copy = form + ".shared.global [%s" + plus(at) + "], [%s" + plus(offset(b, size, IN_BYTES / size / 2)) + "], " + size;
        switch (b.random.nextInt(3)) {
            case 0 -> b.guarded(index.guard(), copy + ";", to, from);
            case 1 -> b.guarded(index.guard(), copy + ", %d;", to, from, b.random.nextInt(size + 1));
            default -> {
                NamedEntity bytes = b.temp(RegisterWidth.W32);
                b.line("and.b32 %s, %s, %d;", bytes, b.value(), b.strays() ? -1 : size - 1);
                b.guarded(index.guard(), copy + ", %s;", to, from, bytes);
            }
        }
        b.line("cp.async.wait_all;");
        b.line("ld.shared.u32 %s, [%s+%d];", got, to, at);
        b.use(got);
    }

    /** An access that is not made: its address is garbage in legal kernels too. */
    static void never(KernelBody b) {
        NamedEntity p = b.temp(RegisterWidth.PRED);
        NamedEntity t = b.temp(RegisterWidth.W32);
        NamedEntity d = b.temp(RegisterWidth.D64);
        NamedEntity v = b.value();
        b.line("or.b32 %s, %s, 1;", t, v);
        b.line("setp.eq." + (b.random.nextBoolean() ? "u32" : "s32") + " %s, %s, 0;", p, t);
        b.line("mul.wide.u32 %s, %s, %s;", d, v, t);
        b.line("@%s st.global.u32 [%s], %s;", p, d, v);
        b.line("@%s ld.global.u32 %s, [%s+4];", p, t, d);
        b.line("@%s st.shared.u32 [%s], %s;", p, t, v);
        b.line("@%s ld.u32 %s, [%s+8];", p, t, d);
        b.line("@%s atom.global.add.u32 %s, [%s], %s;", p, t, d, v);
        b.use(t);
    }
}
