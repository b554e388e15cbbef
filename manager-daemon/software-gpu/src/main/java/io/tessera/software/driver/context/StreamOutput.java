package io.tessera.software.driver.context;

import java.io.ByteArrayOutputStream;

/**
 * Text that kernels of a stream printed and for which the program has not waited yet: a bounded queue, as the driver documents (CU_LIMIT_PRINTF_FIFO_SIZE).
 * Thread-safe.
 */
public final class StreamOutput {
    private final ByteArrayOutputStream text = new ByteArrayOutputStream();

    /** Adds text; what does not fit any more is lost, as on any device. */
    public synchronized void add(byte[] more, long limitBytes) {
        if (text.size() + more.length <= limitBytes) {
            text.writeBytes(more);
        }
    }

    /** Takes all of it. */
    public synchronized byte[] take() {
        byte[] taken = text.toByteArray();
        text.reset();
        return taken;
    }
}
