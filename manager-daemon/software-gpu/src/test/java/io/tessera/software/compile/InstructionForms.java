package io.tessera.software.compile;

import java.util.ArrayList;
import java.util.List;

/**
 * Forms of PTX instructions for comparing the compiler with the interpreter. Sources are {@code %ra %rb %rc} (32 bits),
 * {@code %la..} (64), {@code %ha..} (16), {@code %fa..} (.f32), {@code %da..} (.f64), {@code %pa %pb}; results the same
 * letters with 0, a second predicate {@code %p1}.
 */
final class InstructionForms {
    private static final List<String> ROUNDINGS = List.of("rn", "rz", "rm", "rp");
    private static final List<String> RELATIONS = List.of("eq", "ne", "lt", "le", "gt", "ge");

    private final List<String> forms = new ArrayList<>();

    private InstructionForms() {
    }

    static List<String> all() {
        InstructionForms forms = new InstructionForms();
        forms.integers();
        forms.bits();
        forms.floats();
        forms.halves();
        forms.comparisons();
        forms.conversions();
        forms.moves();
        return forms.forms;
    }

    private void add(String... more) {
        forms.addAll(List.of(more));
    }

    /** Register letter of a type. */
    private static String letter(String type) {
        return switch (type) {
            case "f32" -> "f";
            case "f64" -> "d";
            case "pred" -> "p";
            default -> type.endsWith("64") ? "l" : type.endsWith("32") || type.endsWith("x2") ? "r" : "h";
        };
    }

    private void ternary(String opcode, String type) {
        String letter = letter(type);
        add(opcode + "." + type + " %" + letter + "0, %" + letter + "a, %" + letter + "b, %" + letter + "c");
    }

    private void binary(String opcode, String type) {
        String letter = letter(type);
        add(opcode + "." + type + " %" + letter + "0, %" + letter + "a, %" + letter + "b");
    }

    private void unary(String opcode, String type) {
        String letter = letter(type);
        add(opcode + "." + type + " %" + letter + "0, %" + letter + "a");
    }

    private void integers() {
        for (String type : List.of("s16", "u16", "s32", "u32", "s64", "u64")) {
            List.of("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max").forEach(op -> binary(op, type));
            List.of("mad.lo", "mad.hi", "sad").forEach(op -> ternary(op, type));
            if (type.startsWith("s")) {
                unary("abs", type);
                unary("neg", type);
            }
        }
        for (String sign : List.of("s", "u")) {
            add("mul.wide." + sign + "16 %r0, %ha, %hb", "mul.wide." + sign + "32 %l0, %ra, %rb",
                    "mad.wide." + sign + "16 %r0, %ha, %hb, %rc", "mad.wide." + sign + "32 %l0, %ra, %rb, %lc",
                    "mul24.lo." + sign + "32 %r0, %ra, %rb", "mul24.hi." + sign + "32 %r0, %ra, %rb",
                    "mad24.lo." + sign + "32 %r0, %ra, %rb, %rc", "mad24.hi." + sign + "32 %r0, %ra, %rb, %rc");
        }
        add("add.sat.s32 %r0, %ra, %rb", "sub.sat.s32 %r0, %ra, %rb", "mad.hi.sat.s32 %r0, %ra, %rb, %rc",
                "add.cc.u32 %r0, %ra, %rb;\naddc.u32 %r0, %r0, %rc", "sub.cc.u32 %r0, %ra, %rb;\nsubc.u32 %r0, %r0, %rc",
                "add.cc.u64 %l0, %la, %lb;\naddc.cc.u64 %l0, %l0, %lc;\naddc.u32 %r0, %ra, 0",
                "sub.cc.u64 %l0, %la, %lb;\nsubc.u64 %l0, %l0, %lc",
                "mad.lo.cc.u32 %r0, %ra, %rb, %rc;\nmadc.hi.u32 %r0, %ra, %rb, %r0",
                "add.u16x2 %r0, %ra, %rb", "min.s16x2 %r0, %ra, %rb", "max.u16x2 %r0, %ra, %rb",
                "min.relu.s32 %r0, %ra, %rb", "dp4a.s32.u32 %r0, %ra, %rb, %rc", "dp4a.u32.s32 %r0, %ra, %rb, %rc",
                "dp2a.lo.s32.s32 %r0, %ra, %rb, %rc", "dp2a.hi.u32.u32 %r0, %ra, %rb, %rc");
    }

