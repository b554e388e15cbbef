package io.tessera.fuzz.generate;

/** Collective operations of the threads of a warp, block or cluster. Legal kernels do them only where all threads arrive. */
final class GroupSteps {
    private GroupSteps() {
    }

    static void group(KernelBody b) {
        if (b.kernel == null || !b.uniform) {
            ValueSteps.arithmetic(b);
            return;
        }
        switch (b.random.nextInt(b.shape.cluster() > 1 ? 6 : 5)) {
            case 0 -> shuffle(b);
            case 1 -> vote(b);
            case 2, 3 -> exchange(b);
            case 4 -> wait(b);
            default -> cluster(b);
        }
    }

    private static void shuffle(KernelBody b) {
        NamedEntity t = b.temp(RegisterWidth.W32);
        NamedEntity v = b.value();
        String[] ways = {"idx", "bfly", "up", "down"};
        String way = ways[b.random.nextInt(4)];
        b.line("shfl.sync." + way + ".b32 %s, %s, %d, %d, %s;", t, v, b.random.nextInt(b.shape.lanes()), way.equals("up") ? 0 : b.shape.lanes() - 1,
                b.shape.mask());
        b.use(t);
    }

    private static void vote(KernelBody b) {
        NamedEntity p = b.temp(RegisterWidth.PRED);
        NamedEntity t = b.temp(RegisterWidth.W32);
        NamedEntity v = b.value();
        b.line("setp.lt.s32 %s, %s, 0;", p, v);
        switch (b.random.nextInt(3)) {
            case 0 -> b.line("vote.sync.ballot.b32 %s, %s, %s;", t, p, b.shape.mask());
            case 1 -> b.line("redux.sync.add.u32 %s, %s, %s;", t, v, b.shape.mask());
            default -> {
                b.line("vote.sync.any.pred %s, %s, %s;", p, p, b.shape.mask());
                b.line("selp.b32 %s, 5, 6, %s;", t, p);
            }
        }
        b.use(t);
    }

    /** Each thread writes its own word, waits, and reads another thread's. */
    private static void exchange(KernelBody b) {
        if (!b.mayShare()) {
            return;
        }
        b.open();
        NamedEntity words = b.names.any(b.random, null);
        b.names.pin(words);
        b.text.variable(".shared .align 4 .b32 %s[" + b.shape.threads() + "];", words);
        NamedEntity a = b.temp(RegisterWidth.W32);
        NamedEntity start = b.temp(RegisterWidth.W32);
        NamedEntity tid = b.temp(RegisterWidth.W32);
        NamedEntity got = b.temp(RegisterWidth.W32);
        NamedEntity v = b.value();
        b.line("mov.u32 %s, %%tid.x;", tid);
        b.line("mov.u32 %s, %s;", start, words);
        b.line("shl.b32 %s, %s, 2;", a, tid);
        b.line("add.u32 %s, %s, %s;", a, a, start);
        if (b.strays()) {
            b.line("add.u32 %s, %s, %s;", a, a, Literal.of(b.random, Literal.border(b.random), 32, false));
        }
        b.line("st.shared.u32 [%s], %s;", a, v);
        b.line("bar.sync 0;");
        b.line("xor.b32 %s, %s, %d;", tid, tid, b.random.nextInt(b.shape.threads()));
        b.line("mad.lo.u32 %s, %s, %s, %s;", a, tid, b.literal(4, 32, false), start);
        b.line("ld.shared.u32 %s, [%s];", got, a);
        b.line("bar.sync 0;");
        b.use(got);
        b.close();
    }

    private static void wait(KernelBody b) {
        if (b.shape.endless() && b.random.nextBoolean()) {
            NamedEntity n = b.value();
            b.line("bar.sync %s, %d;", n, 32 * (1 + b.random.nextInt(8)));
            return;
        }
        if (b.shape.threads() < 32) {
            b.line("bar.sync %d;", b.random.nextInt(4));
            return;
        }
        b.line("bar.sync %d, %d;", b.random.nextInt(4), b.shape.threads());
    }

    /** Each thread reads the memory of the other block of the cluster. */
    private static void cluster(KernelBody b) {
        if (!b.mayShare()) {
            return;
        }
        b.open();
        NamedEntity words = b.names.any(b.random, null);
        b.names.pin(words);
        b.text.variable(".shared .align 4 .b32 %s[" + b.shape.threads() + "];", words);
        NamedEntity a = b.temp(RegisterWidth.W32);
        NamedEntity there = b.temp(RegisterWidth.W32);
        NamedEntity rank = b.temp(RegisterWidth.W32);
        NamedEntity got = b.temp(RegisterWidth.W32);
        NamedEntity v = b.value();
        b.line("mov.u32 %s, %%tid.x;", got);
        b.line("mov.u32 %s, %s;", a, words);
        b.line("mad.lo.u32 %s, %s, 4, %s;", a, got, a);
        b.line("st.shared.u32 [%s], %s;", a, v);
        b.line("barrier.cluster.arrive;");
        b.line("barrier.cluster.wait;");
        b.line("mov.u32 %s, %%cluster_ctarank;", rank);
        b.line("xor.b32 %s, %s, %s;", rank, rank, b.literal(1, 32, false));
        b.line("mapa.shared::cluster.u32 %s, %s, %s;", there, a, rank);
        if (b.strays()) {
            b.line("add.u32 %s, %s, %s;", there, there, Literal.of(b.random, Literal.border(b.random), 32, false));
        }
        b.line("ld.shared::cluster.u32 %s, [%s];", got, there);
        b.line("barrier.cluster.arrive;");
        b.line("barrier.cluster.wait;");
        b.use(got);
        b.close();
    }
}
