package io.tessera.executor.session;

import io.tessera.device.CudaResult;
import io.tessera.executor.driver.FatalErrors;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.protocol.relay.RelaySegment;

/** Supervises marks whose words are not written yet. After a loss of the context they never are, and no other call would find that out. One owner thread. */
final class MarkWatch {
    /** Interval at which the device is asked while a mark is open. */
    private static final long INTERVAL_NS = 5_000_000L;

    private final RelaySegment segment;
    private final ClientStreams streams;
    private ClientStream stream;
    private int word;
    private long value;
    private long nextNs;
    /** Submissions in all, before the last mark, and before the last mark that was written. */
    private volatile long submissions;
    private long marked;
    private volatile long known;

    MarkWatch(RelaySegment segment, ClientStreams streams) {
        this.segment = segment;
        this.streams = streams;
    }

    /** Records that a mark was submitted. Only the last one is watched, because an error of the context stops every stream. */
    void added(ClientStream newStream, int newWord, long newValue) {
        stream = newStream;
        marked = submissions;
        word = newWord;
        value = newValue;
    }

    /** Records that a mark was not submitted, because the work before it was found to be done. */
    void cameAtOnce() {
        marked = submissions;
        known = submissions;
    }

    /** Returns whether a mark is out, as far as is known. */
    boolean isOut() {
        if (stream != null) {
            long written = segment.word(word);
            stream = written == value || written == value + 1 ? null : stream; // value + 1: the kernels' output before it has been read, too
            known = stream == null ? marked : known;
        }
        return stream != null;
    }

    /** Records a launch or another submission. */
    void submitted() {
        submissions++;
    }

    /** Returns whether work may be in progress: something was submitted after the last mark that was written. Any thread. */
    boolean hasWork() {
        return submissions != known;
    }

    /** Asks the device if it is time to. Returns a fatal CUresult, else SUCCESS. */
    int poll(long nowNs) {
        if (nowNs < nextNs || !isOut()) {
            return CudaResult.SUCCESS;
        }
        nextNs = nowNs + INTERVAL_NS;
        int result = streams.query(); // of all: the marked stream may be destroyed meanwhile
        return FatalErrors.isFatal(result) ? result : CudaResult.SUCCESS;
    }
}
