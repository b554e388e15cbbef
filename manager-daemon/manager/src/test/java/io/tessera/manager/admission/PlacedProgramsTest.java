package io.tessera.manager.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.placement.DevicePlacement;
import io.tessera.manager.placement.PlacementChoice;
import io.tessera.protocol.DeviceUuid;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Programs that leave their device to the manager get it with their place. */
class PlacedProgramsTest {
    private static final long S = 1_000_000_000L;
    private static final DeviceUuid FIRST = ScriptedRoom.FIRST;
    private static final DeviceUuid SECOND = ScriptedRoom.SECOND;
    private static final List<CandidateDevice> BOTH = List.of(new CandidateDevice(FIRST, ScriptedRoom.CAPACITY),
            new CandidateDevice(SECOND, ScriptedRoom.CAPACITY));

    private final ScriptedRoom room = new ScriptedRoom();
    private DevicePlacement rule = DevicePlacement.SPREAD;
    private AdmissionQueue queue = new AdmissionQueue(new ClientPlaces(100, 0), room, new AwaitedClients(List.of(), room, 0), () -> rule);

    private static AdmissionWish wish(int pid, long guaranteeBytes, long limitBytes) {
        return new AdmissionWish(0, "tenant-" + pid, pid, 7, Optional.empty(), BOTH, guaranteeBytes, limitBytes);
    }

    private DeviceUuid device(AdmissionWish wish, long nowNs) {
        AdmissionAnswer answer = queue.ask(wish, nowNs);
        assertTrue(answer.admitted(), answer::reason);
        return answer.choice().orElseThrow().device();
    }

    private long start(AdmissionWish wish, long nowNs) {
        DeviceUuid device = device(wish, nowNs);
        long id = room.register(wish);
        queue.registered(wish.uid(), wish.tenant(), wish.pid(), id);
        room.arrive(id, device);
        room.tell(id);
        queue.doWork(nowNs);
        return id;
    }

    /** Nothing is known about either of them. */
    @ParameterizedTest
    @EnumSource(value = DevicePlacement.class, names = {"NONE", "SPREAD", "LEAST_LOADED"})
    void twoThatStartAtOnceGetADeviceEach(DevicePlacement each) {
        rule = each;
        assertEquals(FIRST, device(wish(1, 0, 40), 0));
        assertEquals(SECOND, device(wish(2, 0, 40), 0));
        assertEquals(FIRST, device(wish(3, 0, 40), 0));
        assertEquals(FIRST, device(wish(1, 0, 40), 0), "a program that asks again hears the same");
    }

    @Test
    void packFillsADeviceFirst() {
        rule = DevicePlacement.PACK;
        assertEquals(FIRST, device(wish(1, 0, 40), 0));
        assertEquals(FIRST, device(wish(2, 0, 40), 0));
        assertEquals(SECOND, device(wish(3, 0, 40), 0));
        assertEquals(FIRST, device(wish(4, 0, 20), 0));
        assertEquals(SECOND, device(wish(5, 0, 60), 0));
    }

    /** Programs that do not state their memory each count for an eighth of the device until they are there. */
    @Test
    void packPutsNoMoreThanEightOnOneDeviceAtOnce() {
        rule = DevicePlacement.PACK;
        long first = 0;
        for (int pid = 1; pid <= 12; pid++) {
            first += device(wish(pid, 0, 0), 0).equals(FIRST) ? 1 : 0;
        }
        assertEquals(8, first);
    }

    /** A limit may be any number; at most the memory of the device is kept. */
    @Test
    void hugeLimitsKeepOneDeviceEach() {
        assertEquals(FIRST, device(wish(1, 0, Long.MAX_VALUE), 0));
        assertEquals(SECOND, device(wish(2, 0, Long.MAX_VALUE), 0));
        assertEquals(FIRST, device(wish(3, 0, Long.MAX_VALUE), 0));
        assertEquals("no device of 2 has 1 bytes free; it has the most: 0 bytes, and 2 clients", queue.ask(wish(4, 0, 1), 0).choice().orElseThrow()
                .reason());
    }

    @Test
    void theLeastLoadedDeviceIsTaken() {
        rule = DevicePlacement.LEAST_LOADED;
        room.busyShares.put(FIRST, 0.3);
        room.busyShares.put(SECOND, 0.1);
        assertEquals(SECOND, device(wish(1, 0, 10), 0));
        assertEquals(FIRST, device(wish(2, 0, 10), 0));
    }

