package io.tessera.system;

import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Number of calls of the scripted driver, by entry. Layout: tests/scripted-driver/README.md. */
public final class DriverCallCounts {
    private static final long CALLS_OFFSET = 4096;

    private DriverCallCounts() {
    }

    /** Returns the number of calls of the exported name so far, over all processes of the test. */
    public static long of(String name, TestRun run) {
        Path exported = BuildOutputs.root().resolve("native-preload/api/cuda-580.names");
        try (FileChannel witness = FileChannel.open(run.witnessFile())) {
            List<String> names = Files.readAllLines(exported).stream()
                    .filter(line -> line.startsWith("cu")).sorted().toList();
            int index = names.indexOf(name);
            if (index < 0) {
                throw new IllegalArgumentException(name + " is not exported");
            }
            ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            if (witness.read(word, CALLS_OFFSET + index * 8L) != Long.BYTES) {
                throw new IllegalStateException("the witness is too short");
            }
            return word.getLong(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
