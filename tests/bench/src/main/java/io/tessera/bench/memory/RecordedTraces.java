package io.tessera.bench.memory;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Allocations of PyTorch programs on a GPU, recorded by {@code tests/gpu/run traces}. The files are in the resources' folder {@code
 * recorded}; {@code recorded/index} has a line for each, and its remarks give the source.
 */
final class RecordedTraces {
    private static final String FOLDER = "recorded/";

    private RecordedTraces() {
    }

    /** Returns all traces by name; each ends all of its blocks. Empty: nothing is recorded. */
    static Map<String, MemoryTrace> all() throws IOException {
        Map<String, MemoryTrace> traces = new LinkedHashMap<>();
        try (InputStream index = open("index");
                BufferedReader names = new BufferedReader(new InputStreamReader(index, StandardCharsets.UTF_8))) {
            for (String name = names.readLine(); name != null; name = names.readLine()) {
                if (!name.isBlank() && !name.startsWith("#")) {
                    traces.put(name.replace(".gz", ""), one(name));
                }
            }
        }
        return traces;
    }

    private static MemoryTrace one(String name) throws IOException {
        try (InputStream bytes = open(name)) {
            MemoryTrace trace = TraceFile.read(name, bytes);
            trace.endAll();
            return trace;
        }
    }

    private static InputStream open(String name) throws IOException {
        InputStream found = RecordedTraces.class.getResourceAsStream(FOLDER + name);
        if (found == null) {
            throw new IOException("there is no recorded trace " + name);
        }
        return found;
    }
}
