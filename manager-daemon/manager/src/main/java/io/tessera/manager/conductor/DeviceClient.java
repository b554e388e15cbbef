package io.tessera.manager.conductor;

import io.tessera.manager.session.Session;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.message.DeviceAnnouncement;
import io.tessera.protocol.segment.AckWord;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.ResidencyBlock;
import java.util.function.Consumer;

/**
 * One client on one device: its slot, and which of its words the scheduler has seen. One owner thread.
 *
 * <p>The client owns the segment's file and may cut it short; a touch of the lost part makes the JVM throw
 * {@link InternalError} in place of SIGBUS. {@link #touch} turns that into the end of this client alone. Compiled code may
 * throw it late, behind the touch: then the conductor looks whose file was cut.
 */
public final class DeviceClient {
    private final Session session;
    private final DeviceAnnouncement announcement;
    private final DeviceBlock block;
    private final ResidencyBlock residency;
    /** Epoch of the last order; answers to later ones are leftovers of a former manager. */
    long orderedEpoch;
    long seenAck;
    long seenWantSinceNs;

    DeviceClient(Session session, DeviceAnnouncement announcement) {
        this.session = session;
        this.announcement = announcement;
        this.block = DeviceBlock.of(session.memory(), announcement.slot());
        this.residency = ResidencyBlock.of(session.memory(), announcement.slot());
    }

    /** Does something with the client's words; nothing, once its segment is broken, with which the session ends. */
    public void touch(Consumer<DeviceBlock> access) {
        if (session.isFaulty()) {
            return;
        }
        try {
            access.accept(block);
        } catch (InternalError e) {
            session.faulted(e);
        }
    }

    /** What of its memory is on the device; reading it may fault, see {@link #touch}. */
    public ResidencyBlock residency() {
        return residency;
    }

    /** Whether a manager plans what is resident of its memory. */
    public boolean residencyPlanned() {
        MemoryPlan plan = session.hello().plan();
        return plan == MemoryPlan.SWAP || plan == MemoryPlan.MANAGED;
    }

    /** Since when it waits at its gate, as last read; 0: it does not. */
    public long waitsSinceNs() {
        return seenWantSinceNs;
    }

    /** Whether its gate is open, as last answered. */
    public boolean isOpen() {
        return AckWord.state(seenAck) == AckWord.OPEN && AckWord.epoch(seenAck) == orderedEpoch;
    }

    /** Whether it gave its turn back before it was asked to. */
    public boolean isReleased() {
        return AckWord.state(seenAck) == AckWord.RELEASED;
    }

    /** The client. */
    public Session session() {
        return session;
    }

    /** The manager's number of the client. */
    public long clientId() {
        return session.clientId();
    }

    /** The slot in the client's segment. */
    public int slot() {
        return announcement.slot();
    }

    /** What the client said of the device. */
    public DeviceAnnouncement announcement() {
        return announcement;
    }

    /** The client's words; reading them may fault, see {@link #touch}. */
    public DeviceBlock block() {
        return block;
    }
}
