package io.tessera.agent.start;

import io.tessera.agent.boot.AgentCounters;
import io.tessera.agent.boot.Owners;
import io.tessera.agent.host.AgentLog;
import java.io.IOException;

/**
 * The agent's one thread: registers the bean, notes what the collector found, releases memory if asked to, and passes
 * the driver's waits on to Flight Recorder. A daemon; it never runs code of the application.
 */
final class AgentThread extends Thread {
    private static final long PERIOD_MS = 500;
    /**
     * What nobody waits for comes later: bean and events cost 0.3 s of processor time, in the middle of the
     * application's start.
     */
    private static final long LATER_MS = 1000;
    private static final int STACK_BYTES = 1 << 18;

    private final Tooling tooling;
    private final boolean release;
    private final boolean events;

    private AgentThread(Tooling tooling, boolean release, boolean events) {
        super(null, null, "tessera-agent", STACK_BYTES, false);
        this.tooling = tooling;
        this.release = release;
        this.events = events;
    }

    static void start(Tooling tooling, boolean release, boolean events) {
        AgentThread thread = new AgentThread(tooling, release, events);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        thread.start();
    }

    /** Loads ByteBuddy beside the application's own start. */
    static void prepare(Tooling tooling) {
        Thread thread = new Thread(null, () -> warmUp(tooling), "tessera-agent-start", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        thread.start();
    }

    private static void warmUp(Tooling tooling) {
        try {
            tooling.warmUp();
        } catch (IOException | RuntimeException | LinkageError failure) {
            AgentLog.say("cannot instrument: " + failure);
        }
    }

    @Override
    public void run() {
        Runnable waits = events && Events.areWanted() ? Events.install() : null;
        if (tooling.isManagedAtOnce()) {
            tooling.manage();
        }
        try {
            Thread.sleep(LATER_MS);
            tooling.manage();
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
            Owners.noteCollected();
            if (release) {
                Owners.release();
            }
            if (waits != null) {
                waits.run();
            }
        } catch (RuntimeException | LinkageError failure) {
            AgentCounters.suppressed(failure);
        }
    }
}
