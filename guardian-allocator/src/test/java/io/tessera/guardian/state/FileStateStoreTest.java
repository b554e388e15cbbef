package io.tessera.guardian.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileStateStoreTest extends StateStoreContract {
    @TempDir
    private Path folder;

    private Path file() {
        return folder.resolve("state");
    }

    @Override
    StateStore store() throws StateException {
        return FileStateStore.open(file());
    }

    private Map<String, StateRecord> reopened() throws StateException {
        Map<String, StateRecord> seen = new HashMap<>();
        try (StateStore store = store()) {
            store.forEach(seen::put);
        }
        return seen;
    }

    @Test
    void recordsAreThereAfterTheNextOpening() throws StateException {
        try (StateStore store = store()) {
            store.put("a", record(1, "one"));
            store.put("b", record(1, "two"));
            store.remove("a");
            assertThrows(StateException.class, this::store, "one process, one opening");
        }
        assertEquals(Map.of("b", record(1, "two")), reopened());
    }

    /** A process that is killed leaves any beginning of what it wrote. */
    @Test
    void aFileThatEndsAnywhereHasTheOlderRecord() throws IOException, StateException {
        try (StateStore store = store()) {
            store.put("a", record(1, "old"));
        }
        int whole = (int) Files.size(file());
        try (StateStore store = store()) {
            store.put("a", record(2, "new"));
        }
        byte[] bytes = Files.readAllBytes(file());
        for (int length = whole; length <= bytes.length; length++) {
            Files.write(file(), Arrays.copyOf(bytes, length));
            try (StateStore store = store()) {
                boolean old = length < bytes.length;
                assertEquals(Optional.of(old ? record(1, "old") : record(2, "new")), store.get("a"));
                assertEquals(old && length > whole ? 1 : 0, store.dropped());
                store.put("b", record(3, "goes on"));
            }
            assertEquals(2, reopened().size(), "cut at " + length);
        }
    }

    @Test
    void damageIsDroppedAndTheRestIsKept() throws IOException, StateException {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Map<String, StateRecord> written = new HashMap<>();
        try (StateStore store = store()) {
            for (int i = 0; i < 50; i++) {
                written.put("key" + i, record(i, "value" + random.nextLong()));
                store.put("key" + i, written.get("key" + i));
            }
        }
        byte[] bytes = Files.readAllBytes(file());
        for (int round = 0; round < 200; round++) {
            byte[] damaged = bytes.clone();
            damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
            Files.write(file(), damaged);
            Map<String, StateRecord> seen = reopened();
            assertEquals(49, seen.size(), "seed " + seed);
            assertTrue(written.entrySet().containsAll(seen.entrySet()), "seed " + seed);
        }
    }

    @Test
    void aFileFullOfOldRecordsIsWrittenAnew() throws IOException, StateException {
        StateRecord large = new StateRecord(1, new byte[StateStore.MAX_RECORD_BYTES]);
        try (StateStore store = store()) {
            store.put("stays", record(5, "as it is"));
            for (int i = 0; i < 1000; i++) {
                store.put("k", large);
            }
        }
        assertTrue(Files.size(file()) < 2 << 20, Files.size(file()) + " bytes");
        assertEquals(Map.of("stays", record(5, "as it is"), "k", large), reopened());
    }

    @Test
    void whatCannotBeOpenedIsSaid() throws IOException {
        assertThrows(StateException.class, () -> FileStateStore.open(folder.resolve("none").resolve("state")));
        Files.createDirectory(file());
        assertThrows(StateException.class, this::store);
    }
}
