package io.tessera.manager.admission;

import io.tessera.manager.placement.DevicePlacement;
import io.tessera.manager.placement.PlacementChoice;
import io.tessera.protocol.DeviceUuid;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Programs that wait for a place before they start, in order of arrival on each device. A place is given to a program and kept for it until it
 * registers, is gone, or has not registered within {@link #KEPT_NS}.
 *
 * <p>A waiting program repeats its request: if it does not for {@link #LAPSE_NS} (killed, stopped), it loses its position. A program that waits for
 * its user's share of the clients delays no other program. A program that waits for memory of a device delays those that came later for the same
 * device. A program that leaves its device to the manager gets it with its place. One owner thread.
 */
public final class AdmissionQueue {
    /** Time without a request after which a waiting program counts as gone. */
    static final long LAPSE_NS = 5_000_000_000L;
    /** Time for which a place is kept for a program that does not register: PyTorch's first CUDA call may come a minute after its start. */
    static final long KEPT_NS = 120_000_000_000L;
    /** Interval at which processes are checked for their end. */
    static final long LOOK_NS = 1_000_000_000L;
    /** Maximum number of entries of a user, and of all users. */
    static final int MOST_OF_USER = 64;
    static final int MOST = 512;

    private final ClientPlaces places;
    private final AdmissionRoom room;
    private final AwaitedClients awaited;
    private final List<AdmissionEntry> entries = new ArrayList<>();
    private final DeviceFinder devices;
    private long nextLookNs;

    /**
     * Creates an empty queue.
     *
     * @param awaited   clients of the former manager, which keep their places
     * @param placement the current placement rule
     */
    public AdmissionQueue(ClientPlaces places, AdmissionRoom room, AwaitedClients awaited, Supplier<DevicePlacement> placement) {
        this.places = places;
        this.room = room;
        this.awaited = awaited;
        this.devices = new DeviceFinder(room, places, placement, entries);
    }

    /** Enters a program, or renews the request of one that waits; tells whether it may start. */
    public AdmissionAnswer ask(AdmissionWish wish, long nowNs) {
        String hopeless = devices.hopeless(wish, nowNs);
        if (hopeless != null) {
            leave(wish);
            return AdmissionAnswer.never(hopeless);
        }
        AdmissionEntry entry = entries.stream().filter(each -> each.wish.isOfProcess(wish)).findFirst().orElse(null);
        if (entry == null) {
            entries.removeIf(each -> isGone(each, true, nowNs)); // what was kept for them is then free for this program
            if (entries.size() >= MOST || entries.stream().filter(each -> each.wish.uid() == wish.uid()).count() >= MOST_OF_USER) {
                return AdmissionAnswer.never("as many programs wait as may: " + MOST_OF_USER + " of a user, " + MOST + " of all");
            }
            entry = new AdmissionEntry(wish, room.startTicks(wish.pid()) == wish.startTicks(), nowNs);
            nextLookNs = entries.isEmpty() ? nowNs + LOOK_NS : nextLookNs;
            entries.add(entry);
        }
        entry.heardNs = nowNs;
        serve(nowNs);
        if (entry.granted) {
            entry.told = true;
            return new AdmissionAnswer(0, waiting().size(), "", false, Optional.ofNullable(entry.choice));
        }
        return new AdmissionAnswer(1 + waiting().indexOf(entry), waiting().size(), entry.reason, false, Optional.empty());
    }

    /** Forgets a program that waits, or for which a place is kept. */
    public void leave(AdmissionWish wish) {
        entries.removeIf(entry -> entry.wish.isOfProcess(wish));
    }

    /** Returns why a client that registers now is refused; null if it is not. Places that are kept for others count as taken. */
    public String refusal(int uid, int pid, String tenant, long nowNs) {
        boolean returns = awaited.back(pid);
        if (!returns) {
            serve(nowNs); // otherwise a waiting program would get the place
        }
        AdmissionEntry own = keptFor(uid, tenant);
        List<AdmissionEntry> others = entries.stream().filter(entry -> entry.keepsPlace() && entry != own).toList();
        int kept = others.size();
        String full = places.full(taken(others), uid, tenant);
        return full == null ? null
                : full + (kept == 0 ? "" : "; of these " + kept + (kept == 1 ? " is" : " are") + " kept for programs that are starting")
                        + "; tessera run --wait waits for a place";
    }

    /**
     * Records a client's registration. If a place was kept for its process, or else for another process of its tenant, the client takes that place.
     *
     * @param pid process of the client; a waiting program may start it as its child
     * @return the device that it got; empty if it did not leave the choice to the manager
     */
    public Optional<PlacementChoice> registered(int uid, String tenant, int pid, long clientId) {
        AdmissionEntry own = entries.stream().filter(entry -> entry.keepsPlace() && entry.wish.uid() == uid && entry.wish.pid() == pid
                && entry.wish.tenant().equals(tenant)).findFirst().orElseGet(() -> keptFor(uid, tenant));
        if (own != null) {
            own.clientId = clientId;
            if (own.wish.guaranteeBytes() == 0 && own.choice == null) {
                entries.remove(own);
            }
        }
        return Optional.ofNullable(own).map(entry -> entry.choice);
    }

    /** Counts the places of present clients, of the former manager's clients that will be back, and those that are kept. */
    private PlaceCounts taken(List<AdmissionEntry> kept) {
        PlaceCounts counts = new PlaceCounts(room.clients(), kept);
        awaited.all().forEach(client -> counts.add(client.owner()));
        return counts;
    }

    private AdmissionEntry keptFor(int uid, String tenant) {
        return entries.stream().filter(entry -> entry.keepsPlace() && entry.wish.uid() == uid && entry.wish.tenant().equals(tenant))
                .findFirst().orElse(null);
    }

    /** Returns the waiting entries, in the order in which they came. */
    List<AdmissionEntry> waiting() {
        return entries.stream().filter(entry -> !entry.granted).toList();
    }

    /** Returns all entries, including those with a kept place. */
    List<AdmissionEntry> entries() {
        return entries;
    }

    /** Forgets programs that are gone and gives places; returns the number of changes. */
    public int doWork(long nowNs) {
        if (entries.isEmpty()) {
            return 0;
        }
        boolean look = nowNs >= nextLookNs;
        int before = entries.size();
        entries.removeIf(entry -> isGone(entry, look, nowNs));
        nextLookNs = look ? nowNs + LOOK_NS : nextLookNs;
        return before - entries.size() + serve(nowNs);
    }

    private boolean isGone(AdmissionEntry entry, boolean look, long nowNs) {
        if (entry.clientId != 0) {
            return nowNs >= entry.keptUntilNs || !room.isRegistered(entry.clientId)
                    || (entry.wish.guaranteeBytes() == 0 || room.countsGuaranteeOf(entry.clientId))
                            && (entry.choice == null || room.hasDevice(entry.clientId));
        }
        return !entry.told && nowNs - entry.heardNs >= LAPSE_NS || nowNs >= entry.keptUntilNs
                || look && entry.visible && room.startTicks(entry.wish.pid()) != entry.wish.startTicks();
    }

    /** Returns when {@link #doWork} has to run next if nothing else happens; {@link Long#MAX_VALUE}: never. */
    public long nextDeadlineNs() {
        return entries.isEmpty() ? Long.MAX_VALUE : nextLookNs;
    }

    /** Gives the places that are free; returns how many. */
    private int serve(long nowNs) {
        int served = 0;
        awaited.look(nowNs);
        PlaceCounts counts = taken(entries.stream().filter(AdmissionEntry::keepsPlace).toList());
        Set<Optional<DeviceUuid>> heldUp = new HashSet<>();
        for (AdmissionEntry entry : waiting()) {
            entry.reason = places.full(counts, entry.wish.uid(), entry.wish.tenant());
            if (entry.reason == null) {
                entry.reason = devices.settle(entry, heldUp, nowNs);
            }
            if (entry.reason.isEmpty()) {
                entry.granted = true;
                entry.keptUntilNs = nowNs + KEPT_NS;
                counts.add(entry.wish);
                served++;
            }
        }
        return served;
    }
}
