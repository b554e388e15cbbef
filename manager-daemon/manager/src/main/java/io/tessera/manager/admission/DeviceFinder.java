package io.tessera.manager.admission;

import io.tessera.manager.placement.DeviceUse;
import io.tessera.manager.placement.DevicePlacement;
import io.tessera.manager.placement.PlacementChoice;
import io.tessera.protocol.DeviceUuid;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Finds whether a device has what a program of the queue needs, and which device a program gets that leaves the choice to the manager. Memory that is
 * kept for programs that have not started yet counts as taken. One owner thread.
 */
final class DeviceFinder {
    private final AdmissionRoom room;
    private final ClientPlaces places;
    private final Supplier<DevicePlacement> placement;
    /** All entries of the queue. */
    private final List<AdmissionEntry> entries;

    DeviceFinder(AdmissionRoom room, ClientPlaces places, Supplier<DevicePlacement> placement, List<AdmissionEntry> entries) {
        this.room = room;
        this.places = places;
        this.placement = placement;
        this.entries = entries;
    }

    /** Returns why a program can never get a device; null if it may. */
    String hopeless(AdmissionWish wish, long nowNs) {
        if (wish.candidates().isEmpty()) {
            Optional<AdmissionRoom.Guarantees> device = wish.guaranteeBytes() == 0 ? Optional.empty() : room.guarantees(wish.device(), nowNs);
            return device.filter(one -> wish.guaranteeBytes() > one.capacityBytes()).map(one -> one.device() + " can guarantee "
                    + one.capacityBytes() + " bytes at most, not " + wish.guaranteeBytes()).orElse(null);
        }
        List<CandidateDevice> allowed = allowed(wish);
        if (allowed.isEmpty()) {
            return "tessera.toml has this tenant on other devices than those that the program sees";
        }
        long mostBytes = allowed.stream().mapToLong(device -> guarantees(device, nowNs).capacityBytes()).max().orElseThrow();
        return wish.guaranteeBytes() <= mostBytes ? null
                : "the devices of this program can guarantee " + mostBytes + " bytes at most, not " + wish.guaranteeBytes();
    }

    private List<CandidateDevice> allowed(AdmissionWish wish) {
        Set<DeviceUuid> devices = places.rules().devicesOf(places.nameOf(wish.uid(), wish.tenant()), wish.uid());
        return wish.candidates().stream().filter(device -> devices.isEmpty() || devices.contains(device.uuid())).toList();
    }

    /** Returns what a device can guarantee; a device that no client uses can guarantee all of its memory. */
    private AdmissionRoom.Guarantees guarantees(CandidateDevice device, long nowNs) {
        return room.guarantees(Optional.of(device.uuid()), nowNs)
                .orElseGet(() -> new AdmissionRoom.Guarantees(device.uuid(), device.totalBytes(), device.totalBytes()));
    }

    /**
     * Gives a program its device, if it leaves the choice to the manager and a device has what it needs.
     *
     * @param heldUp devices for which another program has waited longer; the devices for whose memory this program waits are added
     * @return why it waits; empty if it need not wait
     */
    String settle(AdmissionEntry entry, Set<Optional<DeviceUuid>> heldUp, long nowNs) {
        if (entry.wish.candidates().isEmpty()) {
            return lackingMemory(entry.wish, heldUp, nowNs);
        }
        List<CandidateDevice> open = allowed(entry.wish).stream().filter(device -> !heldUp.contains(Optional.of(device.uuid()))).toList();
        if (open.isEmpty()) {
            return "another program has waited for these devices for longer";
        }
        long wishedBytes = entry.wish.guaranteeBytes();
        List<CandidateDevice> able = wishedBytes == 0 ? open
                : open.stream().filter(device -> wishedBytes <= guaranteeableBytes(device, nowNs)).toList();
        if (able.isEmpty()) {
            open.forEach(device -> heldUp.add(Optional.of(device.uuid())));
            long mostBytes = open.stream().mapToLong(device -> guaranteeableBytes(device, nowNs)).max().orElseThrow();
            return "the devices of this program can guarantee " + Math.max(0, mostBytes) + " bytes more now, not " + wishedBytes;
        }
        entry.choice = PlacementChoice.of(placement.get().asked(), able.stream().map(device -> use(device, nowNs)).toList(),
                entry.wish.wishedBytes());
        return "";
    }

    private long guaranteeableBytes(CandidateDevice device, long nowNs) {
        return guarantees(device, nowNs).freeBytes() - keptBytes(Optional.of(device.uuid()), nowNs);
    }

    /** Returns the use of a device, including what is kept for programs that have not come to it yet. */
    private DeviceUse use(CandidateDevice device, long nowNs) {
        DeviceUse present = room.use(device, nowNs);
        List<AdmissionEntry> coming = new ArrayList<>();
        for (AdmissionEntry entry : entries) {
            boolean there = entry.clientId != 0 && room.hasDevice(entry.clientId);
            if (entry.granted && entry.choice != null && entry.choice.device().equals(device.uuid()) && !there) {
                coming.add(entry);
            }
        }
        return present.with(coming.size(), coming.stream().mapToLong(entry -> Math.min(present.needBytes(entry.wish.wishedBytes()),
                present.capacityBytes())).sum());
    }

    /** Returns why the device that a program has named, or the only one, lacks the memory; empty if it has the memory. */
    private String lackingMemory(AdmissionWish wish, Set<Optional<DeviceUuid>> heldUp, long nowNs) {
        Optional<AdmissionRoom.Guarantees> known = room.guarantees(wish.device(), nowNs);
        Optional<DeviceUuid> device = known.map(AdmissionRoom.Guarantees::device).or(wish::device);
        if (heldUp.contains(device)) {
            return "another program has waited for this device for longer";
        }
        if (wish.guaranteeBytes() == 0 || known.isEmpty()) {
            return "";
        }
        long freeBytes = known.get().freeBytes() - keptBytes(device, nowNs);
        if (wish.guaranteeBytes() <= freeBytes) {
            return "";
        }
        heldUp.add(device);
        return device.orElseThrow() + " can guarantee " + Math.max(0, freeBytes) + " bytes more now, not " + wish.guaranteeBytes();
    }

    /** Returns the guarantees on a device of programs for which a place is kept. */
    private long keptBytes(Optional<DeviceUuid> device, long nowNs) {
        return entries.stream().filter(entry -> entry.granted && entry.wish.guaranteeBytes() > 0)
                .filter(entry -> deviceOf(entry, nowNs).equals(device))
                .filter(entry -> entry.clientId == 0 || !room.countsGuaranteeOf(entry.clientId))
                .mapToLong(entry -> entry.wish.guaranteeBytes()).sum();
    }

    private Optional<DeviceUuid> deviceOf(AdmissionEntry entry, long nowNs) {
        return entry.choice != null ? Optional.of(entry.choice.device())
                : room.guarantees(entry.wish.device(), nowNs).map(AdmissionRoom.Guarantees::device).or(entry.wish::device);
    }
}
