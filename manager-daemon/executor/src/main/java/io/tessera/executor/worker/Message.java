package io.tessera.executor.worker;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A message in a worker's pipe, in either direction: {u32 magic, u32 kind, u32 number of numbers, u64 each, u32 bytes of text, text, u32 number of parts, of
 * each u32 bytes and the bytes}, big-endian. The reader limits the size, and no memory is allocated for bytes that have not arrived. The parts must not be
 * modified. Immutable otherwise.
 *
 * @param kind    its kind
 * @param numbers its numbers
 * @param text    its text, at most {@value #MOST_TEXT} bytes of UTF-8
 * @param parts   images, texts and tables
 */
record Message(Kind kind, List<Long> numbers, String text, List<byte[]> parts) {
    private static final int MAGIC = 0x7e55e2a1;
    private static final int MOST_NUMBERS = 1024;
    private static final int MOST_TEXT = 1 << 16;
    private static final int MOST_PARTS = 1 << 14;

    /** Kind of a message; the order defines the number in the pipe, both ends of which belong to one installation. */
    enum Kind {
        /** To a worker: {@link FenceJob}. */
        FENCE,
        /** To a worker: {@link AssembleJob}, with a single text. */
        ASSEMBLE,
        /** To a worker: {@link AssembleJob}, with several inputs. */
        LINK,
        /** From a worker: it is ready for a job, or it has begun the job that it got. */
        READY,
        /** From a worker: numbers[0] is a CUresult, the text is the reason or the compiler's output. */
        ANSWER
    }

    Message {
        numbers = List.copyOf(numbers);
        parts = List.copyOf(parts);
    }

    /** A message without anything. */
    static Message of(Kind kind) {
        return new Message(kind, List.of(), "", List.of());
    }

    /** Creates an answer. A text that is too long is cut. */
    static Message answer(int result, String text, List<byte[]> parts) {
        String told = text == null ? "" : text;
        return new Message(Kind.ANSWER, List.of((long) result), told.substring(0, Math.min(told.length(), MOST_TEXT / 4)), parts);
    }

    /** Bytes of all parts. */
    long bytes() {
        return parts.stream().mapToLong(part -> part.length).sum();
    }

    void write(DataOutputStream out) throws IOException {
        out.writeInt(MAGIC);
        out.writeInt(kind.ordinal());
        out.writeInt(numbers.size());
        for (long number : numbers) {
            out.writeLong(number);
        }
        byte[] words = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(words.length);
        out.write(words);
        out.writeInt(parts.size());
        for (byte[] part : parts) {
            out.writeInt(part.length);
            out.write(part);
        }
        out.flush();
    }

    /**
     * Reads a message.
     *
     * @param mostBytes maximum of all parts together
     * @throws EOFException if the other end is closed
     * @throws IOException  if the data is not a message, or exceeds the limits
     */
    static Message read(DataInputStream in, long mostBytes) throws IOException {
        int magic = in.readInt();
        int kind = in.readInt();
        if (magic != MAGIC || kind < 0 || kind >= Kind.values().length) {
            throw new IOException("no message: " + Integer.toHexString(magic) + " " + kind);
        }
        List<Long> numbers = new ArrayList<>();
        for (int left = length(in, MOST_NUMBERS); left > 0; left--) {
            numbers.add(in.readLong());
        }
        String text = new String(bytes(in, MOST_TEXT), StandardCharsets.UTF_8);
        List<byte[]> parts = new ArrayList<>();
        long room = mostBytes;
        for (int left = length(in, MOST_PARTS); left > 0; left--) {
            byte[] part = bytes(in, room);
            parts.add(part);
            room -= part.length;
        }
        return new Message(Kind.values()[kind], numbers, text, parts);
    }

    private static int length(DataInputStream in, long most) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > most) {
            throw new IOException("a message with " + Integer.toUnsignedString(length) + " where " + most + " may be");
        }
        return length;
    }

    private static byte[] bytes(DataInputStream in, long most) throws IOException {
        int length = length(in, most);
        byte[] bytes = in.readNBytes(length);
        if (bytes.length != length) {
            throw new EOFException("a message ends after " + bytes.length + " of " + length + " bytes");
        }
        return bytes;
    }
}
