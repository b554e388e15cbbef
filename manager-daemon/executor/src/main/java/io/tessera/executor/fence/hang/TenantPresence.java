package io.tessera.executor.fence.hang;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * The clients of an executor. It lets kernels of a tenant that is alone run without a fence, but never beside others: before a second tenant is
 * admitted, the unfenced work of the first one has to be done. Machine code that may leave its window runs only beside programs of its own user: no other
 * user's program is admitted beside it. Thread-safe.
 */
public final class TenantPresence {
    /** Reason for which {@link #enter} refuses a client. */
    public static final String REFUSAL = "another user's program runs machine code that may leave its memory; try again later, or have it run with --unfenced time";

    private final HangAttribution turns = new HangAttribution();
    private final List<Member> members = new ArrayList<>();
    private volatile boolean shared;
    /** Written under the lock. */
    private volatile int timesShared;

    /**
     * A client of a tenant. {@link #mayRunNative}, {@link #settle}, {@link #keepOthersOut} and {@link #letOthersIn} belong to the client's owner thread.
     */
    public final class Member {
        private final String tenant;
        private final int uid;
        private final Runnable settled;
        /**
         * Written by the owner before it reads {@link TenantPresence#shared}: a thread that changes that flag sees this write, or the owner sees the change.
         */
        private volatile boolean nativeInFlight;
        /** Whether a kernel may have been launched unfenced since the owner last asked. */
        private boolean ranNative;
        /** Set under the lock, while all members belong to one user. */
        private volatile boolean othersKeptOut;
        private final HangAttribution.Turn turn;

        private Member(String tenant, int uid, Runnable settled) {
            this.tenant = tenant;
            this.uid = uid;
            this.settled = settled;
            this.turn = turns.enter(tenant);
        }

        /** Returns the user to which it belongs. */
        public int uid() {
            return uid;
        }

        /** Returns whether a kernel may be launched unfenced now; then work is in flight until {@link #settle}. */
        public boolean mayRunNative() {
            if (shared) {
                return false;
            }
            if (!nativeInFlight) {
                nativeInFlight = true;
            }
            boolean may = !shared;
            ranNative |= may;
            return may;
        }

        /** Returns whether a kernel may have been launched unfenced since the last call. */
        boolean hasRunNative() {
            boolean has = ranNative;
            ranNative = false;
            return has;
        }

        /** Returns its place among the clients whose work may be late. */
        public HangAttribution.Turn turn() {
            return turn;
        }

        /** Returns the client's tenant. */
        public String tenant() {
            return tenant;
        }

        /** Returns whether unfenced work has to be waited for, because a new client waits to be admitted. */
        boolean mustSettle() {
            return shared && nativeInFlight;
        }

        /** Records that unfenced work that was in progress is done. */
        void settle() {
            nativeInFlight = false;
            settled.run();
        }

        /**
         * Orders kernels of all other programs of its user to end. Its own work got the order and does not end, so it may be waiting for theirs. Any thread.
         *
         * @return whether some programs had not got the order before
         */
        public boolean haltOthersOfUser(long nowNs) {
            boolean any = false;
            for (Member other : othersOfUser(this)) {
                any |= other.turn.haltNow(nowNs);
            }
            return any;
        }

        /** Returns whether all tenants are one user's. */
        public boolean isAmongItsOwn() {
            return isOneUser(uid);
        }

        /** Returns whether others share the device now. */
        boolean isShared() {
            return shared;
        }

        /**
         * Returns whether a kernel that may leave its window may run now. If so, no program of another user is admitted until {@link #letOthersIn}, not even
         * between the answer and the launch.
         */
        public boolean keepOthersOut() {
            return othersKeptOut || keepOut(this);
        }

        /** Records that the client has no such kernels any more. Those that still run are waited for like other unfenced kernels ({@link #isSettled}). */
        public void letOthersIn() {
            if (othersKeptOut) {
                ranNative = true;
                nativeInFlight = true; // first, so that a client that is admitted from now on sees it
                othersKeptOut = false;
            }
        }
    }

    private synchronized boolean keepOut(Member member) {
        member.othersKeptOut = isOneUser(member.uid);
        return member.othersKeptOut;
    }

    /**
     * Admits a client. Its kernels run only after {@link #isSettled}.
     *
     * @param tenant by a name that no other user's tenant has ({@link io.tessera.protocol.message.TenantName})
     * @param settled called by owner threads when work that is waited for may be done
     * @return null: it is refused, by {@link #REFUSAL}
     */
    public synchronized Member enter(String tenant, int uid, Runnable settled) {
        if (members.stream().anyMatch(member -> member.othersKeptOut && member.uid != uid)) {
            return null;
        }
        Member member = new Member(tenant, uid, settled);
        members.add(member);
        count();
        return member;
    }

    /** Removes a client, which has left with all its work. */
    public synchronized void leave(Member member) {
        members.remove(member);
        member.turn.leave();
        count();
    }

    private void count() {
        boolean several = members.stream().map(member -> member.tenant).distinct().count() > 1;
        timesShared += several && !shared ? 1 : 0;
        shared = several;
    }

    /**
     * Ends kernels for which a synchronizing call waits, if they have exceeded their time: the threads that would end them may be blocked in that very call.
     * One thread at a time.
     *
     * @param unfinished whether the work before a place ({@link ProgressCounters}) is not done
     * @param graceNs    time that kernels have between the order to end and their end
     * @return whether kernels that were ordered to end have not ended in time
     */
    public boolean haltLate(long nowNs, long graceNs, LongPredicate unfinished) {
        return turns.haltLate(nowNs, timesShared, graceNs, unfinished);
    }

    /** Returns whether no tenant other than a member's has unfenced work left from when it was alone. */
    public synchronized boolean isSettled(Member newcomer) {
        return members.stream().noneMatch(member -> member.nativeInFlight && !member.tenant.equals(newcomer.tenant));
    }

    private synchronized List<Member> othersOfUser(Member member) {
        return members.stream().filter(other -> other != member && other.uid == member.uid).toList();
    }

    private synchronized boolean isOneUser(int uid) {
        return members.stream().allMatch(member -> member.uid == uid);
    }
}
