package io.tessera.executor.session;

import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.image.ImageOffers;
import io.tessera.executor.memory.PinnedMemory;
import io.tessera.os.PeerCredentials;
import io.tessera.protocol.message.MalformedMessageException;
import io.tessera.protocol.message.RefusalCode;
import io.tessera.protocol.message.RelayMessageListener;
import io.tessera.protocol.message.RelayToken;
import java.lang.foreign.Arena;

/** A connection on the executor's socket, and its session once it is admitted. One owner thread. */
final class Connection implements RelayMessageListener {
    final int socket;
    final PeerCredentials peer;
    /** When the connection was accepted, CLOCK_MONOTONIC nanoseconds. */
    final long sinceNs;
    long pollToken;
    private RelayToken token;
    private long[] pinAsked;
    private boolean pinning;
    private long[] imageAsked;
    private boolean outOfOrder;
    private boolean open = true;
    private Admission.Client announced;
    private TenantPresence.Member member;
    private long settlesBeforeNs;
    private ClientSession session;
    private PinnedMemory pinned;
    private ImageOffers images;
    private Arena segmentArena;

    Connection(int socket, PeerCredentials peer, long sinceNs) {
        this.socket = socket;
        this.peer = peer;
        this.sinceNs = sinceNs;
    }

    @Override
    public void onHello(RelayToken shown) {
        outOfOrder |= token != null;
        token = shown;
    }

    @Override
    public void onPin(long bytes, long notBelow) {
        outOfOrder |= session == null || pinAsked != null; // a client waits for one answer before the next request
        pinAsked = new long[] {bytes, notBelow};
    }

    @Override
    public void onImage(long offset, long bytes) {
        outOfOrder |= session == null;
        imageAsked = new long[] {offset, bytes};
    }

    void checkOrder() throws MalformedMessageException {
        if (outOfOrder) {
            throw new MalformedMessageException(RefusalCode.MALFORMED, "a message at the wrong time");
        }
    }

    /** Records that the peer is the announced client. It counts among the others from now on, and is served once they are ready for it. */
    void announced(Admission.Client client, TenantPresence.Member newMember, long untilNs) {
        announced = client;
        member = newMember;
        settlesBeforeNs = untilNs;
    }

    /** Returns the announced client; null before. */
    Admission.Client announced() {
        return announced;
    }

    /** Returns its entry among the executor's clients; null before it is announced. */
    TenantPresence.Member member() {
        return member;
    }

    /** Returns the time at which the other clients must be ready for it. */
    long settlesBeforeNs() {
        return settlesBeforeNs;
    }

    void serve(SessionFactory.Made made) {
        session = made.session();
        pinned = made.pinned();
        images = made.images();
        segmentArena = made.arena();
    }

    RelayToken token() {
        return token;
    }

    /** Returns, once, the bytes and the lowest address of a PIN; null if there is none, or if memory cannot be made yet or is being made. */
    long[] takePin() {
        if (pinAsked == null || pinning || !pinned.isReady()) {
            return null;
        }
        long[] asked = pinAsked;
        pinAsked = null;
        pinning = true;
        return asked;
    }

    /** Records that the pinned memory was made, or refused. */
    void pinned() {
        pinning = false;
    }

    /** Returns, once, the offset and the bytes of an IMAGE; null if there is none. */
    long[] takeImage() {
        long[] asked = imageAsked;
        imageAsked = null;
        return asked;
    }

    ImageOffers images() {
        return images;
    }

    ClientSession session() {
        return session;
    }

    PinnedMemory pinnedMemory() {
        return pinned;
    }

    boolean isOpen() {
        return open;
    }

    /** Records that the connection is closed; returns false if it was closed before. */
    boolean closed() {
        boolean was = open;
        open = false;
        return was;
    }

    /** Unmaps the segment if the session's thread is done with it; returns whether it was. */
    boolean unmapIfOver() {
        if (!session.isOver()) {
            return false;
        }
        segmentArena.close();
        images.close();
        return true;
    }

    @Override
    public String toString() {
        return session == null ? "a peer (pid " + peer.pid() + ")" : session.toString();
    }
}
