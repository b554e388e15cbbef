package io.tessera.manager.memory;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.manager.executors.ExecutorLauncher;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Executors that say what a test has them say. */
public final class RecordingLauncher implements ExecutorLauncher {
    /** Every start, in order. */
    public final List<Started> started = new ArrayList<>();

    /** Executors that a former manager has left, by device. */
    public final Map<Integer, Started> living = new HashMap<>();

    /** Why they run as root. */
    public String rootBecause = "";

    @Override
    public String rootBecause() {
        return rootBecause;
    }

    /** One start. */
    public static final class Started implements Running {
        /** The device. */
        public final int ordinal;
        /** What it was told. */
        public final List<JsonObject> told = new ArrayList<>();
        /** Whether it was ended. */
        public boolean stopped;
        /** Whether the manager has let it go. */
        public boolean parted;
        private Listener listener;

        /** One that nobody hears yet. */
        public Started(int ordinal) {
            this.ordinal = ordinal;
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
        public void part() {
            parted = true;
        }

        @Override
        public void terminate() {
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
        started.add(new Started(ordinal));
        started.getLast().listener = listener;
        return started.getLast();
    }

    @Override
    public Running adopt(int ordinal, Path socket, Listener listener) {
        Started adopted = living.get(ordinal);
        if (adopted != null) {
            adopted.listener = listener;
        }
        return adopted;
    }
}
