package io.tessera.software.driver.entry;

import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.context.Stream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Brings what kernels printed to the process's standard output, file descriptor 1, when somebody has waited for them.
 * The descriptor itself, not Java's stream over it: a program that redirects it expects the text there.
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
