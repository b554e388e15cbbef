package io.tessera.software.conformance;

import static io.tessera.software.program.ValueType.S32;
import static io.tessera.software.program.ValueType.U32;

import io.tessera.software.program.ValueType;
import java.util.ArrayList;
import java.util.List;

/** Video instructions: all signs of operands and results, cut, clamped and combined, and some selectors. */
final class VideoForms {
    private static final List<ValueType> SIGNS = List.of(U32, S32);

    private VideoForms() {
    }

    static List<InstructionForm> all() {
        List<InstructionForm> forms = new ArrayList<>();
        for (String operation : List.of("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax")) {
            for (String lanes : List.of("2", "4")) {
                for (String ending : List.of("", ".sat", ".add")) {
                    ofSigns(forms, operation + lanes, ending);
                }
            }
        }
        for (String operation : List.of("vadd", "vsub", "vabsdiff", "vmin", "vmax")) {
            for (String ending : List.of("", ".sat", ".add", ".sat.min", ".sat.max")) {
                scalar(forms, operation, ending);
            }
        }
        for (String mode : List.of(".clamp", ".wrap", ".sat.clamp.add")) {
            for (ValueType a : SIGNS) {
                String types = "." + a.token() + "." + a.token() + ".u32";
                forms.add(form("vshl" + types + mode + " #0, $0.h1, $1.b2" + (mode.endsWith("add") ? ", $2;" : ";")));
                forms.add(form("vshr" + types + mode + " #0, $0, $1.b0" + (mode.endsWith("add") ? ", $2;" : ";")));
            }
        }
        for (String text : List.of("vmad.s32.s32.s32 #0, $0.h0, -$1.h1, $2;", "vmad.u32.u32.u32.sat.shr7 #0, $0, $1, $2;",
                "vmad.s32.u32.s32.sat.shr15 #0, $0.b3, $1, -$2;", "vmad.u32.u32.u32.po #0, $0.h1, $1.b1, $2;",
                "vset.u32.s32.lt #0, $0, $1;", "vset.s32.s32.ge.add #0, $0.b0, $1.b3, $2;", "vset.u32.u32.eq #0.h1, $0.b0, $1.b1, $2;",
                "vadd.s32.s32.u32.sat #0.b2, $0.h1, $1, $2;", "vmax.u32.s32.s32 #0.h0, $0.b3, $1.h0, $2;",
                "vset2.u32.u32.ne #0, $0, $1, $2;", "vset4.s32.u32.gt.add #0, $0, $1, $2;", "vset4.s32.s32.le #0.b20, $0, $1, $2;",
                "vadd2.s32.s32.s32.sat #0.h1, $0.h13, $1.h02, $2;", "vsub4.u32.u32.u32 #0.b31, $0.b7016, $1.b2345, $2;",
                "vabsdiff4.u32.u32.s32.add #0.b210, $0.b0123, $1, $2;")) {
            forms.add(form(text));
        }
        return forms;
    }

    private static InstructionForm form(String text) {
        return new InstructionForm(text.replaceAll("[#$;]", ""), text, List.of(U32), List.of(U32, U32, U32), Tolerance.EXACT);
    }

    private static void scalar(List<InstructionForm> forms, String operation, String ending) {
        for (ValueType to : SIGNS) {
            for (ValueType a : SIGNS) {
                for (ValueType b : SIGNS) {
                    String mnemonic = operation + "." + to.token() + "." + a.token() + "." + b.token() + ending;
                    forms.add(ending.isEmpty() || ending.equals(".sat") ? InstructionForm.of(mnemonic, to, a, b)
                            : InstructionForm.of(mnemonic, to, a, b, to));
                }
            }
        }
    }

    private static void ofSigns(List<InstructionForm> forms, String operation, String ending) {
        for (ValueType to : SIGNS) {
            for (ValueType a : SIGNS) {
                for (ValueType b : SIGNS) {
                    forms.add(InstructionForm.of(operation + "." + to.token() + "." + a.token() + "." + b.token()
                            + ending, to, a, b, U32));
                }
            }
        }
    }
}
