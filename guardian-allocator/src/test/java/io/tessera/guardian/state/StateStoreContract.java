package io.tessera.guardian.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.window.BoundsEntry;
import io.tessera.guardian.window.WindowSpace;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The contract of every store. */
abstract class StateStoreContract {
    /** An empty store. */
    abstract StateStore store() throws StateException;

    static StateRecord record(int version, String text) {
        return new StateRecord(version, text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void theNewestRecordOfAKeyCounts() throws StateException {
        try (StateStore store = store()) {
            assertEquals(Optional.empty(), store.get("a"));
            store.put("a", record(1, "old"));
            store.put("b", record(7, ""));
            store.put("a", record(2, "new and longer"));
            assertEquals(Optional.of(record(2, "new and longer")), store.get("a"));
            assertEquals(Optional.of(record(7, "")), store.get("b"));
            assertTrue(store.remove("b"));
            assertFalse(store.remove("b"));
            Map<String, StateRecord> seen = new HashMap<>();
            store.forEach(seen::put);
            assertEquals(Map.of("a", record(2, "new and longer")), seen);
            assertEquals(0, store.dropped());
        }
    }

    @Test
    void tooLongIsRefusedAndChangesNothing() throws StateException {
        try (StateStore store = store()) {
            StateRecord largest = new StateRecord(0, new byte[StateStore.MAX_RECORD_BYTES]);
            store.put("k".repeat(StateStore.MAX_KEY_BYTES), largest);
            assertEquals(Optional.of(largest), store.get("k".repeat(StateStore.MAX_KEY_BYTES)));
            assertThrows(IllegalArgumentException.class,
                    () -> store.put("k".repeat(StateStore.MAX_KEY_BYTES + 1), largest));
            assertThrows(IllegalArgumentException.class,
                    () -> store.put("a", new StateRecord(0, new byte[StateStore.MAX_RECORD_BYTES + 1])));
            assertEquals(Optional.empty(), store.get("a"));
        }
    }

    @Test
    void boundsOfTenantsAreFoundAgain() throws StateException {
        try (StateStore store = store()) {
            BoundsTable table = new BoundsTable(store);
            BoundsEntry first = new BoundsEntry("alice", "GPU-1", WindowSpace.STANDARD_BASE + (1L << 36), 1L << 32,
                    3L << 30, 5L << 21, Long.MAX_VALUE);
            BoundsEntry second = new BoundsEntry("bob", "GPU-1", WindowSpace.STANDARD_BASE + (1L << 37), 1L << 33,
                    1L << 33, 0, 1L << 30);
            table.put(second);
            table.put(first);
            store.put("bounds/GPU-1\ncarol", record(99, "of a later version"));
            store.put("bounds/GPU-1\ndave", record(1, "not ours"));
            store.put("else", record(1, ""));
            assertEquals(List.of(first, second), table.entries());
            assertEquals(Optional.of(first), table.get("alice", "GPU-1"));
            assertEquals(Optional.empty(), table.get("carol", "GPU-1"));
            table.remove("alice", "GPU-1");
            assertEquals(List.of(second), table.entries());
        }
    }
}
