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

    /** An executor that was started. Thread-safe. */
    interface Running {
        /** Its process. */
        long pid();

        /** Tells it a line; a line to one that is gone is lost. */
        void tell(JsonObject line);

        /** Has it end in order: its input ends. */
        void stop();

        /** Ends it at once. */
        void kill();
    }

    /** Hears of one executor. */
    interface Listener {
        /** It said something. */
        void said(JsonObject line);

        /** It has ended. */
        void ended(int exitCode);
    }
}
