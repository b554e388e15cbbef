package io.tessera.bench.memory;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What PyTorch programs allocated on a GPU, as {@code tests/gpu/run traces} recorded it. The files lie in the resources'
 * folder {@code recorded}, one line of {@code recorded/index} for each; what they are from is in its remarks.
 */
final class RecordedTraces {
    private static final String FOLDER = "recorded/";

    private RecordedTraces() {
    }

    /** All of them by name; each ends what it made. Empty where nothing is recorded. */
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
