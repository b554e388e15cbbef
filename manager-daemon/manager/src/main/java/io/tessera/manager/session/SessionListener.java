package io.tessera.manager.session;

import io.tessera.protocol.message.DeviceAnnouncement;
import io.tessera.protocol.message.FenceWish;
import io.tessera.protocol.message.MalformedMessageException;
import io.tessera.protocol.message.SharingAnswer;

/** Hears what registered clients say. Called by the owner thread; all times are CLOCK_MONOTONIC nanoseconds. */
public interface SessionListener {
    /**
     * The client has a context on a device.
     *
     * @throws MalformedMessageException if that contradicts what it said before; its connection then ends
     */
    void device(Session session, DeviceAnnouncement device, long nowNs) throws MalformedMessageException;

    /** Words of a device changed; the slot may be one that it never announced. */
    void doorbell(Session session, int slot, long nowNs);

    /**
     * It needs bytes beyond its lease; unsigned.
     *
     * @throws MalformedMessageException if it never announced the slot
     */
    void quotaAsk(Session session, int slot, long bytes, long nowNs) throws MalformedMessageException;

    /**
     * It lowered its lease to this; unsigned.
     *
     * @throws MalformedMessageException if it never announced the slot
     */
    void quotaReturn(Session session, int slot, long grantedBytes, long nowNs) throws MalformedMessageException;

    /** It asks which executors serve it. */
    void relayAsk(Session session, FenceWish wish, long nowNs);

    /** A process that does not introduce itself yet asks which way of sharing it is to take. */
    SharingAnswer sharing(Session asker, String tenant, long nowNs);

    /** It is gone with whatever it held. Its segment may still be read during this call and not afterwards. */
    void ended(Session session, long nowNs);
}
