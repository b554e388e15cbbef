package io.tessera.memory.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class DeviceRoomTest {
    private static final long GIB = 1L << 30;
    private static final long SECOND = 1_000_000_000L;
    private static final long BELIEVED = 40 * GIB;

    private final DeviceRoom room = new DeviceRoom(40 * GIB);

    @Test
    void nothingIsKnownAtFirst() {
        assertFalse(room.isBounded());
        assertEquals(BELIEVED, room.roomBytes(BELIEVED));
        assertEquals(BELIEVED, room.confirmedBytes(BELIEVED, SECOND));
        assertEquals(Long.MAX_VALUE, room.nextDeadlineNs());
    }

    @Test
    void aRefusalLeavesWhatIsHeld() {
        room.refused(37 * GIB, 0, SECOND);
        assertTrue(room.isBounded());
        assertEquals(37 * GIB, room.roomBytes(BELIEVED));
        room.refused(38 * GIB, 0, SECOND);
        assertEquals(37 * GIB, room.roomBytes(BELIEVED), "what was found before stays");
        room.refused(36 * GIB, 0, SECOND);
        assertEquals(36 * GIB, room.roomBytes(BELIEVED));
    }

    @Test
    void nobodyIsRefusedAnythingBeforeItIsCertain() {
        room.refused(37 * GIB, 0, SECOND);
        assertEquals(BELIEVED, room.confirmedBytes(BELIEVED, 2 * SECOND));
        assertEquals(SECOND + DeviceRoom.CONFIRMED_NS, room.nextDeadlineNs());
        assertEquals(37 * GIB, room.confirmedBytes(BELIEVED, SECOND + DeviceRoom.CONFIRMED_NS));
        room.refused(30 * GIB, 0, 5 * SECOND);
        assertEquals(37 * GIB, room.confirmedBytes(BELIEVED, 6 * SECOND));
        room.sampled(30 * GIB, 8 * GIB, 6 * SECOND);
        assertEquals(38 * GIB, room.confirmedBytes(BELIEVED, 6 * SECOND), "what is there again counts at once");
    }

    @Test
    void freeMemoryTellsWhatOthersHave() {
        room.sampled(10 * GIB, 20 * GIB, SECOND);
        assertEquals(30 * GIB, room.roomBytes(BELIEVED));
        room.sampled(30 * GIB, 8 * GIB, 2 * SECOND);
        assertEquals(38 * GIB, room.roomBytes(BELIEVED));
        room.sampled(30 * GIB, 8 * GIB + (10L << 20), 3 * SECOND);
        assertEquals(38 * GIB, room.roomBytes(BELIEVED), "small changes are not followed upwards");
        room.sampled(39 * GIB, 5 * GIB, 4 * SECOND);
        assertEquals(BELIEVED, room.roomBytes(BELIEVED), "never more than is believed");
    }

    @Test
    void whatWasRefusedThoughFreeIsNotReckonedWith() {
        room.refused(35 * GIB, 3 * GIB, SECOND);
        room.sampled(35 * GIB, 3 * GIB, 2 * SECOND);
        assertEquals(35 * GIB, room.roomBytes(BELIEVED));
        room.sampled(20 * GIB, 18 * GIB, 3 * SECOND);
        assertEquals(35 * GIB, room.roomBytes(BELIEVED));
        room.sampled(20 * GIB, 19 * GIB, 4 * SECOND);
        assertEquals(36 * GIB, room.roomBytes(BELIEVED));
        room.sampled(20 * GIB, 19 * GIB, 70 * SECOND);
        assertEquals(39 * GIB, room.roomBytes(BELIEVED), "it is tried again after a while");
    }

    @Test
    void someIsKeptFreeForTheDriver() {
        long reserve = 640L << 20; // a 64th of 40 GiB
        assertEquals(BELIEVED - reserve, room.plannedBytes(BELIEVED, false, 10 * GIB));
        assertEquals(16 * GIB, room.plannedBytes(16 * GIB, true, 10 * GIB), "a pretended device has more");
        room.sampled(30 * GIB, 8 * GIB, SECOND);
        assertEquals(38 * GIB - reserve, room.plannedBytes(BELIEVED, false, 10 * GIB));
        assertEquals(38 * GIB, room.plannedBytes(BELIEVED, false, 39 * GIB), "one client alone may have it");
        assertEquals(768L << 20, 140 * GIB - new DeviceRoom(140 * GIB).plannedBytes(140 * GIB, false, 0));
    }

    @Test
    void aContextTakesMemoryOfWhatWasFound() {
        room.contextOpened(SECOND);
        assertEquals(BELIEVED, room.roomBytes(BELIEVED), "nothing is known yet");
        room.sampled(30 * GIB, 8 * GIB, SECOND);
        room.contextOpened(2 * SECOND);
        assertEquals(38 * GIB - room.contextBytes(), room.roomBytes(BELIEVED));
        room.sampled(30 * GIB, 8 * GIB, 3 * SECOND);
        assertEquals(38 * GIB, room.roomBytes(BELIEVED));
    }
}
