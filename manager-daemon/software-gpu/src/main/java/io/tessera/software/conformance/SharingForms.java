package io.tessera.software.conformance;

import static io.tessera.software.program.ValueType.B32;
import static io.tessera.software.program.ValueType.B64;
import static io.tessera.software.program.ValueType.BF16X2;
import static io.tessera.software.program.ValueType.F16X2;
import static io.tessera.software.program.ValueType.F32;
import static io.tessera.software.program.ValueType.F64;
import static io.tessera.software.program.ValueType.PRED;
import static io.tessera.software.program.ValueType.S32;
import static io.tessera.software.program.ValueType.S64;
import static io.tessera.software.program.ValueType.U32;
import static io.tessera.software.program.ValueType.U64;

import io.tessera.software.program.ValueType;
import java.util.ArrayList;
import java.util.List;

/** Operations of whole warps, and atomics on a word of each thread's own. */
final class SharingForms {
    private SharingForms() {
    }

    static List<InstructionForm> all() {
        List<InstructionForm> forms = new ArrayList<>();
        warps(forms);
        atomics(forms);
        return forms;
    }

    private static InstructionForm form(String text, List<ValueType> results, ValueType... sources) {
        return new InstructionForm(text.substring(0, text.indexOf(';')), text, results, List.of(sources),
                Tolerance.EXACT);
    }

    private static void warps(List<InstructionForm> forms) {
        for (String mode : List.of("up", "down", "bfly", "idx")) {
            for (String clamp : List.of("0", "0x1f", "0x181f", "0x1007", "0x1c03")) {
                forms.add(form("shfl.sync." + mode + ".b32 #0|#1, $0, $1, " + clamp + ", 0xffffffff;",
                        List.of(B32, PRED), B32, U32));
            }
        }
        for (String mode : List.of("all", "any", "uni")) {
            forms.add(form("vote.sync." + mode + ".pred #0, $0, 0xffffffff;", List.of(PRED), PRED));
            forms.add(form("vote.sync." + mode + ".pred #0, !$0, 0xffffffff;", List.of(PRED), PRED));
        }
        forms.add(form("vote.sync.ballot.b32 #0, $0, 0xffffffff;", List.of(B32), PRED));
        for (ValueType t : List.of(B32, B64)) {
            forms.add(form("match.any.sync." + t.token() + " #0, $0, 0xffffffff;", List.of(B32), t));
            forms.add(form("match.all.sync." + t.token() + " #0|#1, $0, 0xffffffff;", List.of(B32, PRED), t));
        }
        for (String operation : List.of("add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32",
                "or.b32", "xor.b32")) {
            forms.add(form("redux.sync." + operation + " #0, $0, 0xffffffff;", List.of(B32), B32));
        }
    }

    private static void atomics(List<InstructionForm> forms) {
        for (String operation : List.of("and.b32", "or.b32", "xor.b32", "exch.b32", "add.u32", "add.s32", "inc.u32",
                "dec.u32", "min.u32", "min.s32", "max.u32", "max.s32")) {
            onWord(forms, operation, operation.contains("s32") ? S32 : U32);
        }
        for (String operation : List.of("and.b64", "or.b64", "xor.b64", "exch.b64", "add.u64", "min.u64", "min.s64",
                "max.u64", "max.s64")) {
            onWord(forms, operation, operation.contains("s64") ? S64 : U64);
        }
        onWord(forms, "add.f64", F64);
        onWord(forms, "add.noftz.f16x2", F16X2);
        onWord(forms, "add.noftz.bf16x2", BF16X2);
        for (ValueType t : List.of(B32, B64)) {
            forms.add(onWord("cas." + t.token(), t, ", $1, $2", t, t, t));
        }
        // On global memory add.f32 flushes subnormal numbers.
        onWord(forms, "add.f32", F32);
    }

    private static void onWord(List<InstructionForm> forms, String operation, ValueType t) {
        forms.add(onWord(operation, t, ", $1", t, t));
    }

    /** The word is the thread's first result slot; what is there before and after are the results. */
    private static InstructionForm onWord(String operation, ValueType t, String operands, ValueType... sources) {
        String width = ".b" + t.bits();
        String text = "st.global" + width + " [%d21], $0; atom.global." + operation + " #1, [%d21]" + operands
                + "; ld.global" + width + " #0, [%d21];";
        return new InstructionForm("atom.global." + operation, text, List.of(t, t), List.of(sources),
                Tolerance.EXACT);
    }
}
