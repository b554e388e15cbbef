package io.tessera.software.matrix;

import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Extents of a multiplication: A is m x k, B is k x n, C and D are m x n.
 *
 * @param m rows of A
 * @param n columns of B
 * @param k columns of A
 */
record MatrixShape(int m, int n, int k) {
    private static final Pattern WORD = Pattern.compile("M(\\d+)N(\\d+)K(\\d+)");

    /** Returns the shape that an instruction names, or null. */
    static MatrixShape of(LoweredInstruction instruction) {
        for (Modifier word : instruction.modifiers()) {
            Matcher matcher = WORD.matcher(word.name());
            if (matcher.matches()) {
                return new MatrixShape(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)),
                        Integer.parseInt(matcher.group(3)));
            }
        }
        return null;
    }
}
