package io.tessera.fuzz.generate;

/** Calls of the module's functions, by name or by a number from a table, with memory that they may use. */
final class CallSteps {
    private CallSteps() {
    }

    static void call(KernelBody b) {
        NamedEntity pointer = switch (b.random.nextInt(3)) {
            case 0 -> b.kernel.out();
            case 1 -> b.kernel.sharedGeneric();
            default -> b.kernel.localGeneric();
        };
        if (!b.names.visible(pointer) || !b.names.visible(b.names.module("f0")) || !b.names.visible(b.names.module("f1"))) {
            return;
        }
        b.names.pin(pointer);
        NamedEntity p = b.temp(RegisterWidth.D64);
        NamedEntity got = b.temp(RegisterWidth.W32);
        NamedEntity v = b.value();
        b.line("mov.b64 %s, %s;", p, pointer);
        MemorySteps.spoil(b, p);
        String function = b.random.nextBoolean() ? "f0" : "f1";
        if (b.shape.inRegisters()) {
            b.line("call (%s), " + function + ", (%s, %s);", got, p, v);
            b.use(got);
            return;
        }
        byParameters(b, function, p, got, v);
    }

    private static void byParameters(KernelBody b, String function, NamedEntity p, NamedEntity got, NamedEntity v) {
        b.line("{");
        b.line(".param .b64 pa;\n.param .b32 pb;\n.param .b32 pc;");
        b.line("st.param.b64 [pa], %s;", p);
        b.line("st.param.b32 [pb], %s;", v);
        if (b.random.nextInt(3) == 0 && b.names.visible(b.names.module("functions"))) {
            NamedEntity target = b.temp(RegisterWidth.D64);
            NamedEntity at = b.temp(RegisterWidth.D64);
            NamedEntity prototype = b.names.ahead(b.random);
            b.line("mov.u64 %s, functions;", at);
            b.line("ld.global.u64 %s, [%s+%d];", target, at, 8 * b.random.nextInt(2));
            if (b.random.nextInt(3) == 0) {
                MemorySteps.spoil(b, target);
            }
            b.line("%s: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _);", prototype);
            b.line("call (pc), %s, (pa, pb), %s;", target, prototype);
        } else {
            b.line("call (pc), " + function + ", (pa, pb);");
        }
        b.line("ld.param.b32 %s, [pc];", got);
        b.line("}");
        b.use(got);
    }
}
