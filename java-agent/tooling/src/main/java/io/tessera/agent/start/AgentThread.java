package io.tessera.agent.start;

import io.tessera.agent.boot.AgentCounters;
import io.tessera.agent.boot.Recorder;
import io.tessera.agent.host.AgentLog;
import java.io.IOException;

/**
 * The agent's one thread: registers the bean, processes the collector's references, releases memory if asked to, and passes
 * the driver's waits on to Flight Recorder. A daemon; it never runs code of the application.
 */
final class AgentThread extends Thread {
    private static final long PERIOD_MS = 500;
    /**
     * Delay of the parts that are not urgent: the bean and the events cost 0.3 s of processor time in the middle of the application's
     * start.
     */
    private static final long LATER_MS = 1000;
    private static final int STACK_BYTES = 1 << 18;

    /** Tasks of the thread beside its own work. */
    interface Errands {
        /** Loads ByteBuddy before the first CUDA class is loaded. */
        void warmUp() throws IOException;

        /** Returns whether the user explicitly asked for the bean. */
        boolean isManagedAtOnce();

        /** Registers the bean if it is not registered yet. */
        void manage();
    }

    private final Errands errands;
    private final boolean release;
    private final boolean events;

    private AgentThread(Errands errands, boolean release, boolean events) {
        super(null, null, "tessera-agent", STACK_BYTES, false);
        this.errands = errands;
        this.release = release;
        this.events = events;
    }

    static void start(Errands errands, boolean release, boolean events) {
        AgentThread thread = new AgentThread(errands, release, events);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        thread.start();
    }

    /** Loads ByteBuddy in parallel with the application's own start. */
    static void prepare(Errands errands) {
        Thread thread = new Thread(null, () -> warmUp(errands), "tessera-agent-start", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        thread.start();
    }

    private static void warmUp(Errands errands) {
        try {
            errands.warmUp();
        } catch (IOException | RuntimeException | LinkageError failure) {
            AgentLog.say("cannot instrument: " + failure);
        }
    }

    @Override
    public void run() {
        Runnable waits = events && Events.areWanted() ? Events.install() : null;
        if (errands.isManagedAtOnce()) {
            errands.manage();
        }
        try {
            Thread.sleep(LATER_MS);
            errands.manage();
            if (events && waits == null) {
                waits = Events.install();
            }
            while (true) {
                step(waits);
                Thread.sleep(PERIOD_MS);
            }
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }

    private void step(Runnable waits) {
        try {
            Recorder.noteCollected();
            if (release) {
                Recorder.release();
            }
            if (waits != null) {
                waits.run();
            }
        } catch (RuntimeException | LinkageError failure) {
            AgentCounters.suppressed(failure);
        }
    }
}
