package io.tessera.agent.instrument;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;

/**
 * Loads the classes needed for instrumentation by instrumenting a small class of the agent, so that the application's first CUDA
 * class does not wait for it. The result is discarded.
 */
public final class WarmUp {
    private static final String NAME = "io.tessera.agent.instrument.WarmUp$Sample";

    private WarmUp() {
    }

    /**
     * Loads everything that instrumentation needs. Another thread may call it before the first class is instrumented.
     *
     * @throws IOException if the agent's jar is incomplete
     */
    public static void run() throws IOException {
        Table table = Table.of(List.of(
                new Rule(Role.ALLOC, NAME, "alloc", Map.of("address", "0", "bytes", "1")),
                new Rule(Role.FREE, NAME, "free", Map.of("address", "0")),
                new Rule(Role.LAUNCH, NAME, "launch", Map.of("kernel", "0")),
                new Rule(Role.NAME, NAME, "name", Map.of("kernel", "0", "name", "1")),
                new Rule(Role.COPY, NAME, "copy", Map.of("bytes", "1", "direction", "2"))));
        String path = NAME.replace('.', '/');
        ClassLoader own = WarmUp.class.getClassLoader();
        try (InputStream in = own.getResourceAsStream(path + ".class")) {
            Instrumenter instrumenter = new Instrumenter(table, new WrappedClasses(), new ClassCache(null, 0));
            if (in == null || instrumenter.instrument(own, path, in.readAllBytes(), false) == null) {
                throw new IOException("the agent's jar holds no " + path);
            }
        }
    }

    /** The class that is instrumented; its methods are never called. */
    static final class Sample {
        private Sample() {
        }

        static int alloc(Object pointer, long bytes) {
            return pointer == null ? (int) bytes : 0;
        }

        static int free(Object pointer) {
            return pointer == null ? 1 : 0;
        }

        static int launch(Object kernel) {
            return kernel == null ? 1 : 0;
        }

        static int name(Object kernel, String name) {
            return kernel == null ? name.length() : 0;
        }

        static int copy(Object from, long bytes, int direction) {
            return from == null ? (int) bytes + direction : 0;
        }
    }
}
