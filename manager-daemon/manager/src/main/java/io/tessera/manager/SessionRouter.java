package io.tessera.manager;

import io.tessera.manager.conductor.DeviceRegistry;
import io.tessera.manager.executors.Executors;
import io.tessera.manager.session.Session;
import io.tessera.manager.session.SessionListener;
import io.tessera.manager.sharing.SharingRule;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.message.DeviceAnnouncement;
import io.tessera.protocol.message.FenceWish;
import io.tessera.protocol.message.MalformedMessageException;
import io.tessera.protocol.message.SharingAnswer;
import java.util.Collection;
import java.util.function.Supplier;

/**
 * Routes what clients say: devices of clients with a context of their own are scheduled by turns, and those of relayed clients belong to executors.
 * One owner thread.
 */
record SessionRouter(DeviceRegistry devices, Executors executors, SharingRule rule, Supplier<Collection<Session>> registered)
        implements SessionListener {
    @Override
    public void device(Session session, DeviceAnnouncement device, long nowNs) throws MalformedMessageException {
        if (session.hello().plan() != MemoryPlan.RELAY) {
            devices.device(session, device, nowNs);
        }
    }

    @Override
    public void doorbell(Session session, int slot, long nowNs) {
        devices.doorbell(session, slot, nowNs);
    }

    @Override
    public void quotaAsk(Session session, int slot, long bytes, long nowNs) throws MalformedMessageException {
        devices.quotaAsk(session, slot, bytes, nowNs);
    }

    @Override
    public void quotaReturn(Session session, int slot, long grantedBytes, long nowNs)
            throws MalformedMessageException {
        devices.quotaReturn(session, slot, grantedBytes, nowNs);
    }

    @Override
    public void relayAsk(Session session, FenceWish wish, long nowNs) {
        devices.relayed(session);
        executors.ask(session, wish, nowNs);
    }

    @Override
    public SharingAnswer sharing(Session asker, String tenant, long nowNs) {
        int byTime = 0;
        int inSpace = 0;
        int foreign = 0;
        for (Session session : registered.get()) {
            boolean relayed = session.hello().plan() == MemoryPlan.RELAY;
            boolean same = session.peer().uid() == asker.peer().uid();
            byTime += !relayed && !devices.members(session).isEmpty() ? 1 : 0;
            inSpace += relayed && same ? 1 : 0;
            foreign += relayed && !same ? 1 : 0;
        }
        return rule.choose(new SharingRule.Others(byTime, inSpace, foreign, executors.isQuarantined(tenant, asker.peer().uid(), nowNs)));
    }

    @Override
    public void ended(Session session, long nowNs) {
        executors.ended(session);
        devices.ended(session, nowNs);
    }
}
