package io.tessera.executor.worker;

import java.util.List;

/**
 * Result of a job. The parts must not be modified.
 *
 * @param result CUresult
 * @param text   the reason of a failure, or the compiler's output
 * @param parts  the results; none where {@code result} is not SUCCESS
 */
public record Answer(int result, String text, List<byte[]> parts) {
    /** Copies the list. */
    public Answer {
        parts = List.copyOf(parts);
    }
}
