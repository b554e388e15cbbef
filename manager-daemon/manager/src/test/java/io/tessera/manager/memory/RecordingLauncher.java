package io.tessera.manager.memory;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.manager.executors.ExecutorLauncher;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Executors that say what a test has them say. */
public final class RecordingLauncher implements ExecutorLauncher {
    /** Every start, in order. */
    public final List<Started> started = new ArrayList<>();

    /** One start. */
    public static final class Started implements Running {
        /** The device. */
        public final int ordinal;
        /** What it was told. */
        public final List<JsonObject> told = new ArrayList<>();
        /** Whether it was told to end, or ended. */
        public boolean stopped;
        private final Listener listener;

        Started(int ordinal, Listener listener) {
            this.ordinal = ordinal;
            this.listener = listener;
        }

        /** It says a line. */
        public void says(String json) {
            listener.said(JsonParser.parseString(json).getAsJsonObject());
        }

        /** It says that it is ready. */
        public void ready(int count) {
            says("{\"ready\":{\"uuid\":\"GPU-00000000-0000-0000-0000-00000000000" + ordinal
                    + "\",\"name\":\"Fake\",\"ordinal\":" + ordinal + ",\"count\":" + count
                    + ",\"software\":true,\"socket\":\"s\",\"totalBytes\":1024}}");
        }

        /** It dies. */
        public void dies() {
            listener.ended(1);
        }

        @Override
        public long pid() {
            return 900 + ordinal;
        }

        @Override
        public void tell(JsonObject line) {
            told.add(line);
        }

        @Override
        public void stop() {
            stopped = true;
        }

        @Override
        public void kill() {
            stopped = true;
            dies();
        }
    }

    @Override
    public Running start(int ordinal, Path socket, Listener listener) {
        started.add(new Started(ordinal, listener));
        return started.getLast();
    }
}
