package io.tessera.executor.worker;

import java.util.List;

/**
 * What came of a job. Nobody writes to the parts.
 *
 * @param result CUresult
 * @param text   why, or what a compiler said
 * @param parts  what was made; none where the result is not SUCCESS
 */
public record Answer(int result, String text, List<byte[]> parts) {
    /** Copies the list. */
    public Answer {
        parts = List.copyOf(parts);
    }
}
