package io.tessera.executor.driver;

import io.tessera.clock.NanoClock;
import io.tessera.device.DriverEntry;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Keeps streams that wait for their own program from blocking all clients of the context. For some calls a driver waits until every stream of the context has
 * done all its work, and lets no thread submit meanwhile: loading and unloading of modules, and freeing of arrays and host memory (measured on driver 580; the
 * GPU suite {@code standing} lists them). A stream that waits for a value delays such a call for as long as its program likes, and the write that would end the
 * wait may itself need a driver call. So such a call begins only while no stream waits for its program, and such a wait is submitted only while no such call is
 * in progress. A thread waits for either here, without holding a lock of the driver. Thread-safe; a {@link Client} belongs to one thread unless a method says
 * otherwise.
 */
public final class SynchronizationGate {
    /**
     * A device has 32 channels for the streams of a context (CUDA_DEVICE_MAX_CONNECTIONS, as managers set it), of which the
     * driver keeps some. With more streams, some share a channel. Then the creation of a stream may wait for a waiting stream in its
     * channel, as seen with 40 waiting streams (driver 580), and so may the work of streams that do not wait.
     */
    private static final int CHANNELS = 28;
    /**
     * Time after a synchronizing call in which the client is expected to make another one: a starting program loads one module after another.
     */
    private static final long FOLLOWS_NS = 100_000_000L;
    /** A client with this many streams is reported as one that blocks others' work in shared channels. */
    private static final int MANY_STREAMS = 8;

    private static final VarHandle CALL_NS;

