package io.tessera.executor.worker;

import io.tessera.clock.Clocks;
import io.tessera.device.DriverOptions;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.executor.jit.LinkerInput;
import java.util.List;

/** Workers of tests: real processes. */
public final class TestWorkers {
    private static final long HEAP_BYTES = 256L << 20;
    private static final int JOB_SECONDS = 60;
    private static final WorkerPool SHARED = pool(JOB_SECONDS);

    private TestWorkers() {
    }

    /** Workers of a test's own, whose jobs may take this long. */
    public static WorkerPool pool(int jobSeconds) {
        return new WorkerPool(settings(jobSeconds, JOB_SECONDS), Clocks.system().monotonic());
    }

    static WorkerSettings settings(int jobSeconds, int idleSeconds) {
        return new WorkerSettings("software", DriverOptions.DEFAULT, 2, jobSeconds, HEAP_BYTES, idleSeconds);
    }

    /** As above, for all tests of this process; they end with the process, because a JVM takes long to start. */
    public static CodeWorkers shared() {
        return new CodeWorkers() {
            @Override
            public Answer fence(String tenant, FenceRequest request, List<byte[]> images) {
                return SHARED.fence(tenant, request, images);
            }

            @Override
            public Answer assemble(String tenant, byte[] text, CodeOptions options) {
                return SHARED.assemble(tenant, text, options);
            }

            @Override
            public Answer link(String tenant, List<LinkerInput> inputs, CodeOptions options) {
                return SHARED.link(tenant, inputs, options);
            }

            @Override
            public void abandon(Thread client) {
                SHARED.abandon(client);
            }

            @Override
            public boolean isAbandoned(Thread client) {
                return SHARED.isAbandoned(client);
            }

            @Override
            public void expect() {
                SHARED.expect();
            }

            @Override
            public void close() {
                // shared
            }
        };
    }
}
