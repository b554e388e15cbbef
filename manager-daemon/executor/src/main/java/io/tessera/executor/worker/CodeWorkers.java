package io.tessera.executor.worker;

import io.tessera.device.CudaResult;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.executor.jit.LinkerInput;
import java.util.List;

/**
 * Reads, rewrites and assembles tenants' code, outside of the executor. Thread-safe; a call waits for the answer, at most for the maximum time
 * of a job. An answer was made by a process that has read a tenant's code, so its contents have to be checked.
 */
public interface CodeWorkers extends AutoCloseable {
    /**
     * Rewrites the PTX of images.
     *
     * @param tenant the tenant to which they belong
     * @return an answer whose parts are, for each image, the text without a final NUL, then its tables
     */
    Answer fence(String tenant, FenceRequest request, List<byte[]> images);

    /**
     * Has a driver compile a text in the form in which it will be loaded, so that the driver then finds the code in its cache.
     *
     * @return an answer whose text is the compiler's output, without parts
     */
    Answer assemble(String tenant, byte[] text, CodeOptions options);

    /**
     * Has a driver link.
     *
     * @return an answer whose only part is the machine code
     */
    Answer link(String tenant, List<LinkerInput> inputs, CodeOptions options);

    /** Prepares for a client that comes and may soon have code. */
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
