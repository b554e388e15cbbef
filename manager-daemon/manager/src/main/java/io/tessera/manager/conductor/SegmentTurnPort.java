package io.tessera.manager.conductor;

import io.tessera.manager.schedule.turn.ClientLoad;
import io.tessera.manager.schedule.turn.TurnPort;
import io.tessera.manager.schedule.turn.TurnState;
import io.tessera.manager.schedule.turn.TurnTerms;
import io.tessera.manager.session.DistinctErrors;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.ThreadSlot;
import io.tessera.protocol.segment.TurnWord;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The turn port over segments: it writes the terms first, the turn word last with release order, then rings. The word is the truth, so a doorbell
 * that does not fit into the client's socket is sent again in a later cycle. One owner thread.
 */
final class SegmentTurnPort implements TurnPort {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentTurnPort.class);

    private final String device;
    private final DistinctErrors errors;
    private final Map<Long, DeviceClient> members = new LinkedHashMap<>();

    SegmentTurnPort(String device, DistinctErrors errors) {
        this.device = device;
        this.errors = errors;
    }

    void add(DeviceClient member) {
        members.put(member.clientId(), member);
    }

    void remove(long clientId) {
        members.remove(clientId);
    }

    Collection<DeviceClient> members() {
        return members.values();
    }

    @Override
    public void order(long clientId, long epoch, TurnState state, TurnTerms terms) {
        DeviceClient member = members.get(clientId);
        if (member == null) {
            return;
        }
        member.orderedEpoch = epoch;
        member.touch(block -> {
            write(block, terms);
            block.turn(TurnWord.of(epoch, code(state)));
        });
        LOG.debug("{}: client {} is {} from epoch {}", device, clientId, state, epoch);
        member.session().ring(member.slot());
    }

    private static int code(TurnState state) {
        return switch (state) {
            case CLOSED -> TurnWord.CLOSED;
            case FREE -> TurnWord.FREE;
            case GRANTED -> TurnWord.GRANTED;
        };
    }

    private static void write(DeviceBlock block, TurnTerms terms) {
        block.terms(terms.quantumNs(), terms.paceNs(), terms.idleReleaseNs(),
                (terms.contended() ? DeviceBlock.FLAG_CONTENDED : 0) | (terms.sample() ? DeviceBlock.FLAG_SAMPLE : 0));
    }

    @Override
    public void amend(long clientId, TurnTerms terms) {
        DeviceClient member = members.get(clientId);
        if (member != null) {
            member.touch(block -> write(block, terms));
            member.session().ring(member.slot());
        }
    }

    @Override
    public ClientLoad load(long clientId) {
        DeviceClient member = members.get(clientId);
        ClientLoad[] load = {new ClientLoad(0, 0, 0, 0, 0)};
        if (member != null) {
            member.touch(block -> load[0] = new ClientLoad(
                    ThreadSlot.deviceSubmissions(member.session().memory(), member.slot()), block.busySamples(),
                    block.samples(), block.usedBytes(), block.capturing()));
        }
        return load[0];
    }

    @Override
    public void reportUndrained(long clientId, long sinceRevokedNs) {
        DeviceClient member = members.get(clientId);
        if (member == null) {
            return;
        }
        long capturing = load(clientId).capturing();
        LOG.warn("{} was told to stop on {} and has not drained within the grace; captures open: {}",
                member.session(), device, capturing);
        errors.record("a client did not drain within the grace (tenant \"" + member.session().hello().tenant()
                + "\", " + member.session().hello().command() + ")");
    }

    @Override
    public boolean isStopped(long clientId) {
        DeviceClient member = members.get(clientId);
        return member != null && member.session().isStopped();
    }

    @Override
    public void reportStopped(long clientId) {
        DeviceClient member = members.get(clientId);
        if (member != null) {
            LOG.warn("{} is stopped by a signal and does not drain on {}: others go on without it", member.session(), device);
        }
    }

    @Override
    public void end(long clientId) {
        DeviceClient member = members.get(clientId);
        if (member != null) {
            member.session().terminate();
        }
    }
}
