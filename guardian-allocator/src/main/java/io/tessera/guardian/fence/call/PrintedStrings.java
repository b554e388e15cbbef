package io.tessera.guardian.fence.call;

import java.util.List;

/**
 * The pointers to strings among the arguments of a {@code vprintf}. Right before the call, each pointer is replaced. If it points into one of the
 * module's constant strings, the new pointer points into a private copy; otherwise it points to a fixed text. Immutable.
 *
 * @param frame local variable that holds the arguments
 * @param slots offsets in it of the pointers
 * @param texts strings of the module that the function names
 * @param other variable that is printed instead of any other string
 */
public record PrintedStrings(String frame, List<Long> slots, List<Text> texts, String other) {
    /**
     * A string of the module.
     *
     * @param variable its name
     * @param copy     name of its private copy, which the tenant cannot reach
     * @param bytes    its size; the copy has a zero more
     */
    public record Text(String variable, String copy, long bytes) {
    }
}
