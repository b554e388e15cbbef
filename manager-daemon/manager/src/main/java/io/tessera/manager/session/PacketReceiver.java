package io.tessera.manager.session;

import io.tessera.os.LinuxException;
import io.tessera.protocol.message.ClientMessageAdapter;
import io.tessera.protocol.message.ClientMessageListener;
import io.tessera.protocol.message.DeviceAnnouncement;
import io.tessera.protocol.message.FenceWish;
import io.tessera.protocol.message.Hello;
import io.tessera.protocol.message.MalformedMessageException;
import io.tessera.protocol.message.RefusalCode;
import java.lang.foreign.MemorySegment;

/**
 * One packet of one session on its way from the adapter to the listener: checks that it comes at the right time. Exists for one packet.
 */
final class PacketReceiver implements ClientMessageListener {
    private final Answers answers;
    private final SessionListener listener;
    private final Session session;
    private final long nowNs;
    private MalformedMessageException malformed;
    private LinuxException failed;

    /** Answers processes that are not registered. */
    interface Answers {
        /** Answers HELLO. */
        void hello(Session session, Hello hello) throws LinuxException;

        /** Answers SHARING_ASK. */
        void sharing(Session session, String tenant) throws LinuxException;
    }

    PacketReceiver(Answers answers, SessionListener listener, Session session, long nowNs) {
        this.answers = answers;
        this.listener = listener;
        this.session = session;
        this.nowNs = nowNs;
    }

    /**
     * Decodes a packet and passes it on.
     *
     * @throws MalformedMessageException if it is not a message, or comes at the wrong time
     * @throws LinuxException            if the connection broke
     */
    void receive(MemorySegment packet, int bytes) throws MalformedMessageException, LinuxException {
        ClientMessageAdapter.dispatch(packet, bytes, this);
        if (malformed != null) {
            throw malformed;
        }
        if (failed != null) {
            throw failed;
        }
    }

    /** A message of a registered client. */
    @FunctionalInterface
    private interface Saying {
        void hand() throws MalformedMessageException;
    }

    private void fromRegistered(String what, Saying saying) {
        if (session.state != Session.State.REGISTERED) {
            malformed = new MalformedMessageException(RefusalCode.MALFORMED, what + " before HELLO");
            return;
        }
        try {
            saying.hand();
        } catch (MalformedMessageException e) {
            malformed = e;
        }
    }

    /** An answer to a process that is not registered. */
    @FunctionalInterface
    private interface Answering {
        void answer() throws LinuxException;
    }

    private void fromUnregistered(String what, Answering answering) {
        if (session.state != Session.State.CONNECTED) {
            malformed = new MalformedMessageException(RefusalCode.MALFORMED, what + " after HELLO");
            return;
        }
        try {
            answering.answer();
        } catch (LinuxException e) {
            failed = e;
        }
    }

    @Override
    public void onHello(Hello hello) {
        fromUnregistered("HELLO", () -> answers.hello(session, hello));
    }

    @Override
    public void onSharingAsk(String tenant) {
        fromUnregistered("SHARING_ASK", () -> answers.sharing(session, tenant));
    }

    @Override
    public void onDevice(DeviceAnnouncement device) {
        fromRegistered("DEVICE", () -> listener.device(session, device, nowNs));
    }

    @Override
    public void onDoorbell(int slot) {
        fromRegistered("DOORBELL", () -> listener.doorbell(session, slot, nowNs));
    }

    @Override
    public void onQuotaAsk(int slot, long bytes) {
        fromRegistered("QUOTA_ASK", () -> listener.quotaAsk(session, slot, bytes, nowNs));
    }

    @Override
    public void onQuotaReturn(int slot, long grantedBytes) {
        fromRegistered("QUOTA_RETURN", () -> listener.quotaReturn(session, slot, grantedBytes, nowNs));
    }

    @Override
    public void onRelayAsk(FenceWish wish) {
        fromRegistered("RELAY_ASK", () -> listener.relayAsk(session, wish, nowNs));
    }
}
