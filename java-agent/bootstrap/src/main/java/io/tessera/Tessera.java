package io.tessera;

import io.tessera.agent.boot.Phases;
import io.tessera.agent.boot.Segment;

/**
 * What an application may tell and ask Tessera's agent. Without the agent every method does nothing and answers with
 * the neutral value, so an application can carry this class and run anywhere. Any thread; nothing here throws.
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
     * Whether the agent is there.
     *
     * @return false: nothing else here has an effect
     */
    public static boolean isPresent() {
        return PRESENT;
    }

    /**
     * Says what the process does from now on; shown beside its GPU use.
     *
     * @param label a short name, {@code training} for example; null ends the phase
     */
    public static void phase(String label) {
        if (PRESENT) {
            Phases.enter(label);
        }
    }

    /** Says that no GPU work will come for a while: ends the phase, so that none is charged with the pause. */
    public static void idle() {
        if (PRESENT) {
            Phases.enter(null);
        }
    }

    /**
     * Time that this process's submissions have waited for turns on a shared GPU.
     *
     * @return nanoseconds since the start; 0 without the agent
     */
    public static long turnWaitNanos() {
        return PRESENT ? Segment.waitNanos() : 0;
    }

    /**
     * Time that this process has held turns on a shared GPU.
     *
     * @return nanoseconds since the start; 0 without the agent, or where the GPU is shared by space
     */
    public static long turnHeldNanos() {
        return PRESENT ? Segment.heldNanos() : 0;
    }

    /**
     * Device memory that this process's tenant may use, in time sharing.
     *
     * @return bytes over all devices; 0: no limit, no agent, or the GPU is shared by space
     */
    public static long memoryLimitBytes() {
        return PRESENT ? Segment.limitBytes() : 0;
    }
}