    private void bits() {
        for (String type : List.of("b16", "b32", "b64", "pred")) {
            List.of("and", "or", "xor").forEach(op -> binary(op, type));
            unary("not", type);
        }
        for (String type : List.of("b16", "b32", "b64")) {
            String letter = letter(type);
            unary("cnot", type);
            add("shl." + type + " %" + letter + "0, %" + letter + "a, %rb",
                    "shl." + type + " %" + letter + "0, %" + letter + "a, 5");
        }
        for (String type : List.of("u16", "s16", "u32", "s32", "u64", "s64", "b32")) {
            String letter = letter(type);
            add("shr." + type + " %" + letter + "0, %" + letter + "a, %rb",
                    "shr." + type + " %" + letter + "0, %" + letter + "a, 3");
        }
        add("shf.l.wrap.b32 %r0, %ra, %rb, %rc", "shf.l.clamp.b32 %r0, %ra, %rb, %rc",
                "shf.r.wrap.b32 %r0, %ra, %rb, %rc", "shf.r.clamp.b32 %r0, %ra, %rb, %rc", "popc.b32 %r0, %ra",
                "popc.b64 %r0, %la", "clz.b32 %r0, %ra", "clz.b64 %r0, %la", "brev.b32 %r0, %ra", "brev.b64 %l0, %la",
                "bfind.u32 %r0, %ra", "bfind.s32 %r0, %ra", "bfind.u64 %r0, %la", "bfind.shiftamt.s64 %r0, %la",
                "bfe.u32 %r0, %ra, %rb, %rc", "bfe.s32 %r0, %ra, %rb, %rc", "bfe.u64 %l0, %la, %rb, %rc",
                "bfe.s64 %l0, %la, %rb, %rc", "bfe.s32 %r0, %ra, 7, 9", "bfi.b32 %r0, %ra, %rb, %rc, 5",
                "bfi.b64 %l0, %la, %lb, 3, %rc", "bmsk.clamp.b32 %r0, %ra, %rb", "bmsk.wrap.b32 %r0, %ra, %rb",
                "szext.clamp.s32 %r0, %ra, %rb", "szext.wrap.u32 %r0, %ra, %rb", "fns.b32 %r0, %ra, 3, 2",
                "lop3.b32 %r0, %ra, %rb, %rc, 0x96", "lop3.b32 %r0, %ra, %rb, %rc, 0x1b",
                "prmt.b32 %r0, %ra, %rb, %rc", "prmt.b32 %r0, %ra, %rb, 0x5410", "prmt.b32.f4e %r0, %ra, %rb, %rc",
                "prmt.b32.b4e %r0, %ra, %rb, %rc", "prmt.b32.rc8 %r0, %ra, %rb, %rc",
                "prmt.b32.ecl %r0, %ra, %rb, %rc", "prmt.b32.ecr %r0, %ra, %rb, %rc",
                "prmt.b32.rc16 %r0, %ra, %rb, %rc");
    }

    private void floats() {
        for (String rounding : ROUNDINGS) {
            for (String type : List.of("f32", "f64", "ftz.f32", "ftz.sat.f32", "sat.f32")) {
                String plain = type.endsWith("f32") ? "f32" : "f64";
                String words = rounding + "." + type.substring(0, type.length() - 3);
                String prefix = words.endsWith(".") ? words.substring(0, words.length() - 1) : words;
                List.of("add", "sub", "mul").forEach(op -> binary(op + "." + prefix, plain));
                ternary("fma." + prefix, plain);
                if (!type.contains("sat")) {
                    binary("div." + prefix, plain);
                    unary("rcp." + prefix, plain);
                    unary("sqrt." + prefix, plain);
                }
            }
        }
        for (String words : List.of("", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".NaN.xorsign.abs")) {
            binary("min" + words, "f32");
            binary("max" + words, "f32");
        }
        for (String op : List.of("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2")) {
            unary(op + ".approx", "f32");
            unary(op + ".approx.ftz", "f32");
        }
        add("div.approx.f32 %f0, %fa, %fb", "div.full.ftz.f32 %f0, %fa, %fb", "tanh.approx.f32 %f0, %fa",
                "abs.f32 %f0, %fa", "abs.ftz.f32 %f0, %fa", "neg.f32 %f0, %fa", "neg.ftz.f32 %f0, %fa",
                "abs.f64 %d0, %da", "neg.f64 %d0, %da", "min.f64 %d0, %da, %db", "max.f64 %d0, %da, %db",
                "rcp.approx.ftz.f64 %d0, %da", "rsqrt.approx.ftz.f64 %d0, %da", "rsqrt.approx.f64 %d0, %da",
                "copysign.f32 %f0, %fa, %fb", "copysign.f64 %d0, %da, %db", "add.f32 %f0, %fa, 0f3F800000",
                "mad.rn.f32 %f0, %fa, %fb, %fc", "mad.rz.f64 %d0, %da, %db, %dc",
                // A result that is only computed with, then seen as bits.
                "add.f32 %f0, %fa, %fb;\nmul.f32 %f0, %f0, %fc;\nmov.b32 %r0, %f0");
        for (String word : List.of("finite", "infinite", "number", "notanumber", "normal", "subnormal")) {
            add("testp." + word + ".f32 %p0, %fa", "testp." + word + ".f64 %p0, %da");
        }
    }

