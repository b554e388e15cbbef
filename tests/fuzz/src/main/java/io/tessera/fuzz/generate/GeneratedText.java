package io.tessera.fuzz.generate;

import java.util.ArrayList;
import java.util.List;

/**
 * A kernel or function that is being written, twice at once: as it is to be fenced, with nested scopes and names that hide others; and flat, with all
 * registers at its top, unique names and literals as their types read them. Both mean the same. Not thread-safe.
 */
final class GeneratedText {
    private final StringBuilder scoped = new StringBuilder();
    private final StringBuilder flat = new StringBuilder();
    private final List<NamedEntity> registers = new ArrayList<>();
    private final StringBuilder flatVariables = new StringBuilder();

    /** Writes a line: {@code %s} and {@code %d} are operands, things by their names, literals as each text has them; {@code %%} is a percent sign. */
    void line(String format, Object... operands) {
        if (operands.length == 0) {
            scoped.append(format).append('\n');
            flat.append(format).append('\n');
            return;
        }
        int operand = 0;
        int from = 0;
        for (int at = format.indexOf('%'); at >= 0; at = format.indexOf('%', from)) {
            both(format.substring(from, at));
            if (format.charAt(at + 1) == '%') {
                both("%");
            } else {
                operand(operands[operand++]);
            }
            from = at + 2;
        }
        both(format.substring(from));
        both("\n");
    }

    private void both(String text) {
        scoped.append(text);
        flat.append(text);
    }

    private void operand(Object operand) {
        switch (operand) {
            case NamedEntity thing -> {
                scoped.append(thing.scoped());
                flat.append(thing.flat());
            }
            case Literal literal -> {
                scoped.append(literal.written());
                flat.append(literal.plain());
            }
            default -> both(operand.toString());
        }
    }

    /** Opens a block, which the flat text does not have. */
    void open() {
        scoped.append("{\n");
    }

    /** Closes a block. */
    void close() {
        scoped.append("}\n");
    }

    /** Declares a register here; in the flat text at the top. */
    void register(NamedEntity register) {
        scoped.append(".reg .").append(register.width().type()).append(' ').append(register.scoped()).append(";\n");
        registers.add(register);
    }

    /** Declares a row of registers here, named by a prefix and their numbers; in the flat text each by itself. */
    void row(String prefix, List<NamedEntity> row) {
        scoped.append(".reg .").append(row.getFirst().width().type()).append(' ').append(prefix).append('<').append(row.size()).append(">;\n");
        registers.addAll(row);
    }

    /** Declares a variable here: {@code .shared .align 8 .b8 %s[64];}; in the flat text at the top. */
    void variable(String declaration, NamedEntity variable) {
        scoped.append(String.format(declaration, variable.scoped())).append('\n');
        flatVariables.append(String.format(declaration, variable.flat())).append('\n');
    }

    /** The body with scopes. */
    String scoped() {
        return scoped.toString();
    }

    /** The body without. */
    String flat() {
        StringBuilder all = new StringBuilder();
        for (NamedEntity register : registers) {
            all.append(".reg .").append(register.width().type()).append(' ').append(register.flat()).append(";\n");
        }
        return all.append(flatVariables).append(flat).toString();
    }
}
