package io.tessera.executor.swap;

import io.tessera.memory.residency.IdleRelease;
import io.tessera.memory.residency.MoveRates;
import io.tessera.memory.residency.QuantumChooser;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Chooses the tenant that has to leave the device when its memory does not suffice for all, and the tenant that comes back. Tenants that lack memory wait in a
 * line. The first of them takes memory from tenants that are partly off the device, that wait in the line themselves, that have been idle for as long as their
 * move takes, or whose turn is over. While memory suffices no tenant asks and nothing happens. Time is an argument; no method blocks. Thread-safe.
 */
public final class ResidencyTurns {
    /** The shortest turn, for moves of negligible length. */
    static final long SHORTEST_TURN_NS = 250_000_000L;
    /**
     * Shorter pauses do not count, however short the move is. With 5 ms, servers on an H100 lost their turn in two of three cases between two launches
     * of one request, since a program that has waited for long rarely polls whether its work is done.
     */
    public static final long SHORTEST_IDLE_NS = 20_000_000L;
    /** Time after which a program that lacks memory is told so; it counts from when all others were due to leave. */
    static final long PATIENCE_NS = 10_000_000_000L;
    /** As above, for a tenant that is off the device, which loses its memory if it does not come back. */
    static final long AWAY_PATIENCE_NS = 60_000_000_000L;
    /** As above, if no other tenant has memory that could leave: others that try at the same time may have taken some for a moment. */
    static final long ALONE_NS = 200_000_000L;
    /** Time for which a tenant that could not leave counts as unable to leave. */
    static final long STUCK_NS = 1_000_000_000L;
    private static final double WEIGHT = 0.5;
    /** Copies as elsewhere. Pages: two servers on an H200 handed 72 GiB over in some 0.13 s, three 113 GiB in 0.2 s, nearly all without contents. */
    private static final MoveRates RATES = new MoveRates(MoveRates.pinned().inBytesPerSecond(), MoveRates.pinned().outBytesPerSecond(), 600e9);

    private final QuantumChooser chooser = QuantumChooser.defaults();
    private final IdleRelease idle = new IdleRelease(SHORTEST_IDLE_NS);
    private final Runnable wakeAll;
    private final List<Party> parties = new ArrayList<>();
    private final ArrayDeque<Party> line = new ArrayDeque<>();
    private volatile Party first;
    /** Number of tenants that were told to leave. */
    private volatile int told;
    private long lastId;
    /** Time of a hand-over, on average; 0: there was none. */
    private double moveNs;
    /** Whether a tenant has given memory up or begun to, and when the last one did. */
    private boolean anyGave;
    private long gaveNs;

    /** A tenant. Made by {@link #join}. */
    public static final class Party {
        private final long id;
        private boolean waits;
        private boolean away;
        private long lacksBytes;
        private long firstNs;
        private long sinceNs;
        private long stuckNs;
        private boolean stuck;
        private boolean told;
        private double moveNs;
        private volatile long movableBytes;
        private volatile boolean grows;

        private Party(long id, long nowNs) {
            this.id = id;
            this.sinceNs = nowNs;
        }

        /** Sets how much of its memory is on the device and could leave; any thread. */
        public void movable(long bytes) {
            movableBytes = bytes;
        }

        /** Sets whether it is taking memory now that could leave later; any thread. */
        public void grows(boolean now) {
            grows = now;
        }
    }

    /**
     * Creates an instance without tenants.
     *
     * @param wakeAll wakes sleeping threads; does not wait
     */
    public ResidencyTurns(Runnable wakeAll) {
        this.wakeAll = wakeAll;
    }

    /** Adds a tenant. */
    public synchronized Party join(long nowNs) {
        Party party = new Party(++lastId, nowNs);
        parties.add(party);
        return party;
    }

    /** Removes a tenant. */
    public synchronized void leave(Party party, long nowNs) {
        withdraw(party, nowNs);
        obeyed(party);
        parties.remove(party);
        idle.left(party.id);
    }

    /** Returns whether any tenant may have to leave: one read, for busy threads. */
    public boolean isAsked() {
        return first != null || told > 0;
    }

    /** Makes a tenant leave by order of an operator, whether or not others need its memory. It comes back with its next call. */
    public void park(Party party) {
        synchronized (this) {
            told += party.told ? 0 : 1;
            party.told = true;
        }
        wakeAll.run();
    }

    /** Makes a tenant stay by order of an operator, if it was ordered to leave and has not left yet. */
    public synchronized void stay(Party party) {
        obeyed(party);
    }

    private void obeyed(Party party) {
        told -= party.told ? 1 : 0;
        party.told = false;
    }

    /** Returns how much memory others have on the device that could leave for a tenant, in bytes. */
    public synchronized long othersBytes(Party party) {
        return parties.stream().filter(other -> other != party).mapToLong(other -> other.movableBytes).sum();
    }

    /**
     * Records that a tenant lacks memory: it is in the line from the first call on.
     *
     * @return whether it is first: then it may try to take free memory
     */
    public synchronized boolean stand(Party party, long nowNs) {
        if (!party.waits) {
            party.waits = true;
            party.lacksBytes = 0;
            line.addLast(party);
            if (party.away) {
                idle.wanted(party.id, (long) party.moveNs, nowNs);
            }
            headed(nowNs);
        }
        return first == party;
    }