    static {
        try {
            CALL_NS = MethodHandles.lookup().findVarHandle(Client.class, "callNs", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final NanoClock clock;
    private final List<Client> clients = new CopyOnWriteArrayList<>();
    private final AtomicInteger streams = new AtomicInteger();
    /** Number of clients with a stream that may wait for its program. */
    private int standing;
    /** Number of synchronizing calls in progress. */
    private int inside;
    /** Number of synchronizing calls that wait to begin. */
    private int waiting;
    /** Number of clients that have let synchronizing calls go first for long enough, so that they stand before the next call begins. */
    private int nexts;
    /** Since when calls wait to begin; 0: none does. */
    private volatile long awaitedNs;
    /** When the supervising thread last looked at calls in progress; calls that begin before its next look get this time. */
    private volatile long lookNs = 1;

    /** Creates a gate without clients. */
    public SynchronizationGate(NanoClock clock) {
        this.clock = clock;
    }

    /** Adds a client, under a name for logs. */
    public Client enter(String name) {
        Client client = new Client(name);
        clients.add(client);
        return client;
    }

    /**
     * Returns the driver call that has been in progress for the longest time, if that exceeds a bound. A call counts as begun when this method was last called,
     * so one thread calls it often.
     */
    public Optional<LongCall> longCall(long nowNs, long boundNs) {
        lookNs = nowNs;
        LongCall longest = null;
        for (Client client : clients) {
            longest = longer(longest, new LongCall(client.name, client.entry, (long) CALL_NS.getOpaque(client)), nowNs - boundNs);
            longest = longer(longest, new LongCall(client.name, DriverEntry.cuStreamSynchronize, client.waitNs), nowNs - boundNs);
        }
        return Optional.ofNullable(longest);
    }

    private static LongCall longer(LongCall longest, LongCall call, long beforeNs) {
        boolean is = call.beganNs != 0 && call.beganNs - beforeNs < 0 && (longest == null || call.beganNs - longest.beganNs < 0);
        return is ? call : longest;
    }

    /**
     * Returns the names of clients whose streams wait for their programs while others have waited for them for longer than a bound; empty: no client waits that
     * long.
     */
    public String keepers(long nowNs, long boundNs) {
        long sinceNs = awaitedNs;
        if (sinceNs == 0 || nowNs - sinceNs <= boundNs) {
            return "";
        }
        return clients.stream().filter(client -> client.stands).map(client -> client.name).collect(Collectors.joining(", "));
    }

    /**
     * A long call of a client's thread. Repeated queries for the end of work count as cuStreamSynchronize.
     *
     * @param beganNs no later than when the call began
     */
    public record LongCall(String client, DriverEntry entry, long beganNs) {
    }

    /** One client of the context. */
    public final class Client {
        /** Supervises the client while its thread waits here; returns whether to continue to wait. */
        private BooleanSupplier goOn = () -> true;
        /** Wrapper of a wait for others. */
        private Consumer<Runnable> around = Runnable::run;
        /** The action of its thread before a call that may wait for the client's own work. */
        private Runnable before = () -> {};
        private volatile boolean stands;
        private volatile long standsNs;
        private volatile int own;
        /** Since when the client's work has been late while streams of others wait; 0: it is not late. */
        private volatile long lateNs;
        private final String name;
        /** When the client's last synchronizing call began or ended. */
        private volatile long synchronizedNs = Long.MIN_VALUE / 2;
        /** Whether the client makes such a call, or waits to. */
        private volatile boolean synchronizes;
        /** Since when the client's thread is in a call of the driver; 0: it is not. */
        private long callNs;
        /** The entry of that call. */
        private DriverEntry entry;
        /** Since when the client's thread polls for the end of some work; 0: it does not. */
        private volatile long waitNs;

        private Client(String name) {
            this.name = name;
        }

        /**
         * Sets the actions for the time in which the client's thread waits here.
         *
         * @param asked   supervises the client meanwhile; returns whether to continue to wait
         * @param outside runs a wait for others, for which the client leaves the gates that keep others out
         */
        public void whileWaiting(BooleanSupplier asked, Consumer<Runnable> outside) {
            goOn = asked;
            around = outside;
        }

        /** Sets the action of the client's thread before each synchronizing call, which may wait for the client's own work. */
        public void beforeCalls(Runnable action) {
            before = action;
        }

        long nowNs() {
            return clock.nanoTime();
        }

        /** Lets the thread sleep for a time, at most until a limit. */
        void sleep(WaitLimit limit, long ns) {
            BoundedWait.sleep(clock, limit, ns);
        }

        /** Returns whether others are in the context, too. */
        boolean hasCompany() {
            return clients.size() > 1;
        }

        /** Returns whether a stream of the client may wait for its program. */
        public boolean isStanding() {
            return stands;
        }

        /** Returns whether a client waits until no stream waits for its program any more. */
        public boolean isAwaited() {
            return awaitedNs != 0;
        }

        /** Returns whether a synchronizing call could begin now. Work that is not urgent is left out otherwise. */
        public boolean mayBegin() {
            synchronized (SynchronizationGate.this) {
                return standing == 0;
            }
        }

        /**
         * Returns whether another client makes a synchronizing call, which waits for all queued work of the context, or has made one recently, so that another
         * may follow.
         */
        public boolean isBesideSynchronizing() {
            long nowNs = clock.nanoTime();
            for (Client other : clients) {
                if (other != this && (other.synchronizes || nowNs - other.synchronizedNs < FOLLOWS_NS)) {
                    return true;
                }
            }
            return false;
        }

        /** Returns an upper bound of the time for which streams of this client have kept others waiting; 0: they do not. */
        public long keepsOthersNs(long nowNs) {
            long since = awaitedNs == 0 ? Long.MAX_VALUE : awaitedNs;
            if (own >= MANY_STREAMS && streams.get() > CHANNELS) {
                since = clients.stream().mapToLong(other -> other == this || other.lateNs == 0 ? Long.MAX_VALUE : other.lateNs)
                        .reduce(since, Math::min);
            }
            return stands && since != Long.MAX_VALUE ? Math.max(0, nowNs - Math.max(since, standsNs)) : 0;
        }

        /**
         * Returns whether the client's work may wait in a channel behind a waiting stream of another client.
         *
         * @param late whether the work is late; then others are notified
         */
        public boolean mayWaitBehindOthers(boolean late, long nowNs) {
            boolean may = streams.get() > CHANNELS
                    && clients.stream().anyMatch(other -> other != this && other.stands && other.own >= MANY_STREAMS);
            lateNs = !may || !late ? 0 : lateNs == 0 ? nowNs : lateNs;
            return may;
        }

        /**
         * Returns whether the driver may wait for others' streams in an entry: for all of them, or for those with which a new stream would share a channel.
         */
        boolean mayWaitIn(DriverRow row) {
            return row.synchronizes() || row.sharesChannel() && streams.get() >= CHANNELS;
        }

        /** Records that the thread is about to call the driver. */
        void calls(DriverEntry called) {
            entry = called;
            CALL_NS.setOpaque(this, lookNs);
        }

        /** Records that the call has returned. */
        void returned() {
            CALL_NS.setOpaque(this, 0L);
        }

        /** Records that the thread is about to poll for the end of some work. */
        void waitBegins() {
            waitNs = lookNs;
        }

        /** Records that the work is done. */
        void waitEnds() {
            waitNs = 0;
        }

        /** Records that a call has succeeded: streams are counted. */
        void called(DriverRow row) {
            if (row.streams() != 0) {
                own += row.streams(); // its own thread alone writes it
                streams.addAndGet(row.streams());
            }
        }

        /** Begins a synchronizing call, which {@link #end} ends. Returns false if it must not be made, since the client is given up. */
        boolean begin() {
            synchronizedNs = clock.nanoTime();
            synchronizes = true;
            before.run();
            if (tryBegin()) {
                return true;
            }
            synchronized (SynchronizationGate.this) {
                awaitedNs = waiting++ == 0 ? clock.nanoTime() : awaitedNs;
            }
            boolean[] begun = new boolean[1];
            try {
                around.accept(() -> {
                    while (!begun[0] && goOn.getAsBoolean()) {
                        BoundedWait.moment(WaitLimit.SYNCHRONIZING_CALL);
                        begun[0] = tryBegin();
                    }
                });
                return begun[0];
            } finally {
                synchronizes = begun[0]; // also if the wait fails
                synchronized (SynchronizationGate.this) {
                    awaitedNs = --waiting == 0 ? 0 : awaitedNs;
                }
            }
        }

        private boolean tryBegin() {
            synchronized (SynchronizationGate.this) {
                if (standing > 0 || nexts > 0) {
                    return false;
                }
                inside++;
                return true;
            }
        }

        /** Ends a synchronizing call. */
        void end() {
            synchronizedNs = clock.nanoTime();
            synchronizes = false;
            synchronized (SynchronizationGate.this) {
                inside--;
            }
        }

        /**
         * Begins a wait of a stream for its program.
         *
         * @return false: it must not wait, since the client is given up
         */
        public boolean stand() {
            BoundedWait holdBack = BoundedWait.begin(clock, WaitLimit.HOLD_BACK);
            boolean[] next = new boolean[1];
            try {
                while (!tryStand(holdBack.isOver(), next)) {
                    if (!goOn.getAsBoolean()) {
                        return false;
                    }
                    holdBack.pause();
                }
                return true;
            } finally {
                if (next[0]) {
                    synchronized (SynchronizationGate.this) {
                        nexts--;
                    }
                }
            }
        }

        /**
         * Begins to stand if nothing forbids it.
         *
         * @param patient whether the client has let others go first for long enough; then no further call begins before it stands
         * @param next    set to true when the client is counted in {@link #nexts}
         */
        private boolean tryStand(boolean patient, boolean[] next) {
            synchronized (SynchronizationGate.this) {
                if (patient && !next[0]) {
                    next[0] = true;
                    nexts++;
                }
                if (inside > 0 || waiting > 0 && !patient) {
                    return false;
                }
                if (!stands) {
                    stands = true;
                    standing++;
                    standsNs = clock.nanoTime();
                }
                return true;
            }
        }

        /** Records that no stream of the client waits for its program any more. */
        public void over() {
            if (stands) {
                synchronized (SynchronizationGate.this) {
                    stands = false;
                    standing--;
                }
            }
        }

        /** Removes the client, which has left with all its work. */
        public void leave() {
            over();
            streams.addAndGet(-own);
            clients.remove(this);
        }
    }
}
