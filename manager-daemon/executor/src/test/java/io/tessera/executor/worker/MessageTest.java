package io.tessera.executor.worker;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Messages come out as they went in, and nothing that lies about its length takes memory. */
class MessageTest {
    private static final long SEED = 20261124;

    private static byte[] bytes(Message message) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        message.write(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    private static Message read(byte[] bytes, long most) throws IOException {
        return Message.read(new DataInputStream(new ByteArrayInputStream(bytes)), most);
    }

    private static Message message() {
        return new Message(Message.Kind.LINK, List.of(1L, -1L), "why", List.of(new byte[] {1, 2, 3}, new byte[0], new byte[] {4}));
    }

    @Test
    void itComesOutAsItWentIn() throws IOException {
        Message back = read(bytes(message()), 4);
        assertEquals(message().kind(), back.kind());
        assertEquals(message().numbers(), back.numbers());
        assertEquals("why", back.text());
        assertEquals(3, back.parts().size());
        assertArrayEquals(new byte[] {1, 2, 3}, back.parts().getFirst());
    }

    @Test
    void moreThanTheReaderTakesIsNotRead() throws IOException {
        byte[] bytes = bytes(message());
        assertThrows(IOException.class, () -> read(bytes, 3));
    }

    @Test
    void whateverIsCutOrChangedIsReadOrRefused() throws IOException {
        byte[] whole = bytes(message());
        Random random = new Random(SEED);
        for (int i = 0; i < 20_000; i++) {
            byte[] changed = whole.clone();
            changed[random.nextInt(changed.length)] = (byte) random.nextInt();
            int length = random.nextBoolean() ? changed.length : random.nextInt(changed.length);
            try {
                read(Arrays.copyOf(changed, length), 1 << 20);
            } catch (IOException e) {
                continue; // refused, and nothing else (seed 20261124)
            }
        }
    }
}
