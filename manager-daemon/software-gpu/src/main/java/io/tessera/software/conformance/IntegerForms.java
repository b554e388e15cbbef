package io.tessera.software.conformance;

import static io.tessera.software.conformance.InstructionForm.of;
import static io.tessera.software.conformance.InstructionForm.withConstant;
import static io.tessera.software.program.ValueType.B16;
import static io.tessera.software.program.ValueType.B32;
import static io.tessera.software.program.ValueType.B64;
import static io.tessera.software.program.ValueType.PRED;
import static io.tessera.software.program.ValueType.S16;
import static io.tessera.software.program.ValueType.S16X2;
import static io.tessera.software.program.ValueType.S32;
import static io.tessera.software.program.ValueType.S64;
import static io.tessera.software.program.ValueType.U16;
import static io.tessera.software.program.ValueType.U16X2;
import static io.tessera.software.program.ValueType.U32;
import static io.tessera.software.program.ValueType.U64;

import io.tessera.software.program.ValueType;
import java.util.ArrayList;
import java.util.List;

/** Integer arithmetic, logic, shifts, bit fields. */
final class IntegerForms {
    private static final List<ValueType> INTEGERS = List.of(S16, U16, S32, U32, S64, U64);

    private IntegerForms() {
    }

    static List<InstructionForm> all() {
        List<InstructionForm> forms = new ArrayList<>();
        arithmetic(forms);
        narrow(forms);
        carries(forms);
        logic(forms);
        fields(forms);
        return forms;
    }

    private static ValueType wide(ValueType type) {
        return switch (type) {
            case S16 -> S32;
            case U16 -> U32;
            case S32 -> S64;
            default -> U64;
        };
    }

    private static void arithmetic(List<InstructionForm> forms) {
        for (ValueType t : INTEGERS) {
            String type = "." + t.token();
            for (String operation : List.of("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max")) {
                forms.add(of(operation + type, t, t, t));
            }
            forms.add(of("mad.lo" + type, t, t, t, t));
            forms.add(of("mad.hi" + type, t, t, t, t));
            forms.add(of("sad" + type, t, t, t, t));
            if (t.bits() < 64) {
                forms.add(of("mul.wide" + type, wide(t), t, t));
                forms.add(of("mad.wide" + type, wide(t), t, t, wide(t)));
            }
            if (t.isSigned()) {
                forms.add(of("abs" + type, t, t));
                forms.add(of("neg" + type, t, t));
            }
        }
        for (String operation : List.of("add.sat.s32", "sub.sat.s32", "min.relu.s32", "max.relu.s32")) {
            forms.add(of(operation, S32, S32, S32));
        }
        forms.add(of("mad.hi.sat.s32", S32, S32, S32, S32));
    }

    private static void narrow(List<InstructionForm> forms) {
        for (ValueType t : List.of(S32, U32)) {
            for (String half : List.of("lo", "hi")) {
                forms.add(of("mul24." + half + "." + t.token(), t, t, t));
                forms.add(of("mad24." + half + "." + t.token(), t, t, t, t));
            }
        }
        forms.add(of("mad24.hi.sat.s32", S32, S32, S32, S32));
        for (ValueType t : List.of(U16X2, S16X2)) {
            for (String operation : List.of("add.", "min.", "max.")) {
                forms.add(of(operation + t.token(), t, t, t));
            }
        }
        forms.add(of("min.relu.s16x2", S16X2, S16X2, S16X2));
        forms.add(of("max.relu.s16x2", S16X2, S16X2, S16X2));
        for (String signs : List.of("u32.u32", "u32.s32", "s32.u32", "s32.s32")) {
            forms.add(of("dp4a." + signs, B32, B32, B32, B32));
            forms.add(of("dp2a.lo." + signs, B32, B32, B32, B32));
            forms.add(of("dp2a.hi." + signs, B32, B32, B32, B32));
        }
    }

