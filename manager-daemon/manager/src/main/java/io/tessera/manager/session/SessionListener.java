package io.tessera.manager.session;

import io.tessera.protocol.message.DeviceAnnouncement;
import io.tessera.protocol.message.FenceWish;
import io.tessera.protocol.message.MalformedMessageException;
import io.tessera.protocol.message.SharingAnswer;

/** Receives what registered clients say. Called by the owner thread; all times are CLOCK_MONOTONIC nanoseconds. */
public interface SessionListener {
    /**
     * The client has announced a context on a device.
     *
     * @throws MalformedMessageException if that contradicts what the client said before; its connection then ends
     */
    void device(Session session, DeviceAnnouncement device, long nowNs) throws MalformedMessageException;

    /** Words of a device changed; the slot may be one that the client never announced. */
    void doorbell(Session session, int slot, long nowNs);

    /**
     * The client needs bytes beyond its lease (unsigned).
     *
     * @throws MalformedMessageException if the client never announced the slot
     */
    void quotaAsk(Session session, int slot, long bytes, long nowNs) throws MalformedMessageException;

    /**
     * The client lowered its lease to a value (unsigned).
     *
     * @throws MalformedMessageException if the client never announced the slot
     */
    void quotaReturn(Session session, int slot, long grantedBytes, long nowNs) throws MalformedMessageException;

    /** The client asks which executors serve it. */
    void relayAsk(Session session, FenceWish wish, long nowNs);

    /** Answers a process that has not sent HELLO and asks for its way of sharing. */
    SharingAnswer sharing(Session asker, String tenant, long nowNs);

    /** The client is gone, with everything it held. Its segment may still be read during this call and not afterwards. */
    void ended(Session session, long nowNs);
}
