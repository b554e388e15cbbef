package io.tessera.manager;

import io.tessera.manager.conductor.Conductor;
import io.tessera.manager.session.FormerClient;
import io.tessera.manager.session.Session;
import io.tessera.manager.session.SessionListener;
import io.tessera.os.ProcessPort;
import io.tessera.protocol.message.DeviceAnnouncement;
import io.tessera.protocol.message.FenceWish;
import io.tessera.protocol.message.MalformedMessageException;
import io.tessera.protocol.message.SharingAnswer;
import io.tessera.protocol.segment.AckWord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The first moments after a manager was killed. A client of that manager that holds the turn keeps it until it has found this manager, so no other
 * client may get a turn before. Therefore devices that clients announce wait until all clients that could use a device have come back and stopped, or
 * are dead, or until the time for which their gates keep their state is over. One owner thread.
 */
final class ReturningClients implements SessionListener, Conductor.Timed {
    /** Interval between two checks of the processes that are awaited. */
    private static final long LOOK_NS = 20_000_000L;
    private static final Logger LOG = LoggerFactory.getLogger(ReturningClients.class);

    private record Announced(Session session, DeviceAnnouncement device) {
        boolean isStopped() {
            if (session.isFaulty()) {
                return true;
            }
            try {
                return AckWord.state(session.header().device(device.slot()).ack()) == AckWord.CLOSED;
            } catch (InternalError e) {
                session.faulted(e);
                return true;
            }
        }
    }

    private final SessionListener listener;
    private final ProcessPort processes;
    private final Map<Integer, Long> awaited = new HashMap<>();
    private final List<Announced> waiting = new ArrayList<>();
    private long untilNs;
    private long nextNs;

    /** Passes what clients say to the listener. */
    ReturningClients(SessionListener listener, ProcessPort processes, List<FormerClient> formerClients) {
        this.listener = listener;
        this.processes = processes;
        for (FormerClient client : formerClients) {
            awaited.put(client.pid(), client.untilNs());
            untilNs = Math.max(untilNs, client.untilNs());
        }
    }

    private boolean isOver() {
        return awaited.isEmpty() && waiting.isEmpty();
    }

    @Override
    public void device(Session session, DeviceAnnouncement device, long nowNs) throws MalformedMessageException {
        if (isOver()) {
            listener.device(session, device, nowNs);
            return;
        }
        awaited.remove(session.peer().pid());
        waiting.add(new Announced(session, device));
    }

    @Override
    public int doWork(long nowNs) {
        if (isOver()) {
            return 0;
        }
        nextNs = nowNs + LOOK_NS;
        awaited.entrySet().removeIf(client -> client.getValue() <= nowNs || !processes.exists(client.getKey()));
        if (!awaited.isEmpty() || nowNs < untilNs && !waiting.stream().allMatch(Announced::isStopped)) {
            return 0;
        }
        List<Announced> all = List.copyOf(waiting);
        waiting.clear();
        for (Announced one : all) {
            try {
                listener.device(one.session(), one.device(), nowNs);
            } catch (MalformedMessageException e) {
                one.session().fault(e.getMessage());
            }
        }
        LOG.info("the clients of the manager before are back, or gone: turns go on");
        return 1;
    }

    @Override
    public long nextDeadlineNs() {
        return isOver() ? Long.MAX_VALUE : nextNs;
    }

    @Override
    public void doorbell(Session session, int slot, long nowNs) {
        listener.doorbell(session, slot, nowNs);
    }

    @Override
    public void quotaAsk(Session session, int slot, long bytes, long nowNs) throws MalformedMessageException {
        listener.quotaAsk(session, slot, bytes, nowNs);
    }

    @Override
    public void quotaReturn(Session session, int slot, long grantedBytes, long nowNs) throws MalformedMessageException {
        listener.quotaReturn(session, slot, grantedBytes, nowNs);
    }

    @Override
    public void relayAsk(Session session, FenceWish wish, long nowNs) {
        listener.relayAsk(session, wish, nowNs);
    }

    @Override
    public SharingAnswer sharing(Session asker, String tenant, long nowNs) {
        return listener.sharing(asker, tenant, nowNs);
    }

    @Override
    public void ended(Session session, long nowNs) {
        waiting.removeIf(announced -> announced.session() == session);
        listener.ended(session, nowNs);
    }
}