    private static void carries(List<InstructionForm> forms) {
        for (ValueType t : List.of(U32, S32, U64, S64)) {
            String type = "." + t.token();
            forms.add(new InstructionForm("add.cc" + type + " addc.cc addc", "add.cc" + type + " #0, $0, $1; addc.cc"
                    + type + " #1, $2, $3; addc" + type + " #2, $0, $3;", List.of(t, t, t), List.of(t, t, t, t),
                    Tolerance.EXACT));
            forms.add(new InstructionForm("sub.cc" + type + " subc.cc subc", "sub.cc" + type + " #0, $0, $1; subc.cc"
                    + type + " #1, $2, $3; subc" + type + " #2, $0, $3;", List.of(t, t, t), List.of(t, t, t, t),
                    Tolerance.EXACT));
            forms.add(new InstructionForm("sub.cc" + type + " addc.cc subc", "sub.cc" + type + " #0, $0, $1; addc.cc"
                    + type + " #1, $2, $3; subc" + type + " #2, $0, $3;", List.of(t, t, t), List.of(t, t, t, t),
                    Tolerance.EXACT));
            forms.add(new InstructionForm("mad.lo.cc" + type + " madc.hi.cc addc", "mad.lo.cc" + type
                    + " #0, $0, $1, $2; madc.hi.cc" + type + " #1, $0, $1, $3; addc" + type + " #2, $2, $3;",
                    List.of(t, t, t), List.of(t, t, t, t), Tolerance.EXACT));
        }
    }

    private static void logic(List<InstructionForm> forms) {
        for (ValueType t : List.of(PRED, B16, B32, B64)) {
            for (String operation : List.of("and.", "or.", "xor.")) {
                forms.add(of(operation + t.token(), t, t, t));
            }
            forms.add(of("not." + t.token(), t, t));
        }
        for (ValueType t : List.of(B16, B32, B64)) {
            forms.add(of("cnot." + t.token(), t, t));
            forms.add(of("shl." + t.token(), t, t, U32));
        }
        for (ValueType t : INTEGERS) {
            forms.add(of("shr." + t.token(), t, t, U32));
            forms.add(withConstant("shr." + t.token(), "5", t, t));
        }
        for (int table : new int[] {0x00, 0x1B, 0x80, 0x96, 0xCA, 0xE8, 0xFE, 0xFF}) {
            forms.add(withConstant("lop3.b32", Integer.toString(table), B32, B32, B32, B32));
        }
        for (String mode : List.of("l.wrap", "l.clamp", "r.wrap", "r.clamp")) {
            forms.add(of("shf." + mode + ".b32", B32, B32, B32, U32));
        }
        for (String mode : List.of("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")) {
            forms.add(of("prmt.b32" + mode, B32, B32, B32, U32));
        }
    }

    private static void fields(List<InstructionForm> forms) {
        for (ValueType t : List.of(B32, B64)) {
            forms.add(of("popc." + t.token(), U32, t));
            forms.add(of("clz." + t.token(), U32, t));
            forms.add(of("brev." + t.token(), t, t));
            forms.add(of("bfi." + t.token(), t, t, t, U32, U32));
        }
        for (ValueType t : List.of(S32, U32, S64, U64)) {
            forms.add(of("bfe." + t.token(), t, t, U32, U32));
            forms.add(of("bfind." + t.token(), U32, t));
            forms.add(of("bfind.shiftamt." + t.token(), U32, t));
        }
        for (String mode : List.of("clamp", "wrap")) {
            forms.add(of("bmsk." + mode + ".b32", B32, U32, U32));
            forms.add(of("szext." + mode + ".u32", U32, U32, U32));
            forms.add(of("szext." + mode + ".s32", S32, S32, U32));
        }
        // The base is taken modulo 32: beyond, the result is undefined. So it is for the least offset, which has no
        // absolute value of 32 bits to count.
        forms.add(new InstructionForm("fns.b32", "and.b32 $1, $1, 31; max.s32 $2, $2, -2147483647; "
                + "fns.b32 #0, $0, $1, $2;", List.of(B32), List.of(B32, U32, S32), Tolerance.EXACT));
    }
}
