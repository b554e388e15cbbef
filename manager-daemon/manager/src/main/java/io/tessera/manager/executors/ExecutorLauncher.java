package io.tessera.manager.executors;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Path;

/** Starts executors. The real one starts processes; tests replace it. */
public interface ExecutorLauncher {
    /**
     * Starts the executor of a device.
     *
     * @param ordinal  the device, as its driver counts
     * @param socket   where it shall listen
     * @param listener hears of it, on any thread
     * @throws IOException if it cannot be started
     */
    Running start(int ordinal, Path socket, Listener listener) throws IOException;

    /**
     * Takes over the executor of a device that a former manager has started.
     *
     * @param ordinal  the device, as its driver counts
     * @param socket   where it listens to clients
     * @param listener hears of it, on any thread
     * @return null: none lives there
     */
    Running adopt(int ordinal, Path socket, Listener listener);

    /**
     * Why executors run as root although root's manager would run them as another user; empty: they do not, or root was asked for. A sentence
     * without its end, for the operator.
     */
    default String rootBecause() {
        return "";
    }

    /** An executor that was started or taken over. Thread-safe. */
    interface Running {
        /** Its process. */
        long pid();

        /** Tells it a line; a line to one that is gone is lost. */
        void tell(JsonObject line);

        /** Lets it go on without us, when it has heard what it was told; at the latest after 2 s. */
        void part();

        /** Asks it to end by SIGTERM. */
        void terminate();

        /** Ends it at once. */
        void kill();
    }

    /** Hears of one executor. */
    interface Listener {
        /** It said something. */
        void said(JsonObject line);

        /** It has ended; -1: with a code that only its parent knows. */
        void ended(int exitCode);
    }
}
