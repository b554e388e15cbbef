package io.tessera.manager.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.placement.DevicePlacement;
import io.tessera.protocol.DeviceUuid;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AdmissionQueueTest {
    private static final long S = 1_000_000_000L;

    private final ScriptedRoom room = new ScriptedRoom();
    private AdmissionQueue queue = queue(1, List.of());

    private AdmissionQueue queue(int most, List<AwaitedClients.Former> former) {
        return queue(new ClientPlaces(most, 0), former);
    }

    private AdmissionQueue queue(ClientPlaces places, List<AwaitedClients.Former> former) {
        return new AdmissionQueue(places, room, new AwaitedClients(former, room, 0), () -> DevicePlacement.NONE);
    }

    private static AwaitedClients.Former former(int pid, int uid, String tenant) {
        return new AwaitedClients.Former(pid, 7, new AdmissionRoom.Owner(uid, tenant));
    }

    private static AdmissionWish wish(int pid) {
        return new AdmissionWish(0, "tenant-" + pid, pid, 7, Optional.empty(), 0);
    }

    private static AdmissionWish wish(int pid, DeviceUuid device, long guaranteeBytes) {
        return new AdmissionWish(0, "tenant-" + pid, pid, 7, Optional.of(device), guaranteeBytes);
    }

    private void register(AdmissionWish wish, long nowNs) {
        assertNull(queue.refusal(wish.uid(), wish.pid(), wish.tenant(), nowNs));
        queue.registered(wish.uid(), wish.tenant(), wish.pid(), room.register(wish));
    }

    private int place(AdmissionWish wish, long nowNs) {
        return queue.ask(wish, nowNs).place();
    }

    @Test
    void theFirstThatComesIsServedFirst() {
        register(wish(1), 0);
        assertEquals(1, place(wish(2), 0));
        assertEquals(2, place(wish(3), 0));
        room.clients.clear();
        assertEquals(1, place(wish(3), S), "the place is kept for the other one");
        assertEquals(0, place(wish(2), S));
        register(wish(2), 2 * S);
        assertEquals(1, place(wish(3), 2 * S));
    }

    @Test
    void nobodyTakesAPlaceThatIsKept() {
        register(wish(1), 0);
        place(wish(2), 0);
        room.clients.clear();
        assertEquals("as many clients as this manager admits are there already: 1 (--max-clients); of these 1 is kept for programs that are"
                + " starting; tessera run --wait waits for a place", queue.refusal(0, 9, "tenant-9", S));
        register(wish(2), S);
    }

    @Test
    void whoIsSilentLosesItsPlace() {
        register(wish(1), 0);
        place(wish(2), 0);
        place(wish(3), 4 * S);
        queue.doWork(4 * S);
        assertEquals(2, queue.waiting().size());
        queue.doWork(5 * S);
        assertEquals(1, place(wish(3), 5 * S));
    }

    @Test
    void aPlaceIsNotKeptForWhoDoesNotHearOfIt() {
        place(wish(1), 0);
        register(wish(1), 0);
        place(wish(2), 0);
        place(wish(3), 3 * S);
        room.clients.clear();
        queue.doWork(4 * S);
        queue.doWork(6 * S);
        assertEquals(0, place(wish(3), 6 * S));
    }

    @Test
    void aPlaceIsKeptForABoundedTime() {
        assertEquals(0, place(wish(1), 0));
        assertEquals(1, place(wish(2), 119 * S));
        queue.doWork(120 * S - 1);
        assertEquals(1, place(wish(2), 120 * S - 1));
        queue.doWork(120 * S);
        assertEquals(0, place(wish(2), 120 * S));
    }

    @Test
    void aPlaceIsNotKeptForAProcessThatIsGone() {
        room.living.add(1);
        assertEquals(0, place(wish(1), 0));
        assertEquals(1, place(wish(2), 0));
        assertEquals(S, queue.nextDeadlineNs());
        room.living.clear();
        queue.doWork(S);
        assertEquals(0, place(wish(2), S));
    }

    @Test
    void whoLeavesMakesRoom() {
        assertEquals(0, place(wish(1), 0));
        assertEquals(1, place(wish(2), 0));
        queue.leave(wish(1));
        assertEquals(0, place(wish(2), 0));
        queue.leave(wish(2));
        assertEquals(Long.MAX_VALUE, queue.nextDeadlineNs());
        assertEquals(0, queue.doWork(S));
    }

    @Test
    void memoryHoldsUpOnlyItsOwnDevice() {
        queue = queue(9, List.of());
        AdmissionWish large = wish(1, ScriptedRoom.FIRST, 70);
        register(large, 0);
        room.tell(1);
        assertEquals(1, place(wish(2, ScriptedRoom.FIRST, 40), 0));
        assertEquals("another program has waited for this device for longer", queue.ask(wish(3, ScriptedRoom.FIRST, 10), 0).reason());
        assertEquals(0, place(wish(4, ScriptedRoom.SECOND, 40), 0));
        room.clients.clear();
        assertEquals(0, place(wish(2, ScriptedRoom.FIRST, 40), 0));
        assertEquals(0, place(wish(3, ScriptedRoom.FIRST, 10), 0));
    }

    @Test
    void aGuaranteeIsKeptUntilItsClientHasToldIt() {
        queue = queue(9, List.of());
        AdmissionWish first = wish(1, ScriptedRoom.FIRST, 70);
        assertEquals(0, place(first, 0));
        assertEquals(1, place(wish(2, ScriptedRoom.FIRST, 40), 0));
        register(first, 0);
        assertEquals(1, place(wish(2, ScriptedRoom.FIRST, 40), 0), "registered, and has not told yet");
        room.tell(1);
        queue.doWork(1);
        assertEquals(1, place(wish(2, ScriptedRoom.FIRST, 40), 1));
        assertTrue(queue.entries().stream().allMatch(entry -> entry.clientId == 0), "the guarantee counts once");
    }

    @Test
    void whatNoDeviceHasIsNotWaitedFor() {
        AdmissionAnswer answer = queue.ask(wish(1, ScriptedRoom.FIRST, 101), 0);
        assertTrue(answer.hopeless());
        assertFalse(answer.admitted());
        assertEquals(ScriptedRoom.FIRST + " can guarantee 100 bytes at most, not 101", answer.reason());
    }

    @Test
    void queuesAreBounded() {
        register(wish(1), 0);
        for (int pid = 2; pid < 2 + AdmissionQueue.MOST_OF_USER; pid++) {
            place(wish(pid), 0);
        }
        assertTrue(queue.ask(wish(999), 0).hopeless());
        assertEquals(1, place(wish(2), 0), "a program that is in it stays");
        assertFalse(queue.ask(new AdmissionWish(1, "other", 5, 7, Optional.empty(), 0), 0).hopeless());
    }

    @Test
    void whoWaitsForItsUsersShareHoldsUpNobodyElse() {
        queue = queue(4, List.of());
        for (int pid = 1; pid <= 3; pid++) {
            register(new AdmissionWish(500, "a", pid, 7, Optional.empty(), 0), 0);
        }
        assertEquals(1, place(new AdmissionWish(500, "a", 4, 7, Optional.empty(), 0), 0));
        assertEquals(0, place(new AdmissionWish(501, "b", 5, 7, Optional.empty(), 0), 0));
    }

    /** The manager was killed: its two clients say HELLO only after a waiting program has asked. */
    @Test
    void theClientsOfAKilledManagerKeepTheirPlaces() {
        queue = queue(2, List.of(former(1, 0, "tenant-1"), former(2, 0, "tenant-2")));
        room.living.addAll(List.of(1, 2));
        assertEquals(1, place(wish(3), 0));
        assertNotNull(queue.refusal(0, 4, "tenant-4", 0), "one that has not waited");
        register(wish(1), S);
        assertEquals(1, place(wish(3), S));
        register(wish(2), S);
        assertEquals(1, place(wish(3), S));
        room.clients.remove(1L);
        assertEquals(0, place(wish(3), S));
    }

    @Test
    void clientsOfAKilledManagerThatAreGoneHaveNoPlace() {
        queue = queue(2, List.of(former(1, 0, "tenant-1"), new AwaitedClients.Former(2, 6, new AdmissionRoom.Owner(0, "tenant-2"))));
        room.living.addAll(List.of(1, 2)); // the second number now belongs to another process
        assertEquals(0, place(wish(3), 0));
        assertEquals(1, place(wish(4), 0));
        room.living.remove(1);
        assertEquals(0, place(wish(4), S));
    }

    @Test
    void clientsThatDoNotComeBackAreNotAwaitedForEver() {
        queue = queue(1, List.of(former(1, 0, "tenant-1")));
        room.living.add(1);
        assertEquals(1, place(wish(3), AwaitedClients.KEPT_NS - 1));
        assertEquals(0, place(wish(3), AwaitedClients.KEPT_NS));
    }

    @Test
    void awaitedClientsCountForTheirUser() {
        queue = queue(4, List.of(former(1, 500, "a"), former(2, 500, "a"), former(3, 500, "a")));
        room.living.addAll(List.of(1, 2, 3));
        assertNotNull(queue.refusal(500, 4, "a", 0));
        assertNull(queue.refusal(501, 5, "b", 0));
    }
}