    private void halves() {
        for (String type : List.of("f16", "f16x2", "bf16", "bf16x2")) {
            List.of("add.rn", "sub.rn", "mul.rn").forEach(op -> binary(op, type));
            List.of("fma.rn", "fma.rn.relu").forEach(op -> ternary(op, type));
            List.of("min", "max", "min.NaN", "max.NaN", "max.NaN.xorsign.abs").forEach(op -> binary(op, type));
            List.of("abs", "neg", "tanh.approx").forEach(op -> unary(op, type));
            unary(type.startsWith("b") ? "ex2.approx.ftz" : "ex2.approx", type);
            if (!type.startsWith("b")) {
                List.of("add.ftz", "add.rn.sat", "mul.ftz.sat").forEach(op -> binary(op, type));
                ternary("fma.rn.ftz.sat", type);
            }
        }
    }

    private void comparisons() {
        for (String type : List.of("s16", "u16", "b16", "s32", "u32", "b32", "s64", "u64", "b64")) {
            String letter = letter(type);
            for (String relation : type.startsWith("b") ? List.of("eq", "ne") : RELATIONS) {
                add("setp." + relation + "." + type + " %p0, %" + letter + "a, %" + letter + "b");
            }
        }
        List<String> relations = new ArrayList<>(RELATIONS);
        relations.addAll(List.of("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"));
        for (String relation : relations) {
            add("setp." + relation + ".f32 %p0, %fa, %fb", "setp." + relation + ".ftz.f32 %p0, %fa, %fb",
                    "setp." + relation + ".f64 %p0, %da, %db", "setp." + relation + ".f16 %p0, %ha, %hb",
                    "setp." + relation + ".bf16 %p0, %ha, %hb", "set." + relation + ".u32.f32 %r0, %fa, %fb");
        }
        add("setp.lo.u32 %p0, %ra, %rb", "setp.hs.u64 %p0, %la, %lb", "setp.ls.u16 %p0, %ha, %hb",
                "setp.lt.and.s32 %p0|%p1, %ra, %rb, %pa", "setp.ge.xor.f32 %p0|%p1, %fa, %fb, !%pa",
                "setp.eq.or.u64 %p0, %la, %lb, !%pb", "set.lt.f32.s32 %f0, %ra, %rb", "set.gt.and.s32.f64 %r0, %da, %db, %pa",
                "set.eq.f32.f32 %f0, %fa, %fb", "set.lt.f16.f16 %h0, %ha, %hb", "selp.b16 %h0, %ha, %hb, %pa",
                "selp.b32 %r0, %ra, %rb, %pa", "selp.b64 %l0, %la, %lb, !%pa", "selp.f32 %f0, %fa, %fb, %pa",
                "selp.f64 %d0, %da, %db, %pa", "selp.s32 %r0, 1, -1, %pb", "slct.s32.s32 %r0, %ra, %rb, %rc",
                "slct.f32.f32 %f0, %fa, %fb, %fc", "slct.ftz.f64.f32 %d0, %da, %db, %fc", "slct.u64.s32 %l0, %la, %lb, %rc",
                "setp.lt.f16x2 %p0|%p1, %ra, %rb", "set.gt.f16x2.f16x2 %r0, %ra, %rb");
    }

