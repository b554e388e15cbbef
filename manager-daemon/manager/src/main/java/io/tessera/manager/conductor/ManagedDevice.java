package io.tessera.manager.conductor;

import io.tessera.manager.schedule.DeviceScheduling;
import io.tessera.manager.schedule.turn.AckState;
import io.tessera.manager.session.DistinctErrors;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.message.DeviceAnnouncement;
import io.tessera.protocol.segment.AckWord;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.TurnWord;
import java.util.Collection;

/**
 * One device that clients share: its clients and its scheduler. Checks the clients' words and passes each change to the scheduler once.
 * One owner thread.
 */
public final class ManagedDevice {
    private final DeviceUuid uuid;
    private final String name;
    private final long totalBytes;
    private final SegmentTurnPort port;
    private final DeviceScheduling scheduling;

    ManagedDevice(DeviceAnnouncement first, DistinctErrors errors, SchedulerFactory schedulers, long nowNs) {
        this.uuid = first.uuid();
        this.name = first.name();
        this.totalBytes = first.totalBytes();
        this.port = new SegmentTurnPort(uuid.toString(), errors);
        this.scheduling = schedulers.create(totalBytes, port, nowNs);
    }

    /** Returns the UUID, which identifies a device. */
    public DeviceUuid uuid() {
        return uuid;
    }

    /** Returns the name that its first client reported. */
    public String name() {
        return name;
    }

    /** Returns the memory that its first client reported. */
    public long totalBytes() {
        return totalBytes;
    }

    /** Returns the scheduler. */
    public DeviceScheduling scheduling() {
        return scheduling;
    }

    /** Returns the clients with a context on it. */
    public Collection<DeviceClient> members() {
        return port.members();
    }

    void join(DeviceClient member, String tenant, TenantTerms terms, long nowNs) {
        port.add(member);
        member.touch(block -> block.registered(true));
        scheduling.joined(member.clientId(), tenant, terms, nowNs);
    }

    void leave(DeviceClient member, long nowNs) {
        port.remove(member.clientId());
        scheduling.left(member.clientId(), nowNs);
    }

    void spans(boolean severalDevices, long nowNs) {
        scheduling.spans(severalDevices, nowNs);
    }

    /** Reads the words of every client and passes on what changed. */
    int readWords(long nowNs) {
        int changes = 0;
        for (DeviceClient member : port.members().toArray(DeviceClient[]::new)) {
            changes += readWords(member, nowNs);
        }
        return changes;
    }

    /**
     * Reads the want word first. A client that gives its turn back and asks again writes its answer before the want word, so a reader that sees the
     * request also sees the answer. They are passed on in the order in which they were written: a request that is over before the answer, and a
     * request that still stands after the answer.
     */
    private int readWords(DeviceClient member, long nowNs) {
        long[] words = {member.seenWantSinceNs, member.seenAck};
        member.touch(block -> {
            words[0] = block.wantSinceNs();
            words[1] = block.ack();
        });
        boolean over = words[0] == 0;
        return (over ? hearWant(member, words[0], nowNs) : 0) + hearAck(member, words[1], nowNs)
                + (over ? 0 : hearWant(member, words[0], nowNs));
    }

    private int hearAck(DeviceClient member, long word, long nowNs) {
        if (word == member.seenAck) {
            return 0;
        }
        member.seenAck = word;
        long epoch = AckWord.epoch(word);
        int state = AckWord.state(word);
        if (state >= AckState.values().length) {
            member.session().fault("its answer has no meaning: " + state);
            return 1;
        }
        if (epoch <= member.orderedEpoch) {
            scheduling.acknowledged(member.clientId(), epoch, AckState.values()[state], nowNs);
        }
        return 1;
    }

    private int hearWant(DeviceClient member, long sinceNs, long nowNs) {
        if (sinceNs == member.seenWantSinceNs) {
            return 0;
        }
        member.seenWantSinceNs = sinceNs;
        scheduling.wants(member.clientId(), sinceNs == 0 ? 0 : Math.clamp(sinceNs, 1, nowNs), nowNs);
        return 1;
    }

    /**
     * Answers an order to stop on behalf of a client whose process the driver has frozen after it had drained. Any other order waits for the client
     * itself.
     */
    public void answerFor(DeviceClient member, long nowNs) {
        scheduling.acknowledged(member.clientId(), member.orderedEpoch, AckState.CLOSED, nowNs);
    }

    /** Lets the client answer and ask for itself again: its own last word applies in place of the answer given on its behalf. */
    public void answersItself(DeviceClient member, long nowNs) {
        scheduling.wants(member.clientId(), member.seenWantSinceNs == 0 ? 0
                : Math.clamp(member.seenWantSinceNs, 1, nowNs), nowNs);
        member.seenAck = 0; // read and passed on again in the next cycle
    }

    /** Returns whether a client has yet to answer its last order. */
    boolean awaitsAnswer() {
        for (DeviceClient member : port.members()) {
            if (AckWord.epoch(member.seenAck) != member.orderedEpoch
                    || AckWord.state(member.seenAck) == AckWord.DRAINING) {
                return true;
            }
        }
        return false;
    }

    /** Returns the state of the client's turn word, as an operator reads it. */
    public static String turnName(DeviceBlock block) {
        return switch (TurnWord.state(block.turn())) {
            case TurnWord.CLOSED -> "closed";
            case TurnWord.FREE -> "free";
            case TurnWord.GRANTED -> "granted";
            default -> "unknown";
        };
    }

    /** Returns the state of the client's ack word, as an operator reads it. */
    public static String ackName(DeviceBlock block) {
        return switch (AckWord.state(block.ack())) {
            case AckWord.CLOSED -> "closed";
            case AckWord.OPEN -> "open";
            case AckWord.DRAINING -> "draining";
            case AckWord.RELEASED -> "released";
            default -> "unknown";
        };
    }
}
