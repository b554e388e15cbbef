package io.tessera.software.conformance;

import static io.tessera.software.conformance.InstructionForm.of;
import static io.tessera.software.program.ValueType.B32;
import static io.tessera.software.program.ValueType.BF16;
import static io.tessera.software.program.ValueType.F16;
import static io.tessera.software.program.ValueType.F16X2;
import static io.tessera.software.program.ValueType.F32;
import static io.tessera.software.program.ValueType.F64;
import static io.tessera.software.program.ValueType.S16;
import static io.tessera.software.program.ValueType.S32;
import static io.tessera.software.program.ValueType.S64;
import static io.tessera.software.program.ValueType.S8;
import static io.tessera.software.program.ValueType.U16;
import static io.tessera.software.program.ValueType.U32;
import static io.tessera.software.program.ValueType.U64;
import static io.tessera.software.program.ValueType.U8;

import io.tessera.software.program.ValueType;
import java.util.ArrayList;
import java.util.List;

/** Conversions between all types. Types of 8 bits are held in 32-bit registers, which shows how they are extended. */
final class ConvertForms {
    private static final List<ValueType> INTEGERS = List.of(U8, S8, U16, S16, U32, S32, U64, S64);
    private static final List<String> ROUNDINGS = List.of(".rn", ".rz", ".rm", ".rp");
    private static final List<String> INTEGRAL = List.of(".rni", ".rzi", ".rmi", ".rpi");

    private ConvertForms() {
    }

    static List<InstructionForm> all() {
        List<InstructionForm> forms = new ArrayList<>();
        integers(forms);
        betweenFloatAndInteger(forms);
        floats(forms);
        packed(forms);
        return forms;
    }

    private static ValueType holder(ValueType type) {
        return type.bits() == 8 ? B32 : type;
    }

    /** Returns whether no value of a type is out of another's range; then {@code .sat} is not allowed. */
    private static boolean holdsAll(ValueType to, ValueType from) {
        return from.isSigned() ? to.isSigned() && to.bits() >= from.bits()
                : to.bits() > from.bits() || to.bits() == from.bits() && !to.isSigned();
    }

    private static void integers(List<InstructionForm> forms) {
        for (ValueType to : INTEGERS) {
            for (ValueType from : INTEGERS) {
                String types = "." + to.token() + "." + from.token();
                forms.add(of("cvt" + types, holder(to), holder(from)));
                if (!holdsAll(to, from)) {
                    forms.add(of("cvt.sat" + types, holder(to), holder(from)));
                }
                if (to.bits() == 16) {
                    InstructionForm wider = of("cvt" + types, B32, holder(from));
                    forms.add(new InstructionForm("cvt" + types + " to 32 bits", wider.text(), wider.results(),
                            wider.sources(), Tolerance.EXACT));
                }
            }
        }
        for (String to : List.of("s16", "u16")) {
            forms.add(of("cvt.pack.sat." + to + ".s32", B32, S32, S32));
        }
        for (String to : List.of("s8", "u8")) {
            forms.add(of("cvt.pack.sat." + to + ".s32.b32", B32, S32, S32, B32));
        }
    }

    private static void betweenFloatAndInteger(List<InstructionForm> forms) {
        for (ValueType integer : INTEGERS) {
            for (ValueType real : List.of(F16, BF16, F32, F64)) {
                if (real == BF16 && integer.bits() == 8) {
                    continue;
                }
                String from = "." + real.token() + "." + integer.token();
                String to = "." + integer.token() + "." + real.token();
                for (String rounding : real == BF16 || real == F16 ? List.of(".rn", ".rz") : ROUNDINGS) {
                    forms.add(of("cvt" + rounding + from, real, holder(integer)));
                }
                for (String rounding : INTEGRAL) {
                    forms.add(of("cvt" + rounding + to, holder(integer), real));
                }
                if (real == F32) {
                    forms.add(of("cvt.rzi.ftz" + to, holder(integer), real));
                    forms.add(of("cvt.rni.sat" + to, holder(integer), real));
                    forms.add(of("cvt.rn.sat" + from, real, holder(integer)));
                }
            }
        }
    }

    private static void floats(List<InstructionForm> forms) {
        for (String rounding : ROUNDINGS) {
            forms.add(of("cvt" + rounding + ".f32.f64", F32, F64));
            forms.add(of("cvt" + rounding + ".ftz.f32.f64", F32, F64));
            forms.add(of("cvt" + rounding + ".f16.f32", F16, F32));
            forms.add(of("cvt" + rounding + ".f16.f64", F16, F64));
        }
        for (String rounding : List.of(".rn", ".rz")) {
            forms.add(of("cvt" + rounding + ".bf16.f32", BF16, F32));
            forms.add(of("cvt" + rounding + ".relu.bf16.f32", BF16, F32));
            forms.add(of("cvt" + rounding + ".relu.f16.f32", F16, F32));
            // Compared as .f32: which NaN a conversion to .tf32 gives is open.
            forms.add(of("cvt" + rounding + ".tf32.f32", F32, F32));
            forms.add(of("cvt" + rounding + ".relu.tf32.f32", F32, F32));
        }
        // The H200 makes an infinity of 0x7f800001 here, which PTX leaves open: the product makes NaNs canonical first.
        forms.add(new InstructionForm("cvt.rna.tf32.f32", "mul.rn.f32 $0, $0, 0f3F800000; cvt.rna.tf32.f32 #0, $0;",
                List.of(F32), List.of(F32), Tolerance.EXACT));
        forms.add(of("cvt.rn.bf16.f64", BF16, F64));
        for (String integral : INTEGRAL) {
            forms.add(of("cvt" + integral + ".f32.f32", F32, F32));
            forms.add(of("cvt" + integral + ".ftz.f32.f32", F32, F32));
            forms.add(of("cvt" + integral + ".f64.f64", F64, F64));
            forms.add(of("cvt" + integral + ".f16.f16", F16, F16));
        }
        forms.add(of("cvt.f64.f32", F64, F32));
        forms.add(of("cvt.ftz.f64.f32", F64, F32));
        forms.add(of("cvt.f32.f16", F32, F16));
        forms.add(of("cvt.ftz.f32.f16", F32, F16));
        forms.add(of("cvt.sat.f32.f16", F32, F16));
        forms.add(of("cvt.f32.bf16", F32, BF16));
        forms.add(of("cvt.f64.f16", F64, F16));
        forms.add(of("cvt.sat.f32.f32", F32, F32));
        forms.add(of("cvt.sat.f64.f64", F64, F64));
        forms.add(of("cvt.rn.sat.f32.f64", F32, F64));
        forms.add(of("cvt.rn.sat.f16.f32", F16, F32));
    }

    private static void packed(List<InstructionForm> forms) {
        for (String rounding : List.of(".rn", ".rz", ".rn.relu", ".rz.relu")) {
            forms.add(of("cvt" + rounding + ".f16x2.f32", F16X2, F32, F32));
            forms.add(of("cvt" + rounding + ".bf16x2.f32", ValueType.BF16X2, F32, F32));
        }
        for (String format : List.of("e4m3x2", "e5m2x2")) {
            for (String relu : List.of("", ".relu")) {
                forms.add(of("cvt.rn.satfinite" + relu + "." + format + ".f32", U16, F32, F32));
                forms.add(of("cvt.rn.satfinite" + relu + "." + format + ".f16x2", U16, F16X2));
                forms.add(of("cvt.rn" + relu + ".f16x2." + format, F16X2, U16));
            }
        }
    }
}
