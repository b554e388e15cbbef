package io.tessera.software.driver.entry;

import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.context.Stream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Writes the text that kernels printed to the process's standard output when the program has waited for them. It writes to file descriptor 1 itself, not to
 * Java's stream over it: a program that redirects the descriptor expects the text there.
 */
public final class DeviceText {
    private DeviceText() {
    }

    /** Brings out what kernels of a stream printed. */
    public static void flush(Stream stream) {
        write(stream.output().take());
    }

    /** Brings out what kernels of all streams of a context printed. */
    public static void flush(Context context) {
        context.allStreams().forEach(DeviceText::flush);
    }

    private static synchronized void write(byte[] text) {
        if (text.length == 0) {
            return;
        }
        // Never closed: the descriptor is the process's own.
        @SuppressWarnings("resource")
        FileOutputStream out = new FileOutputStream(FileDescriptor.out);
        try {
            out.write(text);
        } catch (IOException e) {
            throw new UncheckedIOException("standard output, for what a kernel printed", e);
        }
    }
}
