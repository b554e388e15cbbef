package io.tessera.executor;

import io.tessera.os.SharedMemoryPort;
import java.io.IOException;
import java.io.OutputStream;

/** Writes to an open descriptor. Opening it by a name again would cut short what it is, if it is a file. */
final class DescriptorStream extends OutputStream {
    private final SharedMemoryPort descriptors;
    private final int descriptor;

    DescriptorStream(SharedMemoryPort descriptors, int descriptor) {
        this.descriptors = descriptors;
        this.descriptor = descriptor;
    }

    @Override
    public void write(int octet) throws IOException {
        descriptors.write(descriptor, new byte[] {(byte) octet});
    }

    @Override
    public void write(byte[] content, int offset, int length) throws IOException {
        byte[] part = new byte[length];
        System.arraycopy(content, offset, part, 0, length);
        descriptors.write(descriptor, part);
    }
}