    @Test
    void theRuleIsThatOfNow() {
        start(wish(1, 0, 10), 0);
        rule = DevicePlacement.PACK;
        assertEquals(FIRST, device(wish(2, 0, 10), 0));
        rule = DevicePlacement.SPREAD;
        assertEquals(SECOND, device(wish(3, 0, 10), 0));
    }

    @Test
    void aDeviceStaysKeptUntilTheClientIsOnIt() {
        AdmissionWish first = wish(1, 0, 0);
        assertEquals(FIRST, device(first, 0));
        long id = room.register(first);
        Optional<PlacementChoice> told = queue.registered(0, first.tenant(), 1, id);
        assertEquals(FIRST, told.orElseThrow().device());
        queue.doWork(10 * S);
        assertEquals(SECOND, device(wish(2, 0, 0), 10 * S), "it has registered and not announced its device");
        room.arrive(id, FIRST);
        queue.doWork(11 * S);
        assertEquals(1, queue.entries().size(), "now the device itself tells of it");
    }

    @Test
    void aDeviceIsNotKeptForWhoIsGone() {
        AdmissionWish first = wish(1, 0, 0);
        room.living.add(1);
        device(first, 0);
        room.living.clear();
        assertEquals(FIRST, device(wish(2, 0, 0), 1), "at once, not at the next look");
    }

    /** Two programs with the same name arrive in another order than they asked. */
    @Test
    void eachProcessGetsTheDeviceThatItWasTold() {
        AdmissionWish first = new AdmissionWish(0, "team", 1, 7, Optional.empty(), BOTH, 0, 0);
        AdmissionWish second = new AdmissionWish(0, "team", 2, 7, Optional.empty(), BOTH, 0, 0);
        assertEquals(FIRST, device(first, 0));
        assertEquals(SECOND, device(second, 0));
        assertEquals(SECOND, queue.registered(0, "team", 2, room.register(second)).orElseThrow().device());
        assertEquals(FIRST, queue.registered(0, "team", 77, room.register(first)).orElseThrow().device(), "a child of the other one");
        assertTrue(queue.registered(0, "team", 78, room.register(first)).isEmpty());
    }

    @Test
    void aGuaranteeWaitsUntilOneOfTheDevicesCanKeepIt() {
        start(wish(1, 70, 0), 0);
        long second = start(wish(2, 70, 0), 0);
        AdmissionAnswer waits = queue.ask(wish(3, 50, 0), 0);
        assertEquals("the devices of this program can guarantee 30 bytes more now, not 50", waits.reason());
        assertEquals("another program has waited for these devices for longer", queue.ask(wish(4, 10, 0), 0).reason());
        assertFalse(queue.ask(wish(5, 0, 0), 0).admitted());
        room.clients.remove(second);
        assertEquals(SECOND, device(wish(3, 50, 0), S));
        assertEquals(SECOND, device(wish(4, 10, 0), S));
        assertTrue(queue.ask(wish(6, 101, 0), S).hopeless());
    }

    @Test
    void aTenantIsPlacedOnItsDevicesAlone() {
        ClientTerms terms = new ClientTerms(Map.of("tenant-1", new PlaceTerms(0, Set.of(SECOND)), "tenant-2",
                new PlaceTerms(0, Set.of(new DeviceUuid(9, 9)))), Map.of(), List.of());
        queue = new AdmissionQueue(new ClientPlaces(100, 0, terms), room, new AwaitedClients(List.of(), room, 0), () -> rule);
        assertEquals(SECOND, device(wish(1, 0, 0), 0));
        AdmissionAnswer never = queue.ask(wish(2, 0, 0), 0);
        assertTrue(never.hopeless());
        assertEquals("tessera.toml has this tenant on other devices than those that the program sees", never.reason());
        assertEquals(FIRST, device(wish(3, 0, 0), 0));
    }

    @Test
    void whoHasNoPlaceGetsNoDevice() {
        queue = new AdmissionQueue(new ClientPlaces(1, 0), room, new AwaitedClients(List.of(), room, 0), () -> rule);
        long first = start(wish(1, 0, 0), 0);
        AdmissionAnswer waits = queue.ask(wish(2, 0, 0), 0);
        assertFalse(waits.admitted());
        assertTrue(waits.choice().isEmpty());
        room.clients.remove(first);
        assertEquals(FIRST, device(wish(2, 0, 0), S));
        assertNull(queue.refusal(0, 99, "tenant-2", S));
    }
}
