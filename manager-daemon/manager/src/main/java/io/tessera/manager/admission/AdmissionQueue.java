package io.tessera.manager.admission;

import io.tessera.protocol.DeviceUuid;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Programs that wait for a place before they start, first come first served on each device. A place is given to one of them
 * and kept for it until its program registers, is gone, or has not come for {@link #KEPT_NS}.
 *
 * <p>One who waits asks again and again: who does not for {@link #LAPSE_NS} (killed, stopped) loses its place. A
 * program that waits for its user's share of the clients holds up nobody else. One that waits for memory of a device holds up
 * those that came later for the same device. One owner thread.
 */
public final class AdmissionQueue {
    /** Silence after which somebody who waits has left. */
    static final long LAPSE_NS = 5_000_000_000L;
    /** How long a place is kept for a program that does not register: PyTorch's first CUDA call may come a minute after its start. */
    static final long KEPT_NS = 120_000_000_000L;
    /** How often it is looked whether processes are still there. */
    static final long LOOK_NS = 1_000_000_000L;
    /** Entries of a user, and of all. */
    static final int MOST_OF_USER = 64;
    static final int MOST = 512;

    private final ClientPlaces places;
    private final AdmissionRoom room;
    private final List<AdmissionEntry> entries = new ArrayList<>();
    private long nextLookNs;

    /** Nobody waits. */
    public AdmissionQueue(ClientPlaces places, AdmissionRoom room) {
        this.places = places;
        this.room = room;
    }

    /** Enters a program, or hears again of one that waits; tells whether it may start. */
    public AdmissionAnswer ask(AdmissionWish wish, long nowNs) {
        Optional<AdmissionRoom.Guarantees> device = wish.guaranteeBytes() == 0 ? Optional.empty() : room.guarantees(wish.device(), nowNs);
        if (device.isPresent() && wish.guaranteeBytes() > device.get().capacityBytes()) {
            leave(wish);
            return AdmissionAnswer.never(device.get().device() + " can guarantee " + device.get().capacityBytes() + " bytes at most, not "
                    + wish.guaranteeBytes());
        }
        AdmissionEntry entry = entries.stream().filter(each -> each.wish.isOfProcess(wish)).findFirst().orElse(null);
        if (entry == null) {
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
            return new AdmissionAnswer(0, waiting().size(), "", false);
        }
        return new AdmissionAnswer(1 + waiting().indexOf(entry), waiting().size(), entry.reason, false);
    }

    /** Forgets a program that waits, or for which a place is kept. */
    public void leave(AdmissionWish wish) {
        entries.removeIf(entry -> entry.wish.isOfProcess(wish));
    }

    /** Why a client that registers now is refused; null: it is not. Places that are kept for others are taken. */
    public String refusal(int uid, String tenant, long nowNs) {
        serve(nowNs);
        AdmissionEntry own = keptFor(uid, tenant);
        int kept = (int) entries.stream().filter(entry -> entry.keepsPlace() && entry != own).count();
        int keptOfUser = (int) entries.stream().filter(entry -> entry.keepsPlace() && entry != own && entry.wish.uid() == uid).count();
        String full = places.full(room.clients() + kept);
        full = full != null ? full : places.fullFor(uid, room.clientsOf(uid) + keptOfUser);
        return full == null ? null
                : full + (kept == 0 ? "" : "; of these " + kept + (kept == 1 ? " is" : " are") + " kept for programs that have waited")
                        + "; tessera run --wait waits for a place";
    }

    /** A client has registered: if a place was kept for its tenant, this is the one that it was kept for. */
    public void registered(int uid, String tenant, long clientId) {
        AdmissionEntry own = keptFor(uid, tenant);
        if (own != null) {
            own.clientId = clientId;
            if (own.wish.guaranteeBytes() == 0) {
                entries.remove(own);
            }
        }
    }

    private AdmissionEntry keptFor(int uid, String tenant) {
        return entries.stream().filter(entry -> entry.keepsPlace() && entry.wish.uid() == uid && entry.wish.tenant().equals(tenant))
                .findFirst().orElse(null);
    }

    /** Those who wait, in the order in which they came. */
    List<AdmissionEntry> waiting() {
        return entries.stream().filter(entry -> !entry.granted).toList();
    }

    /** Everybody: those for whom a place is kept, too. */
    List<AdmissionEntry> entries() {
        return entries;
    }

    /** Forgets who is gone and gives places; returns how much changed. */
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
            return nowNs >= entry.keptUntilNs || !room.isRegistered(entry.clientId) || room.countsGuaranteeOf(entry.clientId);
        }
        return !entry.told && nowNs - entry.heardNs >= LAPSE_NS || nowNs >= entry.keptUntilNs
                || look && entry.visible && room.startTicks(entry.wish.pid()) != entry.wish.startTicks();
    }

    /** When {@link #doWork} has to run next if nothing else happens; {@link Long#MAX_VALUE}: never. */
    public long nextDeadlineNs() {
        return entries.isEmpty() ? Long.MAX_VALUE : nextLookNs;
    }

    /** Gives the places that are free; returns how many. */
    private int serve(long nowNs) {
        int served = 0;
        int clients = room.clients() + (int) entries.stream().filter(AdmissionEntry::keepsPlace).count();
        Map<Integer, Integer> clientsOfUsers = new HashMap<>();
        Set<Optional<DeviceUuid>> heldUp = new HashSet<>();
        for (AdmissionEntry entry : waiting()) {
            int uid = entry.wish.uid();
            int ofUser = clientsOfUsers.computeIfAbsent(uid, user -> room.clientsOf(user)
                    + (int) entries.stream().filter(each -> each.keepsPlace() && each.wish.uid() == user).count());
            String full = places.full(clients);
            entry.reason = full != null ? full : places.fullFor(uid, ofUser);
            if (entry.reason == null) {
                entry.reason = lackingMemory(entry, heldUp, nowNs);
            }
            if (entry.reason.isEmpty()) {
                entry.granted = true;
                entry.keptUntilNs = nowNs + KEPT_NS;
                clients++;
                clientsOfUsers.put(uid, ofUser + 1);
                served++;
            }
        }
        return served;
    }

    /** Why a device does not have the memory; empty: it has. */
    private String lackingMemory(AdmissionEntry entry, Set<Optional<DeviceUuid>> heldUp, long nowNs) {
        Optional<AdmissionRoom.Guarantees> known = room.guarantees(entry.wish.device(), nowNs);
        Optional<DeviceUuid> device = known.map(AdmissionRoom.Guarantees::device).or(entry.wish::device);
        if (heldUp.contains(device)) {
            return "another program has waited for this device for longer";
        }
        if (entry.wish.guaranteeBytes() == 0 || known.isEmpty()) {
            return "";
        }
        long freeBytes = known.get().freeBytes() - keptBytes(device, nowNs);
        if (entry.wish.guaranteeBytes() <= freeBytes) {
            return "";
        }
        heldUp.add(device);
        return device.orElseThrow() + " can guarantee " + Math.max(0, freeBytes) + " bytes more now, not " + entry.wish.guaranteeBytes();
    }

    /** What is to be guaranteed to programs for which a place is kept. */
    private long keptBytes(Optional<DeviceUuid> device, long nowNs) {
        return entries.stream().filter(entry -> entry.granted && entry.wish.guaranteeBytes() > 0)
                .filter(entry -> room.guarantees(entry.wish.device(), nowNs).map(AdmissionRoom.Guarantees::device).or(entry.wish::device)
                        .equals(device))
                .mapToLong(entry -> entry.wish.guaranteeBytes()).sum();
    }
}
