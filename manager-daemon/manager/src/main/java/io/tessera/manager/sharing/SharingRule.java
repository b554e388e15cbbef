package io.tessera.manager.sharing;

import io.tessera.protocol.message.SharingAnswer;
import java.util.function.Supplier;

/**
 * Chooses the way of sharing for a program that leaves it to the manager ({@code --share auto}): time, unless the manager prefers space. Even then
 * the program shares by time beside programs with contexts of their own: turns do not hold back the kernels of an executor, and memory of one way
 * does not move for programs of the other. Programs of two users are never together in an executor by this rule, because some faults of a kernel end
 * the work of all in it. Stateless; one owner thread.
 */
public final class SharingRule {
    private final boolean executors;
    private final Supplier<SharingPreference> preference;

    /**
     * Creates the rule of a manager.
     *
     * @param executors  whether it starts executors
     * @param preference returns the present preference
     */
    public SharingRule(boolean executors, Supplier<SharingPreference> preference) {
        this.executors = executors;
        this.preference = preference;
    }

    /**
     * The other programs at the time of a question.
     *
     * @param byTime      programs with contexts of their own
     * @param inSpace     programs of the same user in executors
     * @param foreign     programs of other users in executors
     * @param quarantined whether the tenant's kernels have recently ended an executor
     */
    public record Others(int byTime, int inSpace, int foreign, boolean quarantined) {
    }

    /** Returns the way of sharing and its reason. */
    public SharingAnswer choose(Others others) {
        if (!executors) {
            return time("this manager starts no executors (--executors none)");
        }
        if (preference.get() == SharingPreference.TIME) {
            return time("the manager prefers time (--prefer time)");
        }
        if (others.quarantined) {
            return time("kernels of this tenant ended the executor for all a moment ago");
        }
        if (others.foreign > 0) {
            return time("programs of another user share by space, and some faults of a kernel end the work of all who do");
        }
        if (others.inSpace == 0 && others.byTime > 0) {
            return time(programs(others.byTime) + (others.byTime == 1 ? " shares" : " share")
                    + " by time, and turns do not hold back kernels of an executor");
        }
        return new SharingAnswer(true, "the manager prefers space (--prefer space)");
    }

    private static String programs(int count) {
        return count == 1 ? "a program" : count + " programs";
    }

    private static SharingAnswer time(String reason) {
        return new SharingAnswer(false, reason);
    }
}
