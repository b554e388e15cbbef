package io.tessera;

import io.tessera.agent.boot.Phases;
import io.tessera.agent.boot.Segment;

/**
 * Interface between an application and Tessera's agent. Without the agent, every method does nothing and returns a neutral value, so an
 * application can include this class and run anywhere. Any thread; nothing here throws.
 */
public final class Tessera {
    private static final boolean PRESENT = present();

    private Tessera() {
    }

    private static boolean present() {
        try {
            // Only the agent defines it in the bootstrap loader; a copy on the class path does not count.
            return Class.forName("io.tessera.agent.boot.Phases", false, null) != null;
        } catch (ClassNotFoundException | LinkageError absent) {
            return false;
        }
    }

    /**
     * Returns whether the agent is present.
     *
     * @return false: the other methods have no effect
     */
    public static boolean isPresent() {
        return PRESENT;
    }

    /**
     * Begins a phase: a label for what the process does from now on, shown beside its GPU use.
     *
     * @param label a short name, {@code training} for example; null ends the phase
     */
    public static void phase(String label) {
        if (PRESENT) {
            Phases.enter(label);
        }
    }

    /** Announces that no GPU work will follow for a while. Ends the current phase, so that the pause is charged to none. */
    public static void idle() {
        if (PRESENT) {
            Phases.enter(null);
        }
    }

    /**
     * Returns how long submissions of this process have waited for turns on a shared GPU.
     *
     * @return nanoseconds since the start; 0 without the agent
     */
    public static long turnWaitNanos() {
        return PRESENT ? Segment.waitNanos() : 0;
    }

    /**
     * Returns how long this process has held turns on a shared GPU.
     *
     * @return nanoseconds since the start; 0 without the agent, or where the GPU is shared by space
     */
    public static long turnHeldNanos() {
        return PRESENT ? Segment.heldNanos() : 0;
    }

    /**
     * Returns the device memory that this process's tenant may use in time sharing.
     *
     * @return bytes over all devices; 0: no limit, no agent, or the GPU is shared by space
     */
    public static long memoryLimitBytes() {
        return PRESENT ? Segment.limitBytes() : 0;
    }
}