    /**
     * Sets the bytes that the first in the line currently lacks; others leave until they have given that many.
     *
     * @param bytes above 0
     */
    public void lacks(Party party, long bytes) {
        boolean news;
        synchronized (this) {
            news = party == first && party.lacksBytes <= 0;
            party.lacksBytes = bytes;
        }
        if (news) {
            wakeAll.run();
        }
    }

    private void headed(long nowNs) {
        Party head = line.peekFirst();
        if (head != null && head != first) {
            head.firstNs = nowNs;
        }
        first = head;
    }

    /** Records that a tenant has got the memory that it lacked: its turn begins. */
    public void granted(Party party, long nowNs) {
        boolean next;
        synchronized (this) {
            party.waits = false;
            line.remove(party);
            party.sinceNs = nowNs;
            headed(nowNs);
            next = first != null;
        }
        if (next) {
            wakeAll.run();
        }
    }

    /** Records that a tenant no longer waits, and has got nothing. */
    public synchronized void withdraw(Party party, long nowNs) {
        party.waits = false;
        line.remove(party);
        headed(nowNs);
    }

    /**
     * Returns whether a tenant has to leave for the first in the line.
     *
     * @param idleNs time without work in its turn, while others waited; below 0: it has work now
     */
    public synchronized boolean isDue(Party party, long idleNs, long nowNs) {
        Party head = line.peekFirst();
        if (party.told) {
            return !isStuck(party, nowNs);
        }
        if (head == null || head == party || head.lacksBytes <= 0 || party.movableBytes <= 0 || isStuck(party, nowNs)) {
            return false;
        }
        return party.away || party.waits || idleNs >= idle.idleReleaseNs(party.id, (long) party.moveNs)
                || nowNs - dueNs(party) >= 0;
    }

    private long dueNs(Party party) {
        return party.sinceNs + chooser.stretchedNs(SHORTEST_TURN_NS, moveNs);
    }

    private static boolean isStuck(Party party, long nowNs) {
        return party.stuck && nowNs - party.stuckNs < STUCK_NS;
    }

    /** Returns whether a tenant that leaves has to give more. */
    public synchronized boolean needsMore(Party party) {
        Party head = line.peekFirst();
        return party.told || head != null && head != party && head.lacksBytes > 0;
    }

    /** Returns whether the first in the line is another tenant that brings its own memory back. */
    public synchronized boolean bringsBack(Party party) {
        Party head = line.peekFirst();
        return head != null && head != party && head.away;
    }

    /** Records that a part of a tenant's memory has left the device; 0 bytes: it begins to leave. */
    public synchronized void gave(Party party, long bytes, long nowNs) {
        anyGave = true;
        gaveNs = nowNs;
        party.away |= bytes > 0;
        Party head = line.peekFirst();
        if (head != null && head != party) {
            head.lacksBytes -= bytes;
        }
    }

    /**
     * Records that a tenant has left as far as it had to.
     *
     * @param wasIdle     whether it left because it was idle
     * @param leftBytes   bytes that have left
     * @param copiedBytes bytes of these that were copied
     */
    public synchronized void left(Party party, boolean wasIdle, long leftBytes, long copiedBytes, long nowNs) {
        party.stuck = false;
        party.away |= leftBytes > 0;
        obeyed(party);
        if (wasIdle) {
            idle.released(party.id, nowNs);
        }
        // The measured time of the move is not used: the first move also pins memory, and moves of several tenants delay each other.
        if (leftBytes > 0) {
            double ns = RATES.handoverNs(leftBytes, copiedBytes);
            party.moveNs = mixed(party.moveNs, ns);
            moveNs = mixed(moveNs, ns);
        }
    }

    /**
     * Records that a tenant had to leave and could not.
     *
     * @param partly whether a part of it has left
     */
    public synchronized void stuck(Party party, boolean partly, long nowNs) {
        party.stuck = true;
        party.stuckNs = nowNs;
        if (partly) {
            obeyed(party); // the host is full: otherwise the part that has left would be moved out again after each return
        }
    }

    /** Records that all of a tenant's memory is on the device again; {@link #granted} follows when it needs nothing more. */
    public synchronized void back(Party party) {
        party.away = false;
    }

    private static double mixed(double before, double ns) {
        return before == 0 ? ns : (1 - WEIGHT) * before + WEIGHT * ns;
    }

    /**
     * Returns whether the first in the line will get no memory: no other tenant has memory that could leave, or all were due to leave long ago and none
     * has given anything for as long.
     */
    public synchronized boolean isHopeless(Party party, long nowNs) {
        if (line.peekFirst() != party) {
            return false;
        }
        long sinceNs = anyGave && gaveNs - party.firstNs > 0 ? gaveNs : party.firstNs;
        boolean anyCan = false;
        for (Party other : parties) {
            anyCan |= other != party && other.grows;
            if (other != party && other.movableBytes > 0) {
                anyCan |= !isStuck(other, nowNs);
                sinceNs = other.away || other.waits || isStuck(other, nowNs) || dueNs(other) - sinceNs <= 0 ? sinceNs : dueNs(other);
            }
        }
        if (party.away) {
            return nowNs - sinceNs > AWAY_PATIENCE_NS;
        }
        return !anyCan && nowNs - party.firstNs > ALONE_NS || nowNs - sinceNs > PATIENCE_NS;
    }
}
