package io.tessera.manager.schedule.turn;

import java.util.Collection;

/**
 * Predicts when clients will run, from the present holder and the waiting clients. Not thread-safe.
 *
 * @param holder    the granted client; null: none
 * @param waiting   the waiting clients, in order
 * @param exclusive whether there are turns
 * @param quantumNs length of a turn
 */
record TurnForecast(ClientTurn holder, Collection<ClientTurn> waiting, boolean exclusive, long quantumNs) {
    ClientOutlook of(ClientTurn client, long nowNs) {
        return new ClientOutlook(client.quiet, client.ordered != TurnState.CLOSED, nextTurnNs(client, nowNs),
                client.turnEndedNs, client.handoverTimes.lastNs(), client.handoverTimes.medianNs());
    }

    /** Returns the expected time; a client that had a turn within the last second and does not wait yet comes after those that wait. */
    private long nextTurnNs(ClientTurn client, long nowNs) {
        if (client.ordered != TurnState.CLOSED) {
            return nowNs;
        }
        if (client.parked || !exclusive || !client.takesPart(nowNs)) {
            return Long.MAX_VALUE;
        }
        long before = 0;
        for (ClientTurn other : waiting) {
            if (other == client) {
                break;
            }
            before++;
        }
        long endNs = holder == null ? nowNs : holder.endsAtNs(ClientTurn.MEMORY_PATIENCE_NS);
        return Math.max(nowNs, endNs) + before * quantumNs;
    }
}
