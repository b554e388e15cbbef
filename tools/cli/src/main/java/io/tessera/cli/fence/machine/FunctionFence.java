package io.tessera.cli.fence.machine;

import io.tessera.guardian.machine.FunctionReport;
import io.tessera.guardian.machine.TensorMapPlaces;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Outcome of fencing one function. Immutable.
 *
 * @param report   report of the fencer
 * @param refusal  reason of the fencer or the verifier why it is not fenced; null: it is fenced
 * @param verified whether the refusal is the verifier's, whose offsets are in the fenced code; the fencer's are in the original
 * @param trusted  the first assumption that is not verified; null: none
 * @param waits    why it may wait for other blocks of its grid; null: it does not
 * @param maps     locations of its tensor maps
 */
record FunctionFence(FunctionReport report, String refusal, boolean verified, String trusted, String waits, TensorMapPlaces maps) {
    private static final Pattern OFFSET = Pattern.compile(" at offset 0x([0-9a-f]+)");
    private static final Pattern NUMBERS = Pattern.compile(" at offset 0x[0-9a-f]+| 0x[0-9a-f]+(?=,)");
    private static final Pattern CALLED = Pattern.compile("^function \\S+ has no fence: ");

    /** Returns whether it is fenced and verified. */
    boolean isFenced() {
        return refusal == null;
    }

    /** Returns the offset in bytes that the refusal names; -1: none. */
    long offset() {
        Matcher found = OFFSET.matcher(refusal == null ? "" : refusal);
        return found.find() ? Long.parseLong(found.group(1), 16) : -1;
    }

    /** Returns a reason without the parts that differ from function to function, so that equal reasons can be counted. */
    static String kind(String reason) {
        return NUMBERS.matcher(CALLED.matcher(reason).replaceFirst("a function that it may call has no fence: ")).replaceAll("");
    }
}
