package io.tessera.executor.worker;

import io.tessera.device.CudaResult;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.executor.jit.LinkerInput;
import java.util.List;

/**
 * Reads, rewrites and assembles tenants' code, outside of the executor. Thread-safe; a call waits until there is an answer, as long as a
 * job may take at most. An answer was made by a process that has read a tenant's code, so its contents have to be checked.
 */
public interface CodeWorkers extends AutoCloseable {
    /**
     * Rewrites the PTX of images.
     *
     * @param tenant the tenant to which they belong
     * @return parts: of each image the text without a final NUL, then its tables
     */
    Answer fence(String tenant, FenceRequest request, List<byte[]> images);

    /**
     * Has a driver compile a text as it will be loaded, so that the driver finds the code in its cache then.
     *
     * @return the text of the answer is what the compiler said; no parts
     */
    Answer assemble(String tenant, byte[] text, CodeOptions options);

    /**
     * Has a driver link.
     *
     * @return one part: machine code
     */
    Answer link(String tenant, List<LinkerInput> inputs, CodeOptions options);

    /** A client comes that may have code soon. */
    void expect();

    /**
     * Refuses the jobs for which the thread of a client that has left waits, and all later ones.
     *
     * @param client the thread that requests jobs
     */
    void abandon(Thread client);

    /** Returns whether a client's thread is one of those given to {@link #abandon}. */
    boolean isAbandoned(Thread client);

    @Override
    void close();

    /** Returns an instance without workers, which refuses everything: for an executor whose clients have no code. */
    static CodeWorkers none() {
        Answer refused = new Answer(CudaResult.NOT_SUPPORTED, "there are no workers", List.of());
        return new CodeWorkers() {
            @Override
            public Answer fence(String tenant, FenceRequest request, List<byte[]> images) {
                return refused;
            }

            @Override
            public Answer assemble(String tenant, byte[] text, CodeOptions options) {
                return refused;
            }

            @Override
            public Answer link(String tenant, List<LinkerInput> inputs, CodeOptions options) {
                return refused;
            }

            @Override
            public void abandon(Thread client) {
            }

            @Override
            public boolean isAbandoned(Thread client) {
                return false;
            }

            @Override
            public void expect() {
                // There is no worker to prepare.
            }

            @Override
            public void close() {
                // There is nothing to release.
            }
        };
    }
}
