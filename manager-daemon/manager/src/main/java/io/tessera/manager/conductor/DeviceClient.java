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
 * <p>The client owns the segment's file and may truncate it. An access to the lost part makes the JVM throw {@link InternalError} in place of SIGBUS.
 * {@link #touch} turns that into the end of this client alone. Compiled code may throw it late, after the access: then the conductor looks for the
 * segment whose file was truncated.
 */
public final class DeviceClient {
    private final Session session;
    private final DeviceAnnouncement announcement;
    private final DeviceBlock block;
    private final ResidencyBlock residency;
    /** Epoch of the last order; answers to later epochs are left over from a former manager. */
    long orderedEpoch;
    long seenAck;
    long seenWantSinceNs;

    DeviceClient(Session session, DeviceAnnouncement announcement) {
        this.session = session;
        this.announcement = announcement;
        this.block = DeviceBlock.of(session.memory(), announcement.slot());
        this.residency = ResidencyBlock.of(session.memory(), announcement.slot());
    }

    /** Accesses the client's words; does nothing if its segment is broken, in which case the session ends. */
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

    /** Returns the words about the client's memory on the device; reading them may fault, see {@link #touch}. */
    public ResidencyBlock residency() {
        return residency;
    }

    /** Returns whether the manager plans which of its memory is resident. */
    public boolean residencyPlanned() {
        MemoryPlan plan = session.hello().plan();
        return plan == MemoryPlan.SWAP || plan == MemoryPlan.MANAGED;
    }

    /** Returns since when it waits at its gate, as last read; 0: it does not wait. */
    public long waitsSinceNs() {
        return seenWantSinceNs;
    }

    /** Returns whether its gate is open, according to its last answer. */
    public boolean isOpen() {
        return AckWord.state(seenAck) == AckWord.OPEN && AckWord.epoch(seenAck) == orderedEpoch;
    }

    /** Returns whether it gave its turn back before it was asked to. */
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

    /** Returns what the client said about the device. */
    public DeviceAnnouncement announcement() {
        return announcement;
    }

    /** Returns the client's words; reading them may fault, see {@link #touch}. */
    public DeviceBlock block() {
        return block;
    }
}
