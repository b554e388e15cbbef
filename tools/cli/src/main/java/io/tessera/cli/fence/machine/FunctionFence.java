package io.tessera.cli.fence.machine;

import io.tessera.guardian.machine.FunctionReport;
import io.tessera.guardian.machine.TensorMapPlaces;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What fences do to one function. Immutable.
 *
 * @param report   the fencer's
 * @param refusal  why it is not fenced, by the fencer or the verifier; null: it is fenced
 * @param verified whether the refusal is the verifier's; its offsets are those of the fenced code, the fencer's those of the original
 * @param trusted  the first thing that is taken on trust; null: nothing
 * @param waits    why it may wait for other blocks of its grid; null: it does not
 * @param maps     where its tensor maps lie
 */
record FunctionFence(FunctionReport report, String refusal, boolean verified, String trusted, String waits, TensorMapPlaces maps) {
    private static final Pattern OFFSET = Pattern.compile(" at offset 0x([0-9a-f]+)");
    private static final Pattern NUMBERS = Pattern.compile(" at offset 0x[0-9a-f]+| 0x[0-9a-f]+(?=,)");
    private static final Pattern CALLED = Pattern.compile("^function \\S+ has no fence: ");

    /** Whether it is fenced and seen to be. */
    boolean isFenced() {
        return refusal == null;
    }

    /** The offset in bytes that the refusal names; -1: none. */
    long offset() {
        Matcher found = OFFSET.matcher(refusal == null ? "" : refusal);
        return found.find() ? Long.parseLong(found.group(1), 16) : -1;
    }

    /** A reason without what differs from function to function, so that reasons can be counted. */
    static String kind(String reason) {
        return NUMBERS.matcher(CALLED.matcher(reason).replaceFirst("a function that it may call has no fence: ")).replaceAll("");
    }
}
