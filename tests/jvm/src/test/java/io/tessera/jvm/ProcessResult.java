package io.tessera.jvm;

import java.util.List;

/**
 * How a process ended.
 *
 * @param command what it was
 * @param exit    exit code
 * @param output  lines on standard output
 * @param errors  lines on standard error
 */
record ProcessResult(String command, int exit, List<String> output, List<String> errors) {
    /** Lines of the preload library, of the wrapper and of the agent. */
    List<String> ownLines() {
        return errors.stream().filter(ProcessResult::isOwn).toList();
    }

    /** Lines of the program and of its JVM. */
    List<String> otherErrors() {
        return errors.stream().filter(line -> !isOwn(line)).toList();
    }

    private static boolean isOwn(String line) {
        return line.startsWith("tessera: ") || line.startsWith("tessera-agent: ");
    }

    @Override
    public String toString() {
        return command + " ended with " + exit + "\n  output: " + String.join("\n          ", output)
                + "\n  errors: " + String.join("\n          ", errors);
    }
}
