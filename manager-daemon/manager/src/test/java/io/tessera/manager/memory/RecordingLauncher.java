package io.tessera.manager.memory;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.manager.executors.ExecutorLauncher;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Executors that send what the test chooses. */
public final class RecordingLauncher implements ExecutorLauncher {
    /** Every start, in order. */
    public final List<Started> started = new ArrayList<>();

    /** Executors that a former manager left, by device. */
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
        /** Lines that it received. */
        public final List<JsonObject> told = new ArrayList<>();
        /** Whether it was ended. */
        public boolean stopped;
        /** Whether the manager has parted from it. */
        public boolean parted;
        private Listener listener;

        /** Creates an executor without a listener. */
        public Started(int ordinal) {
            this.ordinal = ordinal;
        }

        /** Sends a line to the manager. */
        public void says(String json) {
            listener.said(JsonParser.parseString(json).getAsJsonObject());
        }

        /** Reports that it is ready. */
        public void ready(int count) {
            says("{\"ready\":{\"uuid\":\"GPU-00000000-0000-0000-0000-00000000000" + ordinal
                    + "\",\"name\":\"Fake\",\"ordinal\":" + ordinal + ",\"count\":" + count
                    + ",\"software\":true,\"socket\":\"s\",\"totalBytes\":1024}}");
        }

        /** Ends it. */
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
