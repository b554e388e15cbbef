package io.tessera.executor.stream;

import java.util.ArrayList;
import java.util.List;

/** One context of a client: a set of streams with an order between them. One owner thread. */
public final class ClientContext {
    final int number;
    final List<ClientStream> streams = new ArrayList<>();
    /** Blocking streams with work that the legacy stream has not waited for. */
    final List<ClientStream> behindLegacy = new ArrayList<>();
    /** Made when it is first used. */
    ClientStream legacy;
    /** Waits for all others when somebody asks for all of the context; never has work of its own. */
    ClientStream joiner;
    /** Grows with the legacy stream's work. */
    long legacyWork;
    /** {@link #legacyWork} when its event was last recorded. */
    long legacyRecorded;
    int captures;

    ClientContext(int number) {
        this.number = number;
    }

    /** The client's number for it, above 0. */
    public int number() {
        return number;
    }
}
