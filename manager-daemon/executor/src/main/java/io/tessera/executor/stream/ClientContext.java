package io.tessera.executor.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** One context of a client: a set of streams with an order between them. One owner thread. */
public final class ClientContext {
    final int number;
    final List<ClientStream> streams = new ArrayList<>();
    /** Blocking streams with work for which the legacy stream has not waited. */
    final List<ClientStream> behindLegacy = new ArrayList<>();
    /** The legacy stream, made when it is first used. */
    ClientStream legacy;
    /** Stream that waits for all others when a call needs all of the context; never has work of its own. */
    ClientStream joiner;
    /** Stream for work that runs concurrently with a stream's later work ({@code ClientStreams.beside}); made when it is first used. */
    ClientStream beside;
    /** Grows with the legacy stream's work. */
    long legacyWork;
    /** {@link #legacyWork} when its event was last recorded. */
    long legacyRecorded;
    int captures;

    ClientContext(int number) {
        this.number = number;
    }

    /** Returns the streams on which open captures began. */
    public List<ClientStream> captured() {
        return Stream.concat(own().stream(), streams.stream()).filter(ClientStream::isOriginOfCapture).distinct().toList();
    }

    /** Returns its streams that have no handle of the client. */
    List<ClientStream> own() {
        return Stream.of(legacy, joiner, beside).filter(Objects::nonNull).toList();
    }

    /** Returns the client's number for it, above 0. */
    public int number() {
        return number;
    }
}
