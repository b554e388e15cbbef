package io.tessera.software.conformance;

import static io.tessera.software.program.ScalarType.S32;
import static io.tessera.software.program.ScalarType.U32;

import io.tessera.software.program.ScalarType;
import java.util.ArrayList;
import java.util.List;

/** SIMD video instructions: all signs of operands and results, cut, clamped and summed. */
final class VideoForms {
    private static final List<ScalarType> SIGNS = List.of(U32, S32);

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
        return forms;
    }

    private static void ofSigns(List<InstructionForm> forms, String operation, String ending) {
        for (ScalarType to : SIGNS) {
            for (ScalarType a : SIGNS) {
                for (ScalarType b : SIGNS) {
                    forms.add(InstructionForm.of(operation + "." + to.token() + "." + a.token() + "." + b.token()
                            + ending, to, a, b, U32));
                }
            }
        }
    }
}
