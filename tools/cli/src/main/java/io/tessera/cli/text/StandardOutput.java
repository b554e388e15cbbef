package io.tessera.cli.text;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/**
 * Standard output that records why a write failed, because a {@link java.io.PrintWriter} continues silently. Nothing is written after a
 * failure, so that the output is always a prefix of the whole. One thread.
 */
public final class StandardOutput extends OutputStream {
    /** The system's message for EPIPE: the reader has closed the pipe, which is not a failure. */
    private static final String NOBODY_READS = "Broken pipe";

    private final OutputStream out;
    private IOException failure;

    /** Creates an output to an unbuffered stream. */
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

    /** Returns why something was not written; empty: everything was, or the reader has closed the pipe. */
    public Optional<String> failure() {
        return Optional.ofNullable(failure).map(IOException::getMessage).filter(why -> !NOBODY_READS.equals(why));
    }
}
