package io.tessera.fuzz.generate;

/** Branches forward, by a predicate or by a table. */
final class FlowSteps {
    private FlowSteps() {
    }

    static void branch(KernelBody b, long place) {
        if (!b.mayNest()) {
            return;
        }
        NamedEntity p = b.temp(RegisterWidth.PRED);
        NamedEntity v = b.value();
        NamedEntity other = b.names.ahead(b.random);
        NamedEntity end = b.names.ahead(b.random);
        boolean uniform = b.uniform;
        b.line("setp." + (b.random.nextBoolean() ? "lt.s32" : "gt.u32") + " %s, %s, %s;", p, v,
                Literal.of(b.random, Literal.border(b.random), 32, false));
        b.line((b.random.nextBoolean() ? "@%s" : "@!%s") + " bra %s;", p, other);
        b.uniform = false;
        b.open();
        b.steps(place, 1 + b.random.nextInt(2));
        b.close();
        b.line("bra %s;", end);
        b.line("%s:", other);
        b.open();
        b.steps(KernelBody.mix(place), 1 + b.random.nextInt(2));
        b.close();
        b.line("%s:", end);
        b.uniform = uniform;
    }

    static void table(KernelBody b, long place) {
        if (!b.mayNest()) {
            return;
        }
        Index index = Indices.below(b, 2);
        NamedEntity chosen = b.temp(RegisterWidth.W32);
        b.line("mov.u32 %s, 1;", chosen);
        b.guarded(index.guard(), "mov.b32 %s, %s;", chosen, index.register());
        NamedEntity table = b.names.ahead(b.random);
        NamedEntity one = b.names.ahead(b.random);
        NamedEntity two = b.names.ahead(b.random);
        NamedEntity end = b.names.ahead(b.random);
        boolean uniform = b.uniform;
        b.uniform = false;
        b.line("%s: .branchtargets %s, %s;", table, one, two);
        b.line("brx.idx %s, %s;", chosen, table);
        b.line("%s:", one);
        b.open();
        b.steps(place, 1);
        b.close();
        b.line("bra %s;", end);
        b.line("%s:", two);
        NamedEntity v = b.value();
        b.line("xor.b32 %s, %s, 9;", v, v);
        b.line("%s:", end);
        b.uniform = uniform;
    }
}
