package io.tessera.guardian.machine;

import java.util.List;

/**
 * A cubin with fences. Immutable as long as nobody writes to the bytes.
 *
 * @param bytes     the file that a driver loads
 * @param functions result for each function, in the order of the file. A kernel whose functions are not all fenced is not fenced either
 * @param moved variables that the loader has to allocate
 * @param assertions texts of assertions, {@code file:line: function: message}; reports have the index in this list, from 1 on
 * @param window    the instructions that name the window of the fence, in the file
 */
public record FencedCubin(byte[] bytes, List<FunctionReport> functions, MovedVariables moved, List<String> assertions,
        WindowPlaces window) {
    /** Copies the lists. */
    public FencedCubin {
        assertions = List.copyOf(assertions);
        functions = List.copyOf(functions);
    }

    /** Returns how many functions are not fenced. */
    public long refused() {
        return functions.stream().filter(function -> !function.isFenced()).count();
    }
}
