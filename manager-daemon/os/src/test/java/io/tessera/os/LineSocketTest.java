package io.tessera.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.os.linux.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Lines over a real socket: whole, in order, bounded, and without waits. */
@Timeout(180)
class LineSocketTest {
    @TempDir
    private Path folder;
    private final SocketPort sockets = Linux.open().sockets();
    private final MemorySegment scratch = Arena.ofAuto().allocate(4096, 8);
    private final List<String> heard = new ArrayList<>();
    private int left;
    private int right;

    @BeforeEach
    void connect() throws Exception {
        Path path = folder.resolve("s");
        int listening = sockets.listen(path, SocketKind.STREAM, 0600, 1);
        left = sockets.connect(path, SocketKind.STREAM);
        right = sockets.accept(listening);
        sockets.close(listening);
    }

    @AfterEach
    void close() throws Exception {
        sockets.close(left);
        sockets.close(right);
    }

    @Test
    void linesOfAnyLengthComeWholeAndInOrder() throws Exception {
        LineSocket out = new LineSocket(sockets, left);
        LineSocket in = new LineSocket(sockets, right);
        List<String> said = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            said.add("line " + i + " \u00fc ".repeat(i * 7));
            assertTrue(out.queue(said.getLast()));
        }
        while (!out.send(scratch)) {
            assertTrue(in.receive(scratch, heard::add));
        }
        assertTrue(in.receive(scratch, heard::add));
        assertEquals(said, heard);
    }

    @Test
    void aPeerThatDoesNotReadCostsABoundedAmount() throws Exception {
        LineSocket out = new LineSocket(sockets, left);
        String line = "x".repeat(1 << 20);
        int taken = 0;
        while (out.queue(line)) {
            taken++;
            assertFalse(out.send(scratch) && taken > 8);
        }
        assertTrue(taken <= LineSocket.MOST_QUEUED_BYTES / line.length() + 1, taken + " MiB");
    }

    @Test
    void aLineWithoutAnEndEndsTheConnection() throws Exception {
        LineSocket in = new LineSocket(sockets, right);
        LineSocket out = new LineSocket(sockets, left);
        out.queue("y".repeat(LineSocket.LONGEST_LINE + 1));
        boolean goesOn = true;
        while (goesOn) {
            out.send(scratch);
            goesOn = in.receive(scratch, heard::add);
        }
        assertEquals(List.of(), heard);
    }

    @Test
    void whatWasSaidBeforeTheEndIsHeard() throws Exception {
        LineSocket out = new LineSocket(sockets, left);
        out.queue("last words");
        assertTrue(out.send(scratch));
        sockets.closeAfterReading(left);
        assertFalse(new LineSocket(sockets, right).receive(scratch, heard::add));
        assertEquals(List.of("last words"), heard);
        left = sockets.pair()[0]; // a socket for the cleanup to close
    }
}
