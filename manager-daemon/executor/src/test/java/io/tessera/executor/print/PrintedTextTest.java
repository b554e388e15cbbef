package io.tessera.executor.print;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.os.PrintedTextPort;
import io.tessera.protocol.relay.RelaySegment;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The text that a client gets: never what may be another user's. */
class PrintedTextTest {
    private static final int ROOT = 0;
    private static final int OTHER = 65_534;

    private final ByteArrayOutputStream file = new ByteArrayOutputStream();
    private final PrintedText text = new PrintedText(new PrintedTextPort() {
        @Override
        public int create(String name) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void flushStreams() {
        }

        @Override
        public int read(int descriptor, MemorySegment into, long position) {
            byte[] all = file.toByteArray();
            int length = (int) Math.min(into.byteSize(), all.length - position);
            MemorySegment.copy(all, (int) position, into, ValueLayout.JAVA_BYTE, 0, length);
            return length;
        }

        @Override
        public void forget(int descriptor, long position) {
        }
    }, 1);
    private final RelaySegment segment = new RelaySegment(Arena.ofAuto().allocate(RelaySegment.BYTES, 64));
    private int lost;

    /** Returns what a client gets when the driver prints a text as somebody waits. */
    private String fetch(String printed) {
        long before = segment.printed();
        assertEquals(0, text.fetch(() -> {
            file.writeBytes(printed.getBytes(StandardCharsets.US_ASCII));
            return 0;
        }, segment, () -> lost++));
        byte[] got = new byte[(int) (segment.printed() - before)];
        MemorySegment.copy(segment.memory(), ValueLayout.JAVA_BYTE, RelaySegment.PRINT + before, got, 0, got.length);
        segment.printTaken(segment.printed());
        return new String(got, StandardCharsets.US_ASCII);
    }

    @Test
    void clientsOfOneUserGetWhatIsThere() {
        text.enters(ROOT);
        text.enters(ROOT);
        assertEquals("a", fetch("a"));
        text.leaves(ROOT);
        assertEquals("b", fetch("b"));
    }

    @Test
    void nobodyGetsWhatMayBeAnothersText() {
        text.enters(ROOT);
        file.writeBytes("before".getBytes(StandardCharsets.US_ASCII));
        text.enters(OTHER);
        assertEquals("", fetch("a"));
        assertEquals(1, lost);
        assertEquals("", fetch(""));
        assertEquals(1, lost, "nothing was lost");
        assertEquals("", fetch("b"));
        assertEquals(2, lost);
    }

    /** A driver may print what kernels of a departed client printed. */
    @Test
    void whoHasLeftCountsUntilHisTextIsOut() {
        text.enters(ROOT);
        text.enters(OTHER);
        text.leaves(OTHER);
        assertEquals("", fetch("other's"));
        assertEquals("", fetch("other's"));
        assertEquals("mine", fetch("mine"));
    }
}
