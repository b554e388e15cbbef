package io.tessera.os;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/**
 * Lines of text, both ways, over a connected stream socket. No call waits: what the peer does not take stays here, up to a bound. {@link #queue} may
 * be called by any thread, everything else by one. Does not own the socket.
 */
public final class LineSocket {
    /** Maximum size of the queue: far more than a peer that reads leaves unread, and small compared with the heap of a process. */
    static final int MOST_QUEUED_BYTES = 8 << 20;
    /** Maximum length of a line: more than the longest one, which reports hundreds of clients. */
    static final int LONGEST_LINE = 4 << 20;

    private final SocketPort sockets;
    private final int socket;
    private final Deque<byte[]> queued = new ArrayDeque<>();
    private final ByteArrayOutputStream partial = new ByteArrayOutputStream();
    private int queuedBytes;
    private int sentOfFirst;

    /** Creates lines over a socket that the caller closes. */
    public LineSocket(SocketPort sockets, int socket) {
        this.sockets = sockets;
        this.socket = socket;
    }

    /**
     * Receives what has arrived.
     *
     * @param scratch native buffer for the call
     * @param heard   receives each whole line
     * @return false if the peer has ended, or sends a line without an end
     */
    public boolean receive(MemorySegment scratch, Consumer<String> heard) throws LinuxException {
        int bytes;
        while ((bytes = sockets.receive(socket, scratch)) != SocketPort.WOULD_BLOCK) {
            if (bytes == 0) {
                return false;
            }
            for (byte next : scratch.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE)) {
                if (next == '\n') {
                    heard.accept(partial.toString(StandardCharsets.UTF_8));
                    partial.reset();
                } else if (partial.size() == LONGEST_LINE) {
                    return false;
                } else {
                    partial.write(next);
                }
            }
        }
        return true;
    }

    /**
     * Queues a line to be sent by {@link #send}.
     *
     * @return false if the peer has left so much unread that the line is lost
     */
    public synchronized boolean queue(String line) {
        byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
        if (queuedBytes + bytes.length > MOST_QUEUED_BYTES) {
            return false;
        }
        queued.add(bytes);
        queuedBytes += bytes.length;
        return true;
    }

    /** Sends as much as the peer takes. Returns whether nothing is left. */
    public synchronized boolean send(MemorySegment scratch) throws LinuxException {
        while (!queued.isEmpty()) {
            byte[] first = queued.getFirst();
            int chunk = (int) Math.min(scratch.byteSize(), first.length - sentOfFirst);
            MemorySegment.copy(first, sentOfFirst, scratch, ValueLayout.JAVA_BYTE, 0, chunk);
            int sent = sockets.send(socket, scratch, chunk);
            if (sent == SocketPort.WOULD_BLOCK) {
                return false;
            }
            sentOfFirst += sent;
            if (sentOfFirst == first.length) {
                queued.removeFirst();
                queuedBytes -= first.length;
                sentOfFirst = 0;
            }
        }
        return true;
    }
}
