package io.tessera.executor.session;

import io.tessera.device.CudaResult;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.stream.CompletionCounters;
import io.tessera.protocol.relay.RelaySegment;

/**
 * A mark for which its sender waits (FLAG_WAITED). If the mark is submitted directly after the work, the device writes its word sooner than a
 * query here would find the work done. Submitted later, the mark takes some 4 µs (driver 580, H200), so the device is first queried for a moment
 * whether the work is done. Before the client's next record is executed, the mark is in its stream, or done. One owner thread.
 */
final class AwaitedMark {
    /** Time for which the device is queried: most work for which a program waits directly ends within it, or takes much longer. */
    private static final long ASKED_NS = 25_000L;
    /**
     * A mark that comes at most this long after work is submitted at once. Compared with a query, that took 0.5 µs less if the mark followed the
     * launch directly, as long if it came 1 µs later, and 0.7 µs more at 2 µs. Other values are for measurements; 0: the device is always queried first.
     */
    private static final long AT_ONCE_NS = Long.getLong("tessera.executor.marksAtOnceNs", 1_000L);

    private final ClientStreams streams;
    private final ClientFences fences;
    private final CompletionCounters words;
    private final RelaySegment segment;
    private final MarkWatch marks;
    private ClientStream stream;
    private int word;
    private long value;
    private long untilNs;
    /** Whether the program is ending, so that the mark follows all its work. */
    private boolean last;

    AwaitedMark(ClientStreams streams, ClientFences fences, CompletionCounters words, RelaySegment segment, MarkWatch marks) {
        this.streams = streams;
        this.fences = fences;
        this.words = words;
        this.segment = segment;
        this.marks = marks;
    }

    /** Returns whether a mark is neither done nor in its stream. */
    boolean isOpen() {
        return stream != null;
    }

    /**
     * Opens a mark. No mark may be open.
     *
     * @param sinceWorkNs time since the client last submitted work
     * @return the CUresult
     */
    int open(ClientStream newStream, int newWord, long newValue, long sinceWorkNs) {
        stream = newStream;
        word = newWord;
        value = newValue;
        untilNs = 0;
        last = false;
        return sinceWorkNs < AT_ONCE_NS ? submit() : CudaResult.SUCCESS;
    }

    /**
     * Opens the mark of a program that is ending (FLAG_LAST). Its word is written here after the results of its work were reported, however long
     * the work takes.
     */
    void openLast(ClientStream newStream, int newWord, long newValue) {
        stream = newStream;
        word = newWord;
        value = newValue;
        last = true;
    }

    /** Has the device write the open mark. Returns the CUresult. */
    int submit() {
        ClientStream marked = stream;
        stream = null;
        int result = words.write(marked, word, value);
        if (result == CudaResult.SUCCESS) {
            streams.counted(marked);
            marks.added(marked, word, value);
        }
        return result;
    }

    /** Asks whether the work before the open mark is done, and writes its word then. Returns the CUresult. */
    int poll(long nowNs) {
        int result = last ? streams.query() : streams.query(stream);
        if (result == CudaResult.SUCCESS) {
            stream = null;
            if (last) {
                fences.finish();
            }
            fences.tellViolated();
            marks.cameAtOnce(); // before the client learns of it, so that the client does not count as one with work in progress
            segment.word(word, value);
            return CudaResult.SUCCESS;
        }
        if (last) {
            return result == CudaResult.NOT_READY ? CudaResult.SUCCESS : submit();
        }
        if (untilNs == 0) {
            untilNs = nowNs + ASKED_NS;
        }
        return result == CudaResult.NOT_READY && nowNs - untilNs < 0 ? CudaResult.SUCCESS : submit();
    }
}
