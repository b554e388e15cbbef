package io.tessera.manager.executors;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Path;

/** Starts executors. The real one starts processes; tests replace it. */
public interface ExecutorLauncher {
    /**
     * Starts the executor of a device.
     *
     * @param ordinal  the device's number in its driver
     * @param socket   path at which it shall listen
     * @param listener receives what the executor says, on any thread
     * @throws IOException if it cannot be started
     */
    Running start(int ordinal, Path socket, Listener listener) throws IOException;

    /**
     * Takes over the executor of a device that a former manager started.
     *
     * @param ordinal  the device's number in its driver
     * @param socket   path at which it listens to clients
     * @param listener receives what the executor says, on any thread
     * @return the executor; null if none runs there
     */
    Running adopt(int ordinal, Path socket, Listener listener);

    /**
     * Returns why executors run as root although root's manager would run them as another user. Empty if they do not, or if root was asked for. A
     * sentence without its full stop, for the operator.
     */
    default String rootBecause() {
        return "";
    }

    /** An executor that was started or taken over. Thread-safe. */
    interface Running {
        /** Returns the number of its process. */
        long pid();

        /** Sends it a line; a line to an executor that is gone is lost. */
        void tell(JsonObject line);

        /** Disconnects from it and lets it continue, after it has received what was sent; at the latest after 2 s. */
        void part();

        /** Asks it to end by SIGTERM. */
        void terminate();

        /** Ends it at once. */
        void kill();
    }

    /** Receives the events of one executor. */
    interface Listener {
        /** The executor sent a line. */
        void said(JsonObject line);

        /** The executor has ended; code -1: only its parent knows the code. */
        void ended(int exitCode);
    }
}