    private void conversions() {
        List<String> integers = List.of("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64");
        for (String to : integers) {
            for (String from : integers) {
                convert("cvt", to, from);
                if (!to.equals(from)) {
                    String plain = "cvt.sat";
                    if (bits(to) < bits(from) || to.charAt(0) != from.charAt(0) && bits(to) <= bits(from)) {
                        convert(plain, to, from);
                    }
                }
            }
            for (String from : List.of("f16", "bf16", "f32", "f64")) {
                for (String rounding : List.of("rni", "rzi", "rmi", "rpi")) {
                    convert("cvt." + rounding, to, from);
                }
                ROUNDINGS.subList(0, from.contains("16") ? 1 : 4).forEach(r -> convert("cvt." + r, from, to));
            }
            convert("cvt.rzi.ftz", to, "f32");
        }
        for (String rounding : ROUNDINGS) {
            convert("cvt." + rounding, "f32", "f64");
            convert("cvt." + rounding + ".ftz.sat", "f32", "f64");
            convert("cvt." + rounding, "f16", "f32");
            convert("cvt." + rounding, "f16", "f64");
        }
        for (String rounding : List.of("rni", "rzi", "rmi", "rpi")) {
            convert("cvt." + rounding, "f32", "f32");
            convert("cvt." + rounding + ".ftz.sat", "f32", "f32");
            convert("cvt." + rounding, "f64", "f64");
            convert("cvt." + rounding, "f16", "f16");
        }
        convert("cvt", "f64", "f32");
        convert("cvt.ftz", "f64", "f32");
        convert("cvt", "f32", "f16");
        convert("cvt.ftz.sat", "f32", "f32");
        convert("cvt", "f32", "bf16");
        convert("cvt", "f64", "f16");
        convert("cvt.rn", "bf16", "f32");
        convert("cvt.rz", "bf16", "f32");
        convert("cvt.rn.relu", "f16", "f32");
        convert("cvt.rn.sat", "f16", "f32");
        add("cvt.rn.f16x2.f32 %r0, %fa, %fb", "cvt.rz.bf16x2.f32 %r0, %fa, %fb",
                "cvt.rn.relu.f16x2.f32 %r0, %fa, %fb", "cvt.rna.tf32.f32 %r0, %fa", "cvt.rn.relu.tf32.f32 %r0, %fa",
                "cvt.rn.satfinite.e4m3x2.f32 %h0, %fa, %fb", "cvt.rn.satfinite.e5m2x2.f32 %h0, %fa, %fb",
                "cvt.rn.f16x2.e4m3x2 %r0, %ha", "cvt.rn.relu.f16x2.e5m2x2 %r0, %ha",
                "cvt.rn.satfinite.e4m3x2.f16x2 %h0, %ra", "cvt.u64.u8 %l0, %ra", "cvt.s64.s16 %l0, %la",
                "cvt.u32.u16 %l0, %la", "cvt.s16.s64 %r0, %la");
    }

    private static int bits(String type) {
        return Integer.parseInt(type.substring(1));
    }

    private void convert(String opcode, String to, String from) {
        add(opcode + "." + to + "." + from + " %" + letter(to) + "0, %" + letter(from) + "a");
    }

    private void moves() {
        add("mov.b32 %r0, {%ha, %hb}", "mov.b64 %l0, {%ra, %rb}", "mov.b64 %l0, {%ha, %hb, %hc, %ha}",
                "mov.b32 {%h0, _}, %ra", "mov.b32 {_, %h0}, %ra", "mov.b64 {%r0, %r0}, %la", "mov.b64 {_, %r0}, %la",
                "mov.f32 %f0, %fa", "mov.f64 %d0, %da", "mov.b32 %f0, %ra", "mov.b32 %r0, %fa", "mov.b64 %l0, %da",
                "mov.b64 %d0, %la", "mov.u16 %h0, %ha", "mov.pred %p0, %pa", "mov.u32 %r0, 0xdeadbeef",
                "mov.b16 %h0, -3", "mov.f32 %f0, 0f7FC01234", "mov.f64 %d0, 0d7FF0000000000001",
                "@%pa add.u32 %r0, %ra, %rb", "@!%pb mul.f32 %f0, %fa, %fb");
    }
}
