package io.tessera.cli.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What could not be written is known at the end. */
class StandardOutputTest {
    private static Optional<String> failure(OutputStream to) {
        StandardOutput output = new StandardOutput(to);
        PrintWriter writer = new PrintWriter(output);
        for (int i = 0; i < 10_000; i++) { // more than the stream of a process keeps
            writer.println("line");
        }
        writer.flush();
        return output.failure();
    }

    @Test
    void aFullDeviceIsTold() throws IOException {
        try (OutputStream full = new FileOutputStream("/dev/full")) {
            assertEquals(Optional.of("No space left on device"), failure(full));
        }
    }

    /** As in {@code tessera status | head -1}. */
    @Test
    void whereNobodyReadsAnyMoreNothingIsTold() throws Exception {
        Process reader = new ProcessBuilder("sh", "-c", "exec 0<&-; echo closed; exec sleep 60").start();
        try {
            assertEquals("closed", reader.inputReader().readLine());
            assertEquals(Optional.empty(), failure(reader.getOutputStream()));
        } finally {
            reader.destroy();
        }
    }

    @Test
    void nothingComesAfterAFailure() throws IOException {
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        StandardOutput output = new StandardOutput(new OutputStream() {
            private int calls;

            @Override
            public void write(int value) throws IOException {
                if (++calls == 2) {
                    throw new IOException("once");
                }
                written.write(value);
            }
        });
        output.write('a');
        assertThrows(IOException.class, () -> output.write('b'));
        assertThrows(IOException.class, () -> output.write('c'));
        assertEquals("a", written.toString());
        assertEquals(Optional.of("once"), output.failure());
    }
}
