package io.tessera.manager.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.placement.DevicePlacement;
import io.tessera.manager.placement.PlacementChoice;
import io.tessera.protocol.DeviceUuid;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/** Random histories of a queue with a clock of their own. A failure names its seed, from which the whole history follows. */
class AdmissionPropertyTest {
    private static final long LOOK_NS = 250_000_000L;
    /** Time within which a client has announced its device. */
    private static final long TELL_NS = 60_000_000_000L;
    private static final List<CandidateDevice> BOTH = List.of(new CandidateDevice(ScriptedRoom.FIRST, ScriptedRoom.CAPACITY),
            new CandidateDevice(ScriptedRoom.SECOND, ScriptedRoom.CAPACITY));
    private static final int STEPS = 400;

    /** One history. */
    private static final class History {
        private final ScriptedRoom room = new ScriptedRoom();
        private final List<AdmissionWish> asking = new ArrayList<>();
        private final List<AdmissionWish> started = new ArrayList<>();
        private final Map<Long, Long> registeredNs = new HashMap<>();
        private final ClientPlaces places;
        private final AdmissionQueue queue;
        private long nowNs;
        private int lastPid;

        History(int most) {
            places = new ClientPlaces(most, 0);
            queue = new AdmissionQueue(places, room, new AwaitedClients(List.of(), room, 0),
                    () -> DevicePlacement.values()[lastPid % DevicePlacement.values().length]);
        }

        private void act(Random random) {
            switch (random.nextInt(6)) {
                case 0 -> asking.add(wish(random));
                case 1 -> {
                    if (!started.isEmpty()) {
                        AdmissionWish wish = started.remove(random.nextInt(started.size()));
                        if (queue.entries().stream().anyMatch(entry -> entry.keepsPlace() && entry.wish.isOfProcess(wish))) {
                            assertNull(queue.refusal(wish.uid(), wish.pid(), wish.tenant(), nowNs), "refused although a place is kept for it");
                            long id = room.register(wish);
                            queue.registered(wish.uid(), wish.tenant(), wish.pid(), id)
                                    .ifPresent(choice -> room.arrive(id, choice.device()));
                            registeredNs.put(id, nowNs);
                        }
                    }
                }
                case 2 -> pick(random).ifPresent(room::tell);
                case 3 -> pick(random).ifPresent(room.clients::remove);
                case 4 -> {
                    if (!asking.isEmpty()) {
                        asking.remove(random.nextInt(asking.size())); // killed: it sends nothing more
                    }
                }
                default -> nowNs += (long) (random.nextDouble() * 3_000_000_000L);
            }
        }

        private Optional<Long> pick(Random random) {
            List<Long> ids = List.copyOf(room.clients.keySet());
            return ids.isEmpty() ? Optional.empty() : Optional.of(ids.get(random.nextInt(ids.size())));
        }

        private AdmissionWish wish(Random random) {
            DeviceUuid device = random.nextBoolean() ? ScriptedRoom.FIRST : ScriptedRoom.SECOND;
            lastPid++;
            if (random.nextInt(3) == 0) {
                return new AdmissionWish(random.nextInt(3), "tenant-" + lastPid, lastPid, 7, Optional.empty(), BOTH,
                        random.nextBoolean() ? 0 : 1 + random.nextInt(80), random.nextInt(50));
            }
            return new AdmissionWish(random.nextInt(3), "tenant-" + lastPid, lastPid, 7, Optional.of(device),
                    random.nextBoolean() ? 0 : 1 + random.nextInt(80));
        }

        /** Makes every waiting program ask. */
        private void look() {
            nowNs += LOOK_NS;
            registeredNs.forEach((id, sinceNs) -> {
                if (nowNs - sinceNs >= TELL_NS) {
                    room.tell(id);
                }
            });
            queue.doWork(nowNs);
            for (AdmissionWish wish : List.copyOf(asking)) {
                AdmissionAnswer answer = queue.ask(wish, nowNs);
                if (answer.admitted()) {
                    asking.remove(wish);
                    started.add(wish);
                } else if (answer.hopeless()) {
                    asking.remove(wish);
                }
            }
        }

        private static Optional<DeviceUuid> deviceOf(AdmissionEntry entry) {
            return Optional.ofNullable(entry.choice).map(PlacementChoice::device).or(entry.wish::device);
        }

        private void check(String when) {
            List<AdmissionEntry> kept = queue.entries().stream().filter(AdmissionEntry::keepsPlace).toList();
            assertTrue(room.clients.size() + kept.size() <= places.most(), when + ": more places than there are");
            for (DeviceUuid device : List.of(ScriptedRoom.FIRST, ScriptedRoom.SECOND)) {
                long keptBytes = kept.stream().filter(entry -> deviceOf(entry).equals(Optional.of(device)))
                        .mapToLong(entry -> entry.wish.guaranteeBytes()).sum();
                assertTrue(room.guaranteed(device) + keptBytes <= ScriptedRoom.CAPACITY, when + ": more is guaranteed than the device has");
            }
            for (AdmissionEntry entry : kept) {
                assertTrue(queue.waiting().stream().noneMatch(other -> queue.entries().indexOf(other) < queue.entries().indexOf(entry)
                        && other.wish.uid() == entry.wish.uid() && other.wish.device().isPresent() && other.wish.device().equals(entry.wish.device())
                        && entry.keptUntilNs - AdmissionQueue.KEPT_NS == nowNs), when + ": overtaken on a device");
            }
        }
    }

    @Property(tries = 200, shrinking = ShrinkingMode.OFF)
    void placesAreNeverGivenTwiceAndNobodyWaitsForEver(@ForAll long seed) {
        Random random = new Random(seed);
        History history = new History(1 + random.nextInt(6));
        for (int step = 0; step < STEPS; step++) {
            history.act(random);
            history.look();
            history.check("seed " + seed + ", step " + step);
        }
        for (int i = 0; i < 100_000 && !history.asking.isEmpty(); i++) {
            history.room.clients.clear(); // from here on a program that has started never registers
            history.look();
        }
        assertEquals(List.of(), history.asking, "seed " + seed + ": these wait although everybody else has left");
    }
}
