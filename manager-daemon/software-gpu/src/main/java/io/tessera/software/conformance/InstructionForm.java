package io.tessera.software.conformance;

import io.tessera.software.program.ValueType;
import java.util.List;

/**
 * Instructions to test, with operands by name: {@code $0}, {@code $1} are sources, {@code #0}, {@code #1} results.
 *
 * @param name      name of the case: the mnemonic, with constants where they matter
 * @param text      one instruction or several, each with its semicolon
 * @param results   types of the results
 * @param sources   types of the sources; their values are drawn accordingly
 * @param tolerance how exact the results must be
 */
public record InstructionForm(String name, String text, List<ValueType> results, List<ValueType> sources,
        Tolerance tolerance) {
    /** An instruction with one result and its sources in order. */
    static InstructionForm of(String mnemonic, ValueType result, ValueType... sources) {
        return approximate(mnemonic, Tolerance.EXACT, result, sources);
    }

    /** Creates a form whose result need not be exact. */
    static InstructionForm approximate(String mnemonic, Tolerance tolerance, ValueType result,
            ValueType... sources) {
        StringBuilder text = new StringBuilder(mnemonic).append(" #0");
        for (int i = 0; i < sources.length; i++) {
            text.append(", $").append(i);
        }
        return new InstructionForm(mnemonic, text.append(';').toString(), List.of(result), List.of(sources),
                tolerance);
    }

    /** Creates a form whose last operand is a constant. */
    static InstructionForm withConstant(String mnemonic, String constant, ValueType result, ValueType... sources) {
        InstructionForm plain = of(mnemonic, result, sources);
        String text = plain.text().replace(";", ", " + constant + ";");
        return new InstructionForm(mnemonic + " " + constant, text, plain.results(), plain.sources(),
                Tolerance.EXACT);
    }
}
