package io.tessera.manager.control;

import com.google.gson.JsonParseException;
import io.tessera.os.LinuxException;
import io.tessera.os.SocketPort;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * One connection of the control socket: bytes in, lines, answers, bytes out, all bounded. While an answer does not fit into the socket, nothing more
 * is read, so a peer that does not read costs one answer. One owner thread.
 */
final class ControlConnection {
    /** Longest line without its newline (SPEC.md, section 8). */
    static final int LONGEST_LINE = 65_536;
    /** Maximum number of answers in one cycle, so that requests sent in bulk do not delay turns. */
    static final int ANSWERS_PER_CYCLE = 4;

    final int socket;
    /** Time at which it was opened, CLOCK_MONOTONIC nanoseconds. */
    final long openedNs;
    long token;
    /** Time at which it last sent something, CLOCK_MONOTONIC nanoseconds. */
    long lastHeardNs;

    private final SocketPort sockets;
    private final Requester asker;
    private final ControlRequests requests;
    private final byte[] line = new byte[LONGEST_LINE];
    private int lineBytes;
    private byte[] received = new byte[0];
    private int receivedAt;
    private byte[] output = new byte[0];
    private int outputAt;
    private boolean closing;
    private boolean asked;

    ControlConnection(SocketPort sockets, int socket, Requester asker, ControlRequests requests, long nowNs) {
        this.sockets = sockets;
        this.socket = socket;
        this.asker = asker;
        this.requests = requests;
        this.openedNs = nowNs;
        this.lastHeardNs = nowNs;
    }

    /** Returns the user of the peer. */
    int uid() {
        return asker.uid();
    }

    /** Returns whether a whole line came. */
    boolean hasAsked() {
        return asked;
    }

    /** Returns whether received requests wait for the next cycle. */
    boolean hasInput() {
        return receivedAt < received.length && !hasOutput();
    }

    /** Returns whether an answer waits for room in the socket. */
    boolean hasOutput() {
        return outputAt < output.length;
    }

    /**
     * Reads, answers and writes as far as possible without waiting.
     *
     * @param scratch native buffer for one call
     * @return false if the connection is over
     */
    boolean advance(MemorySegment scratch, long nowNs) throws LinuxException {
        boolean read = false;
        int answers = 0;
        while (write(scratch)) {
            if (closing) {
                return false;
            }
            if (receivedAt < received.length) {
                if (answers == ANSWERS_PER_CYCLE) {
                    return true;
                }
                answers += consume(nowNs) ? 1 : 0;
            } else if (read) {
                return true;
            } else {
                read = true;
                int bytes = sockets.receive(socket, scratch);
                if (bytes == SocketPort.WOULD_BLOCK) {
                    return true;
                }
                if (bytes == 0) {
                    return false;
                }
                lastHeardNs = nowNs;
                received = scratch.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
                receivedAt = 0;
            }
        }
        return true;
    }

    /** Answers with a refusal and ends the connection. */
    boolean refuse(String sentence, MemorySegment scratch) throws LinuxException {
        answerError(sentence);
        return !write(scratch);
    }

    /** Adds a received byte to the line, and answers when the line is complete. Returns whether it answered. */
    private boolean consume(long nowNs) {
        byte next = received[receivedAt++];
        if (next == '\n') {
            asked = true;
            answerLine(nowNs);
            lineBytes = 0;
            return true;
        }
        if (lineBytes == LONGEST_LINE) {
            answerError("a line must not be longer than " + LONGEST_LINE + " bytes");
            return true;
        }
        line[lineBytes++] = next;
        return false;
    }

    private void answerLine(long nowNs) {
        try {
            String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line, 0, lineBytes)).toString();
            put(requests.answer(text, asker, nowNs).toString());
        } catch (JsonParseException e) {
            answerError("malformed JSON: a line must be one JSON object");
        } catch (CharacterCodingException e) {
            answerError("malformed JSON: a line must be UTF-8");
        }
    }

    private void answerError(String sentence) {
        put(ControlAnswers.error(sentence).toString());
        closing = true;
    }

    private void put(String json) {
        output = (json + "\n").getBytes(StandardCharsets.UTF_8);
        outputAt = 0;
    }

    /** Writes what the socket takes; returns whether everything is written. */
    private boolean write(MemorySegment scratch) throws LinuxException {
        while (hasOutput()) {
            int chunk = (int) Math.min(scratch.byteSize(), output.length - outputAt);
            MemorySegment.copy(output, outputAt, scratch, ValueLayout.JAVA_BYTE, 0, chunk);
            int sent = sockets.send(socket, scratch, chunk);
            if (sent == SocketPort.WOULD_BLOCK) {
                return false;
            }
            outputAt += sent;
        }
        return true;
    }
}
