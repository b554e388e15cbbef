package io.tessera.cli.status;

import io.tessera.cli.text.Durations;
import io.tessera.cli.text.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A program that waits for a place ({@code tessera run --wait}), or for which one is kept.
 *
 * @param place     position in the queue, from 1; 0: a place is reserved until it registers
 * @param pid       its process; 0: another user's
 * @param tenant    its label
 * @param waitingNs time that it has waited, in nanoseconds
 * @param reason    why it waits
 * @param placement the device that the manager chose for it; null: none yet, or it did not leave that to it
 */
public record WaitingProgram(int place, long pid, String tenant, long waitingNs, String reason, PlacedDevice placement) {
    /** Replaces omitted fields by defaults. */
    public WaitingProgram {
        tenant = Objects.requireNonNullElse(tenant, "unknown");
        reason = Objects.requireNonNullElse(reason, "");
    }

    /** Returns the lines of all waiting programs. */
    static List<String> lines(List<WaitingProgram> programs) {
        List<String> lines = new ArrayList<>();
        if (!programs.isEmpty()) {
            lines.add("");
            lines.add("programs that have not started:");
        }
        for (WaitingProgram program : programs) {
            lines.add("  " + TextTable.printable(program.tenant()) + (program.pid() == 0 ? "" : " (pid " + program.pid() + ")")
                    + (program.place() == 0
                            ? ": a place is kept for it"
                                    + (program.placement() == null ? "" : " on " + TextTable.printable(program.placement().device()))
                            : ": place " + program.place() + ", waits for "
                                    + Durations.format(program.waitingNs()) + ": " + TextTable.printable(program.reason())));
        }
        return lines;
    }

    /** Returns whether a label or process id in a command means this program; another user's program has neither. */
    boolean isCalled(String name) {
        return pid != 0 && (tenant.equals(name) || Long.toString(pid).equals(name));
    }

    /** Returns why it has not started. */
    Explanation explanation() {
        String label = TextTable.printable(tenant) + " (pid " + pid + ")";
        List<String> because = new ArrayList<>();
        if (!reason.isEmpty()) {
            because.add(TextTable.printable(reason));
        }
        if (placement != null) {
            because.add(placement.sentence());
        }
        String sentence = place == 0 ? label + " has not made its first CUDA call yet: a place is kept for it until then."
                : label + " has not started: it is at place " + place + " in the queue, and has waited for " + Durations.format(waitingNs) + ".";
        return new Explanation(tenant, pid, "", "", place == 0 ? "starts" : "waits", waitingNs, "", sentence, because, List.of());
    }
}
