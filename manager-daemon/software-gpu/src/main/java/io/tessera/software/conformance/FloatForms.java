package io.tessera.software.conformance;

import static io.tessera.software.conformance.InstructionForm.approximate;
import static io.tessera.software.conformance.InstructionForm.of;
import static io.tessera.software.program.ValueType.BF16;
import static io.tessera.software.program.ValueType.BF16X2;
import static io.tessera.software.program.ValueType.F16;
import static io.tessera.software.program.ValueType.F16X2;
import static io.tessera.software.program.ValueType.F32;
import static io.tessera.software.program.ValueType.F64;
import static io.tessera.software.program.ValueType.U32;

import io.tessera.software.program.ValueType;
import java.util.ArrayList;
import java.util.List;

/** Floating point arithmetic. Bounds of approximations are those of the PTX ISA 9.0, by instruction. */
final class FloatForms {
    private static final List<String> ROUNDINGS = List.of(".rn", ".rz", ".rm", ".rp");

    private FloatForms() {
    }

    static List<InstructionForm> all() {
        List<InstructionForm> forms = new ArrayList<>();
        singles(forms);
        leastNormal(forms);
        doubles(forms);
        approximations(forms);
        halves(forms);
        return forms;
    }

    private static void singles(List<InstructionForm> forms) {
        for (String rounding : ROUNDINGS) {
            for (String mode : List.of("", ".ftz", ".sat", ".ftz.sat")) {
                for (String operation : List.of("add", "sub", "mul")) {
                    forms.add(of(operation + rounding + mode + ".f32", F32, F32, F32));
                }
                forms.add(of("fma" + rounding + mode + ".f32", F32, F32, F32, F32));
            }
            for (String mode : List.of("", ".ftz")) {
                forms.add(of("div" + rounding + mode + ".f32", F32, F32, F32));
                forms.add(of("rcp" + rounding + mode + ".f32", F32, F32));
                forms.add(of("sqrt" + rounding + mode + ".f32", F32, F32));
            }
        }
        for (String mode : List.of("", ".ftz")) {
            forms.add(of("abs" + mode + ".f32", F32, F32));
            forms.add(of("neg" + mode + ".f32", F32, F32));
            for (String extra : List.of("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs")) {
                forms.add(of("min" + mode + extra + ".f32", F32, F32, F32));
                forms.add(of("max" + mode + extra + ".f32", F32, F32, F32));
            }
        }
        forms.add(of("copysign.f32", F32, F32, F32));
    }

    /** Exact results just below the least normal number, which rounding may make normal before they are flushed. */
    private static void leastNormal(List<InstructionForm> forms) {
        for (String rounding : ROUNDINGS) {
            // (1 - k 2^-24) times (1 + j 2^-23) 2^-126.
            String product = "mul" + rounding + ".ftz.f32";
            forms.add(new InstructionForm(product + " about 2^-126", "and.b32 $0, $0, 15; and.b32 $1, $1, 7; "
                    + "sub.u32 $0, 0x3F800000, $0; add.u32 $1, $1, 0x00800000; " + product + " #0, $0, $1;",
                    List.of(F32), List.of(U32, U32), Tolerance.EXACT));
            // 2^-126 less a product of at most 2^-150.
            String sum = "fma" + rounding + ".ftz.f32";
            forms.add(new InstructionForm(sum + " about 2^-126", "and.b32 $0, $0, 15; and.b32 $1, $1, 0x01800000; "
                    + "sub.u32 $0, 0x9A000000, $0; sub.u32 $1, 0x1A000000, $1; " + sum
                    + " #0, $0, $1, 0f00800000;", List.of(F32), List.of(U32, U32), Tolerance.EXACT));
        }
    }

    private static void doubles(List<InstructionForm> forms) {
        for (String rounding : ROUNDINGS) {
            for (String operation : List.of("add", "sub", "mul", "div")) {
                forms.add(of(operation + rounding + ".f64", F64, F64, F64));
            }
            forms.add(of("fma" + rounding + ".f64", F64, F64, F64, F64));
            forms.add(of("rcp" + rounding + ".f64", F64, F64));
            forms.add(of("sqrt" + rounding + ".f64", F64, F64));
        }
        for (String operation : List.of("min", "max", "copysign")) {
            forms.add(of(operation + ".f64", F64, F64, F64));
        }
        forms.add(of("abs.f64", F64, F64));
        forms.add(of("neg.f64", F64, F64));
    }

