package io.tessera.executor.session;

import io.tessera.executor.call.ClientState;
import io.tessera.executor.driver.CudaResult;
import io.tessera.executor.stream.ClientStream;

/**
 * A mark that its sender waits for (FLAG_WAITED). A device takes some 3 µs longer to write a word behind other work than it
 * takes to answer whether the work is done: so it is asked for a moment, and only then told to write. Before the next
 * record of the client is executed the mark is in its stream, or done. One owner thread.
 */
final class AwaitedMark {
    /** Most work that somebody waits for at once ends sooner, or much later. */
    private static final long ASKED_NS = 25_000L;

    private final ClientState client;
    private final MarkWatch marks;
    private ClientStream stream;
    private int word;
    private long value;
    private long untilNs;

    AwaitedMark(ClientState client, MarkWatch marks) {
        this.client = client;
        this.marks = marks;
    }

    /** Whether a mark is neither done nor in its stream. */
    boolean isOpen() {
        return stream != null;
    }

    /** Opens a mark; none is open. */
    void open(ClientStream newStream, int newWord, long newValue) {
        stream = newStream;
        word = newWord;
        value = newValue;
        untilNs = 0;
    }

    /** Has the device write the open mark. Returns the CUresult. */
    int submit() {
        ClientStream marked = stream;
        stream = null;
        int result = client.words().write(marked, word, value);
        if (result == CudaResult.SUCCESS) {
            marks.added(marked, word, value);
        }
        return result;
    }

    /** Asks whether the work before the open mark is done, and writes its word then. Returns the CUresult. */
    int poll(long nowNs) {
        int result = client.streams().query(stream);
        if (result == CudaResult.SUCCESS) {
            stream = null;
            client.fences().tellViolated();
            client.segment().word(word, value);
            return CudaResult.SUCCESS;
        }
        if (untilNs == 0) {
            untilNs = nowNs + ASKED_NS;
        }
        return result == CudaResult.NOT_READY && nowNs - untilNs < 0 ? CudaResult.SUCCESS : submit();
    }
}
