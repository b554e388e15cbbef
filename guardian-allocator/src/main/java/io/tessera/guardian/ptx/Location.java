package io.tessera.guardian.ptx;

import java.util.Objects;
import java.util.Optional;

/**
 * {@code .loc}: where in the source the next instructions come from. Immutable.
 *
 * @param file       number of a {@link FileEntry}
 * @param sourceLine line in that file
 * @param column     column in that line
 * @param inlined    where the code was inlined, if it was
 * @param line       as in {@link Statement}
 */
public record Location(int file, int sourceLine, int column, Optional<Inlined> inlined, int line)
        implements Statement {
    /**
     * {@code function_name label+offset, inlined_at file line column}.
     *
     * @param function    label in the debug strings that names the inlined function
     * @param offsetBytes offset from that label
     * @param file        number of the caller's {@link FileEntry}
     * @param sourceLine  line of the call
     * @param column      column of the call
     */
    public record Inlined(String function, long offsetBytes, int file, int sourceLine, int column) {
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Location that && file == that.file && sourceLine == that.sourceLine
                && column == that.column && inlined.equals(that.inlined);
    }

    @Override
    public int hashCode() {
        return Objects.hash(file, sourceLine, column, inlined);
    }
}