    private static void approximations(List<InstructionForm> forms) {
        for (String mode : List.of("", ".ftz")) {
            forms.add(approximate("div.full" + mode + ".f32", Tolerance.ulps(2), F32, F32, F32));
            forms.add(approximate("div.approx" + mode + ".f32", Tolerance.ulps(2), F32, F32, F32));
            forms.add(approximate("rcp.approx" + mode + ".f32", Tolerance.ulps(1), F32, F32));
            forms.add(approximate("sqrt.approx" + mode + ".f32", Tolerance.ulps(2), F32, F32));
            forms.add(approximate("rsqrt.approx" + mode + ".f32", Tolerance.ulps(2), F32, F32));
            forms.add(approximate("ex2.approx" + mode + ".f32", Tolerance.ulps(2), F32, F32));
            forms.add(approximate("lg2.approx" + mode + ".f32", Tolerance.absolute(0x1p-15), F32, F32));
            // Arguments beyond 100 pi have no bound: they are brought down first.
            for (String function : List.of("sin", "cos")) {
                forms.add(new InstructionForm(function + ".approx" + mode + ".f32", "min.f32 $0, $0, 0f40C90FDB; "
                        + "max.f32 $0, $0, 0fC0C90FDB; " + function + ".approx" + mode + ".f32 #0, $0;",
                        List.of(F32), List.of(F32), Tolerance.absolute(0x1p-20)));
            }
        }
        forms.add(approximate("tanh.approx.f32", Tolerance.relative(0x1p-10), F32, F32));
        forms.add(approximate("rcp.approx.ftz.f64", Tolerance.relative(0x1p-19), F64, F64));
        forms.add(approximate("rsqrt.approx.ftz.f64", Tolerance.relative(0x1p-19), F64, F64));
        forms.add(approximate("rsqrt.approx.f64", Tolerance.relative(0x1p-22), F64, F64));
        // The bound of 2^-9.9 of the value, where values are normal; subnormal ones are too coarse for it.
        forms.add(approximate("ex2.approx.f16", Tolerance.ulps(2), F16, F16));
        forms.add(approximate("ex2.approx.f16x2", Tolerance.ulps(2), F16X2, F16X2));
        forms.add(approximate("tanh.approx.f16", Tolerance.absolute(0x1p-10), F16, F16));
        forms.add(approximate("tanh.approx.f16x2", Tolerance.absolute(0x1p-10), F16X2, F16X2));
        forms.add(approximate("ex2.approx.ftz.bf16", Tolerance.relative(0x1p-6), BF16, BF16));
        forms.add(approximate("tanh.approx.bf16", Tolerance.absolute(0x1p-7), BF16, BF16));
    }

    private static void halves(List<InstructionForm> forms) {
        for (ValueType t : List.of(F16, F16X2)) {
            String type = "." + t.token();
            for (String mode : List.of("", ".ftz", ".sat", ".ftz.sat")) {
                for (String operation : List.of("add.rn", "sub.rn", "mul.rn")) {
                    forms.add(of(operation + mode + type, t, t, t));
                }
                forms.add(of("fma.rn" + mode + type, t, t, t, t));
            }
            forms.add(of("fma.rn.relu" + type, t, t, t, t));
            forms.add(of("fma.rn.ftz.relu" + type, t, t, t, t));
            forms.add(of("abs.ftz" + type, t, t));
            forms.add(of("neg.ftz" + type, t, t));
            extremes(forms, t, List.of("", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".NaN.xorsign.abs"));
        }
        for (ValueType t : List.of(BF16, BF16X2)) {
            String type = "." + t.token();
            for (String operation : List.of("add.rn", "sub.rn", "mul.rn")) {
                forms.add(of(operation + type, t, t, t));
            }
            forms.add(of("fma.rn" + type, t, t, t, t));
            forms.add(of("fma.rn.relu" + type, t, t, t, t));
            extremes(forms, t, List.of("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"));
        }
        for (ValueType t : List.of(F16, F16X2, BF16, BF16X2)) {
            forms.add(of("abs." + t.token(), t, t));
            forms.add(of("neg." + t.token(), t, t));
        }
    }

    private static void extremes(List<InstructionForm> forms, ValueType t, List<String> modes) {
        for (String mode : modes) {
            forms.add(of("min" + mode + "." + t.token(), t, t, t));
            forms.add(of("max" + mode + "." + t.token(), t, t, t));
        }
    }
}
