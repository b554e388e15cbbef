package io.tessera.software.conformance;

import static io.tessera.software.conformance.InstructionForm.of;
import static io.tessera.software.program.ValueType.B16;
import static io.tessera.software.program.ValueType.B32;
import static io.tessera.software.program.ValueType.B64;
import static io.tessera.software.program.ValueType.BF16;
import static io.tessera.software.program.ValueType.F16;
import static io.tessera.software.program.ValueType.F16X2;
import static io.tessera.software.program.ValueType.F32;
import static io.tessera.software.program.ValueType.F64;
import static io.tessera.software.program.ValueType.PRED;
import static io.tessera.software.program.ValueType.S16;
import static io.tessera.software.program.ValueType.S32;
import static io.tessera.software.program.ValueType.S64;
import static io.tessera.software.program.ValueType.U16;
import static io.tessera.software.program.ValueType.U32;
import static io.tessera.software.program.ValueType.U64;

import io.tessera.software.program.ValueType;
import java.util.ArrayList;
import java.util.List;

/** Comparison and selection. */
final class CompareForms {
    private static final List<String> ORDER = List.of("eq", "ne", "lt", "le", "gt", "ge");
    private static final List<String> UNSIGNED = List.of("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs");
    private static final List<String> FLOAT = List.of("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu",
            "gtu", "geu", "num", "nan");

    private CompareForms() {
    }

    static List<InstructionForm> all() {
        List<InstructionForm> forms = new ArrayList<>();
        for (ValueType t : List.of(S16, S32, S64)) {
            compare(forms, ORDER, t, "");
        }
        for (ValueType t : List.of(U16, U32, U64)) {
            compare(forms, UNSIGNED, t, "");
        }
        for (ValueType t : List.of(B16, B32, B64)) {
            compare(forms, List.of("eq", "ne"), t, "");
        }
        for (ValueType t : List.of(F32, F64, F16, BF16)) {
            compare(forms, FLOAT, t, "");
        }
        compare(forms, FLOAT, F32, ".ftz");
        selections(forms);
        return forms;
    }

    /** A comparison with both results; of half types there is only one. */
    private static InstructionForm predicates(String text, String sources, ValueType t, ValueType... types) {
        boolean half = t == F16 || t == BF16;
        return new InstructionForm(text, text + (half ? " #0, " : " #0|#1, ") + sources,
                half ? List.of(PRED) : List.of(PRED, PRED), List.of(types), Tolerance.EXACT);
    }

    private static void compare(List<InstructionForm> forms, List<String> relations, ValueType t, String ftz) {
        for (String relation : relations) {
            String suffix = ftz + "." + t.token();
            String text = "setp." + relation + suffix;
            forms.add(predicates(text, "$0, $1;", t, t, t));
        }
        String first = relations.getFirst();
        String last = relations.getLast();
        for (String combination : List.of("and", "or", "xor")) {
            String text = "setp." + last + "." + combination + ftz + "." + t.token();
            forms.add(predicates(text, "$0, $1, $2;", t, t, t, PRED));
            String negated = "setp." + first + "." + combination + ftz + "." + t.token();
            forms.add(new InstructionForm(negated + " !", negated + " #0, $0, $1, !$2;", List.of(PRED),
                    List.of(t, t, PRED), Tolerance.EXACT));
        }
        if (t != F16 && t != BF16) {
            for (ValueType to : List.of(U32, S32, F32)) {
                forms.add(of("set." + last + ftz + "." + to.token() + "." + t.token(), to, t, t));
            }
        }
    }

    private static void selections(List<InstructionForm> forms) {
        for (ValueType t : List.of(B16, B32, B64, S32, F32, F64)) {
            forms.add(of("selp." + t.token(), t, t, t, PRED));
            forms.add(of("slct." + t.token() + ".s32", t, t, t, S32));
            forms.add(of("slct." + t.token() + ".f32", t, t, t, F32));
            forms.add(of("slct.ftz." + t.token() + ".f32", t, t, t, F32));
        }
        for (String relation : FLOAT) {
            forms.add(of("set." + relation + ".f16.f16", F16, F16, F16));
            forms.add(of("set." + relation + ".f16x2.f16x2", F16X2, F16X2, F16X2));
            String text = "setp." + relation + ".f16x2";
            forms.add(new InstructionForm(text, text + " #0|#1, $0, $1;", List.of(PRED, PRED), List.of(F16X2, F16X2),
                    Tolerance.EXACT));
        }
        for (String kind : List.of("finite", "infinite", "number", "notanumber", "normal", "subnormal")) {
            forms.add(of("testp." + kind + ".f32", PRED, F32));
            forms.add(of("testp." + kind + ".f64", PRED, F64));
        }
    }
}
