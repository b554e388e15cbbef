package io.tessera.manager.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Maximum numbers of clients at once of a tenant, a user, a group and each user of a group. */
class ClientPlacesTest {
    private static final int ROOT = 0;
    private static final int BOB = 1001;
    private static final int EVE = 1002;

    private final ScriptedRoom room = new ScriptedRoom();
    private final Map<String, PlaceTerms> tenants = new HashMap<>();
    private final Map<Integer, PlaceTerms> users = new HashMap<>();
    private List<GroupTerms> groups = List.of();
    private final List<AwaitedClients.Former> awaited = new ArrayList<>();
    private int lastPid;

    private AdmissionQueue queue() {
        return new AdmissionQueue(new ClientPlaces(100, ROOT, new ClientTerms(tenants, users, groups)), room, new AwaitedClients(awaited, room, 0),
                () -> {
                    throw new AssertionError("nobody leaves a device to the manager");
                });
    }

    private static PlaceTerms clients(int most) {
        return new PlaceTerms(most, Set.of());
    }

    private AdmissionWish wish(int uid, String tenant) {
        lastPid++;
        return new AdmissionWish(uid, tenant, lastPid, 7, Optional.empty(), 0);
    }

    private long register(int uid, String tenant) {
        return room.register(wish(uid, tenant));
    }

    private String refusal(int uid, String tenant) {
        String refusal = queue().refusal(uid, 99, tenant, 0);
        return refusal == null ? null : refusal.replace("; tessera run --wait waits for a place", "");
    }

    @Test
    void aTenantHasItsNumber() {
        tenants.put("team", clients(2));
        register(ROOT, "team");
        register(ROOT, "other");
        register(BOB, "team");
        assertNull(refusal(ROOT, "team"), "another user's with the same label is another tenant");
        long second = register(ROOT, "team");
        assertEquals("tenant \"team\" has as many clients at once as it may have: 2 (clients in tessera.toml, or tessera tenant)",
                refusal(ROOT, "team"));
        assertNull(refusal(ROOT, "other"));
        assertNull(refusal(BOB, "team"));
        room.clients.remove(second);
        assertNull(refusal(ROOT, "team"));
    }

    @Test
    void aUserHasItsNumberForAllItsTenants() {
        users.put(BOB, clients(2));
        register(BOB, "a");
        assertNull(refusal(BOB, "c"));
        register(BOB, "b");
        assertEquals("user 1001 has as many clients at once as that user may have: 2 (clients in tessera.toml)", refusal(BOB, "c"));
        assertNull(refusal(EVE, "c"));
    }

    @Test
    void theUsersOfAGroupShareItsNumberAndEachHasItsOwn() {
        groups = List.of(new GroupTerms("students", Set.of(BOB, EVE), 3, 2, Set.of()));
        register(BOB, "a");
        register(BOB, "b");
        assertEquals("user 1001 has as many clients at once as each user of group students may have: 2 (clients-each in tessera.toml)",
                refusal(BOB, "c"));
        assertNull(refusal(EVE, "c"));
        register(EVE, "c");
        assertEquals("group students has as many clients at once as its users may have together: 3 (clients in tessera.toml)", refusal(EVE, "d"));
        assertNull(refusal(ROOT, "d"));
    }

    @Test
    void aUsersOwnNumberReplacesThatOfEachUserOfItsGroup() {
        groups = List.of(new GroupTerms("students", Set.of(BOB, EVE), 0, 1, Set.of()));
        users.put(BOB, clients(3));
        register(BOB, "a");
        register(BOB, "a");
        assertNull(refusal(BOB, "a"));
        register(BOB, "a");
        assertTrue(refusal(BOB, "a").startsWith("user 1001 has as many clients at once as that user may have: 3"));
    }

    @Test
    void whoWaitsForItsNumberHoldsUpNobody() {
        tenants.put("team", clients(1));
        AdmissionQueue queue = queue();
        long first = register(ROOT, "team");
        AdmissionWish second = wish(ROOT, "team");
        AdmissionWish third = wish(ROOT, "team");
        assertEquals(1, queue.ask(second, 0).place());
        assertEquals(2, queue.ask(third, 0).place());
        assertTrue(queue.ask(wish(ROOT, "other"), 0).admitted());
        room.clients.remove(first);
        assertEquals(1, queue.ask(third, 1).place(), "the place is kept for the second");
        assertTrue(queue.ask(second, 1).admitted());
    }

    private void await(int uid, String tenant) {
        lastPid++;
        room.living.add(lastPid);
        awaited.add(new AwaitedClients.Former(lastPid, 7, new AdmissionRoom.Owner(uid, tenant)));
    }

    /** The manager was killed; its clients have not said HELLO to this one yet. */
    @Test
    void theClientsOfAKilledManagerCountForTheirTenantUserAndGroup() {
        tenants.put("team", clients(1));
        users.put(BOB, clients(1));
        groups = List.of(new GroupTerms("students", Set.of(BOB, EVE), 2, 0, Set.of()));
        await(ROOT, "team");
        assertTrue(refusal(ROOT, "team").startsWith("tenant \"team\" has as many clients at once as it may have: 1"));
        assertNull(refusal(ROOT, "other"));
        assertNull(refusal(BOB, "team"), "another user's with the same label is another tenant");
        await(BOB, "a");
        assertTrue(refusal(BOB, "b").startsWith("user 1001 has as many clients at once as that user may have: 1"));
        assertNull(refusal(EVE, "c"));
        await(EVE, "c");
        assertTrue(refusal(EVE, "d").startsWith("group students has as many clients at once as its users may have together: 2"));
    }

    @Test
    void whoWaitsForItsTenantsNumberWaitsAlsoForAClientThatIsAwaited() {
        tenants.put("team", clients(1));
        await(ROOT, "team");
        AdmissionQueue queue = queue();
        AdmissionWish next = wish(ROOT, "team");
        assertEquals(1, queue.ask(next, 0).place());
        assertNull(queue.refusal(ROOT, 1, "team", 1), "the one that is awaited is back");
        long back = register(ROOT, "team");
        assertEquals(1, queue.ask(next, 1).place());
        room.clients.remove(back);
        assertTrue(queue.ask(next, 2).admitted());
    }
}
