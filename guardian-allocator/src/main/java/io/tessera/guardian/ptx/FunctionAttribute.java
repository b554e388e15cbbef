package io.tessera.guardian.ptx;

import java.util.List;

/**
 * Directive between a function's head and its body: {@code .maxntid 256, 1, 1}, {@code .noreturn},
 * {@code .minnctapersm 2}, {@code .reqnctapercluster 2}, {@code .pragma} and so on. Immutable.
 *
 * @param name    without the dot
 * @param numbers its numbers in order, as many as are written; empty for a flag
 * @param strings its strings without quotes ({@code .pragma}); what {@code .attribute(...)} lists, without dots; else
 *                empty
 */
public record FunctionAttribute(String name, List<Long> numbers, List<String> strings) {
    /** Name of the attribute that stands before the function's name: {@code .attribute(.unified(1, 2))}. */
    public static final String ATTRIBUTE = "attribute";

    /** Copies the lists. */
    public FunctionAttribute {
        numbers = List.copyOf(numbers);
        strings = List.copyOf(strings);
    }
}
