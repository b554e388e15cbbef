package io.tessera.cli.text;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/**
 * Standard output that remembers why it could not be written: a {@link java.io.PrintWriter} goes on without a word. After a failure nothing is written any more, so that what is there is
 * a beginning. One thread.
 */
public final class StandardOutput extends OutputStream {
    /** The system's text for EPIPE: the reader has read enough, which is no failure. */
    private static final String NOBODY_READS = "Broken pipe";

    private final OutputStream out;
    private IOException failure;

    /** Writes to a stream without a buffer. */
    public StandardOutput(OutputStream out) {
        this.out = out;
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        if (failure != null) {
            throw failure;
        }
        try {
            out.write(bytes, offset, length);
        } catch (IOException e) {
            failure = e;
            throw e;
        }
    }

    /** Why something was not written; empty: all was, or nobody reads any more. */
    public Optional<String> failure() {
        return Optional.ofNullable(failure).map(IOException::getMessage).filter(why -> !NOBODY_READS.equals(why));
    }
}
