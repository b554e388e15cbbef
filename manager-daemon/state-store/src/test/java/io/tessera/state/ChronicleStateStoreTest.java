package io.tessera.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.state.EndlessWriter;
import io.tessera.guardian.state.FileStateStore;
import io.tessera.guardian.state.StateException;
import io.tessera.guardian.state.StateRecord;
import io.tessera.guardian.state.StateStore;
import io.tessera.guardian.state.StateStoreChoice;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class ChronicleStateStoreTest {
    private static final int KILLS = 3;

    @TempDir
    private Path folder;

    private StateStore open() throws StateException {
        return ChronicleStateStore.open(folder.resolve("state.map"));
    }

    private static StateRecord record(int version, String text) {
        return new StateRecord(version, text.getBytes(StandardCharsets.UTF_8));
    }

    private static Map<String, StateRecord> all(StateStore store) throws StateException {
        Map<String, StateRecord> seen = new HashMap<>();
        store.forEach(seen::put);
        return seen;
    }

    @Test
    void theNewestRecordsAreThereAfterTheNextOpening() throws StateException {
        StateRecord largest = new StateRecord(3, new byte[StateStore.MAX_RECORD_BYTES]);
        String longKey = "ö".repeat(StateStore.MAX_KEY_BYTES / 2);
        try (StateStore store = open()) {
            store.put("a", record(1, "old"));
            store.put("a", record(2, "new and longer"));
            store.put("b", record(1, ""));
            store.put(longKey, largest);
            assertTrue(store.remove("b"));
            assertFalse(store.remove("b"));
            assertThrows(IllegalArgumentException.class,
                    () -> store.put("c", new StateRecord(0, new byte[StateStore.MAX_RECORD_BYTES + 1])));
            assertThrows(StateException.class, this::open, "one process, one opening");
        }
        Map<String, StateRecord> expected = Map.of("a", record(2, "new and longer"), longKey, largest);
        try (StateStore store = open()) {
            assertEquals(expected, all(store));
            assertEquals(Optional.of(largest), store.get(longKey));
            for (int i = 0; i < 1000; i++) {
                store.put("a", record(i, "again"));
            }
            assertEquals(0, store.dropped());
        }
        try (StateStore store = open()) {
            assertEquals(Optional.of(record(999, "again")), store.get("a"));
        }
    }

    @Test
    void aFullStoreSaysSoAndKeepsWhatItHas() throws StateException {
        try (StateStore store = open()) {
            StateRecord large = new StateRecord(3, new byte[StateStore.MAX_RECORD_BYTES]);
            int written = 0;
            StateException full = null;
            while (full == null && written < 100_000) {
                try {
                    store.put("key" + written, large);
                    written++;
                } catch (StateException e) {
                    full = e;
                }
            }
            assertTrue(full != null && written > 100, "full after " + written);
            assertEquals(written, all(store).size());
            assertEquals(Optional.of(large), store.get("key0"));
        }
    }

    @Test
    void aFileThatIsNoneIsReplaced() throws IOException, StateException {
        byte[] rubbish = new byte[100_000];
        new Random(5).nextBytes(rubbish);
        Files.write(folder.resolve("state.map"), rubbish);
        Files.createFile(folder.resolve("state.map.open"));
        try (StateStore store = open()) {
            assertEquals(Map.of(), all(store));
            assertTrue(store.dropped() > 0);
            store.put("a", record(1, "works"));
        }
    }

    /** SIGKILL at moments that a seed names. */
    @Test
    @Timeout(300)
    void everyRecordIsTheOldOrTheNewOneAfterAKill() throws IOException, InterruptedException, StateException {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        int[] known = new int[EndlessWriter.KEYS];
        for (int round = 0; round < KILLS; round++) {
            EndlessWriter.kill(java(ChronicleStateStore.JVM_FLAGS, ChronicleWriter.class.getName(),
                    folder.resolve("state.map").toString()), random.nextInt(200), known);
            try (StateStore store = open()) {
                EndlessWriter.check(store, known, "seed " + seed + ", round " + round);
            }
        }
        assertTrue(known[0] > 0, "nothing was written, seed " + seed);
    }

    private static Process java(List<String> flags, String main, String argument) throws IOException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"));
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main, argument));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** What {@link #everyRecordIsTheOldOrTheNewOneAfterAKill} kills. */
    static final class ChronicleWriter {
        private ChronicleWriter() {
        }

        public static void main(String[] arguments) throws StateException {
            EndlessWriter.write(ChronicleStateStore.open(Path.of(arguments[0])));
        }
    }

    /** What {@link #withoutTheFlagsAPlainFileIsTaken} runs. */
    static final class Chooser {
        private Chooser() {
        }

        public static void main(String[] arguments) throws StateException {
            List<String> refused = new ArrayList<>();
            try (StateStore store = StateStoreChoice.open("chronicle", Path.of(arguments[0]), refused::add)) {
                store.put("a", record(1, "kept"));
                System.out.println(store.getClass().getSimpleName() + " " + refused.size());
            }
        }
    }

    @Test
    @Timeout(180)
    void withoutTheFlagsAPlainFileIsTaken() throws IOException, InterruptedException, StateException {
        Process chooser = java(List.of("--sun-misc-unsafe-memory-access=allow"), Chooser.class.getName(), folder.toString());
        try (BufferedReader said = chooser.inputReader()) {
            assertEquals("FileStateStore 1", said.readLine());
            assertTrue(chooser.waitFor(30, TimeUnit.SECONDS));
        } finally {
            chooser.destroyForcibly();
        }
        try (StateStore store = FileStateStore.open(folder.resolve("state.log"))) {
            assertEquals(Optional.of(record(1, "kept")), store.get("a"));
        }
        List<String> refused = new ArrayList<>();
        try (StateStore store = StateStoreChoice.open("chronicle", folder, refused::add)) {
            assertTrue(store instanceof ChronicleStateStore, refused.toString());
        }
    }

    @Test
    void thisJvmHasTheFlagsThatAreNamed() {
        assertTrue(ManagementFactory.getRuntimeMXBean().getInputArguments().containsAll(ChronicleStateStore.JVM_FLAGS));
        assertEquals(ChronicleStateStore.JVM_FLAGS, StateStoreChoice.jvmFlags("chronicle"), "found as a service");
    }
}
