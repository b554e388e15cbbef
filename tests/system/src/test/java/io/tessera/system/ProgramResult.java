package io.tessera.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;

/**
 * Result of a program.
 *
 * @param exit   exit code; 128 + signal when a signal ended it
 * @param output lines on standard output
 * @param errors lines on standard error
 */
public record ProgramResult(String program, int exit, List<String> output, List<String> errors) {
    public ProgramResult exits(int code) {
        assertEquals(code, exit, this::toString);
        return this;
    }

    public ProgramResult says(String line) {
        assertTrue(output.contains(line), () -> "\"" + line + "\" is missing from " + this);
        return this;
    }

    /** Lines that the preload library wrote to standard error. */
    public List<String> libraryLines() {
        return errors.stream().filter(line -> line.startsWith("tessera: ")).toList();
    }

    @Override
    public String toString() {
        return program + " ended with " + exit + "\n  output: " + String.join("\n          ", output)
                + "\n  errors: " + String.join("\n          ", errors);
    }
}
