package io.tessera.manager.residency;

import io.tessera.manager.schedule.turn.ClientOutlook;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds clients that may run but wait for memory while none moves, and reports the cause. A client that has to give memory up and does not is treated
 * as unable to, so that others give it; so is one whose process is stopped by a signal. If no other client can give memory up, the waiting client is
 * short of memory: its calls fail instead of waiting for ever (SPEC.md, section 9.9). One owner thread.
 */
final class ResidencyWatchdog {
    /** Time without a move after which the waiting client is logged. */
    static final long SAID_NS = 1_000_000_000L;

    /** Time without a move after which the client's turn has failed: shorter than the time after which the turn lock passes the turn on. */
    static final long FAILED_NS = 8_000_000_000L;

    /**
     * Number of failed turns after which the client's calls fail: others may run, and end or free memory, in between. If the host is full, one such
     * turn is enough.
     */
    private static final int FAILED_TURNS = 2;

    /** Time after which a client that could not give memory up is asked again, unless some of it moves earlier. */
    private static final long STUCK_KEPT_NS = 5_000_000_000L;

    private static final double GIB = 1L << 30;
    private static final Logger LOG = LoggerFactory.getLogger(ResidencyWatchdog.class);

    private String sentence = "";

    /** Returns the clients that stand still and why; empty: none. */
    String sentence() {
        return sentence;
    }

    /** Checks all clients, as just read; returns the number of changes. */
    int watch(ResidencyView device, long nowNs) {
        Collection<ClientDeviceMemory> members = device.members();
        int done = 0;
        List<String> sentences = new ArrayList<>();
        for (ClientDeviceMemory member : members) {
            if (!stands(device, member, nowNs)) {
                member.standingSinceNs = ClientDeviceMemory.NEVER;
                member.standingSaid = false;
                member.turnFailed = false;
                member.failedTurns = member.member.isOpen() ? 0 : member.failedTurns;
                continue;
            }
            if (member.standingSinceNs == ClientDeviceMemory.NEVER) {
                member.standingSinceNs = nowNs;
            }
            long forNs = nowNs - Math.max(member.standingSinceNs, device.settledNs());
            if (forNs < SAID_NS) {
                continue;
            }
            boolean alone = help(device, member, nowNs);
            Function<ClientNames, String> why = names -> sentence(device, member, names, forNs, nowNs);
            sentences.add(why.apply(ClientNames.NUMBERS));
            say(device, member, why.apply(ClientNames.ALL));
            if (forNs >= FAILED_NS && alone && !member.turnFailed) {
                member.turnFailed = true;
                member.failedTurns++;
                boolean othersWait = members.stream()
                        .anyMatch(other -> other != member && other.waits() && other.shortOf.isEmpty() && !other.isStopped(nowNs));
                if (member.failedTurns >= FAILED_TURNS || !othersWait || isHostFull(device, member)) {
                    member.failedTurns = 0;
                    member.shortOfStopped = owing(device, member).filter(other -> other.isStopped(nowNs)).findFirst().orElse(null);
                    device.fallsShort(member, why, nowNs, nowNs);
                    done++;
                }
            }
        }
        sentence = String.join("; ", sentences);
        return done;
    }

    /** Returns whether the client may run, or allocate, and waits for memory. */
    private static boolean stands(ResidencyView device, ClientDeviceMemory member, long nowNs) {
        if (!member.movable() || member.checkpointed || member.parked) {
            return false;
        }
        ClientOutlook outlook = device.device().scheduling().outlook(member.clientId(), nowNs);
        boolean gate = member.member.waitsSinceNs() != 0 && !member.member.isOpen();
        return outlook.running() && (gate || member.wantedBytes > member.residentBytes);
    }

    /**
     * Excludes memory from plans if its client has ended its turn and still does not give it up. Returns whether all other clients have ended their turns, or
     * cannot since they are stopped.
     */
    private static boolean help(ResidencyView device, ClientDeviceMemory standing, long nowNs) {
        boolean alone = true;
        standing.ring();
        for (ClientDeviceMemory member : device.members()) {
            if (member == standing || !member.movable()) {
                continue;
            }
            boolean ended = isQuiet(device, member, nowNs) || member.isStopped(nowNs);
            alone &= ended;
            if (ended && member.owesFor(SAID_NS, nowNs)) {
                boolean known = member.stuckAt(nowNs);
                member.stuckUntil(nowNs + STUCK_KEPT_NS);
                if (!known) {
                    member.ring();
                }
            }
        }
        return alone;
    }

    private static boolean isQuiet(ResidencyView device, ClientDeviceMemory member, long nowNs) {
        return device.device().scheduling().outlook(member.clientId(), nowNs).quiet();
    }

    private static void say(ResidencyView device, ClientDeviceMemory member, String why) {
        if (!member.standingSaid) {
            member.standingSaid = true;
            LOG.info("{}: {}", device.device().uuid(), why);
        }
    }

    /** Returns the clients that have to give memory up. */
    private static Stream<ClientDeviceMemory> owing(ResidencyView device, ClientDeviceMemory standing) {
        return device.members().stream().filter(other -> other != standing && other.movable() && other.residentBytes > other.targetBytes);
    }

    private static String sentence(ResidencyView device, ClientDeviceMemory member, ClientNames names, long forNs, long nowNs) {
        long lacksBytes = Math.max(member.neededBytes, member.wantedBytes) - (member.residentBytes - member.cachedBytes);
        List<String> causes = new ArrayList<>();
        if (member.refusals > 0 && member.residentBytes < member.targetBytes) {
            causes.add(String.format(Locale.ROOT, "the driver has refused it memory %d times", member.refusals));
        }
        owing(device, member).forEach(other -> causes.add(String.format(Locale.ROOT, "%s is to give up %.2f GiB and %s",
                names.of(other), (other.residentBytes - other.targetBytes) / GIB, excuse(device, other, nowNs))));
        if (causes.isEmpty()) {
            causes.add(member.residentBytes < member.targetBytes ? "it may take them and does not"
                    : "nobody has any to give up");
        }
        return String.format(Locale.ROOT, "client %d may run and waits for %.2f GiB, nothing has moved for %.1f s: %s",
                member.clientId(), Math.max(0, lacksBytes) / GIB, forNs / 1e9, String.join(", ", causes));
    }

    private static String excuse(ResidencyView device, ClientDeviceMemory other, long nowNs) {
        if (other.isStopped(nowNs)) {
            return "is stopped by a signal";
        }
        if (!isQuiet(device, other, nowNs)) {
            return "still has its turn";
        }
        return hasHostRoom(other) ? "does not" : String.format(Locale.ROOT,
                "has no host memory left for it: it holds %.2f GiB pinned of %.2f GiB that it may, %.2f of %.2f GiB pageable",
                other.pinnedHeld / GIB, other.pinnedTarget / GIB, other.pageableHeld / GIB, other.pageableTarget / GIB);
    }

    private static boolean hasHostRoom(ClientDeviceMemory other) {
        boolean pinnedFull = other.pinnedHeld >= other.pinnedTarget;
        boolean pageableFull = other.pageableHeld >= other.pageableTarget;
        boolean fileFull = other.fileHeld >= other.fileLimit;
        return !(pinnedFull && pageableFull && fileFull);
    }

    /** Returns whether all clients that have to give memory up lack host memory for it. Then further turns do not help. */
    private static boolean isHostFull(ResidencyView device, ClientDeviceMemory standing) {
        List<ClientDeviceMemory> owing = owing(device, standing).toList();
        return !owing.isEmpty() && owing.stream().noneMatch(ResidencyWatchdog::hasHostRoom);
    }
}
