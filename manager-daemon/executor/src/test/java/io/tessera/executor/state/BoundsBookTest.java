package io.tessera.executor.state;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.executor.window.TenantWindows.Bounds;
import io.tessera.guardian.state.BoundsTable;
import io.tessera.guardian.state.FileStateStore;
import io.tessera.guardian.state.StateStoreChoice;
import io.tessera.guardian.window.BoundsEntry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The table on disk says what the windows are, whatever an earlier executor left, also while others read it. */
@Timeout(180)
class BoundsBookTest {
    private static final long GIB = 1L << 30;
    private static final long BASE = 0x2000_0000_0000L;

    @TempDir
    private Path folder;

    private static Bounds bounds(String tenant, int number, long committed, long quota) {
        return new Bounds(tenant, BASE + number * 64 * GIB, 4 * GIB, 3 * GIB, committed, quota, 0, committed, 0, 0, 0);
    }

    private List<BoundsEntry> read() throws Exception {
        return BoundsTable.entries(FileStateStore.read(StateStoreChoice.file(folder.resolve("book"))));
    }

    /** A wish is left out while the one before it is carried out. */
    private List<BoundsEntry> after(BoundsBook book, List<Bounds> bounds) throws Exception {
        List<BoundsEntry> found;
        do {
            book.write(bounds);
            TimeUnit.MILLISECONDS.sleep(2);
            found = read();
        } while (found.size() != bounds.size()
                || !bounds.isEmpty() && found.getFirst().committedBytes() != bounds.getFirst().committedBytes());
        return found;
    }

    @Test
    void whatIsThereIsSaidAndWhatIsGoneIsNot() throws Exception {
        try (BoundsBook book = new BoundsBook("file", folder.resolve("book"), "GPU-1")) {
            List<BoundsEntry> two = after(book, List.of(bounds("a", 0, 4096, 0), bounds("b", 1, 8192, GIB)));
            assertEquals(new BoundsEntry("a", "GPU-1", BASE, 4 * GIB, 3 * GIB, 4096, Long.MAX_VALUE), two.getFirst());
            assertEquals(GIB, two.getLast().quotaBytes());
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("book"))));
            assertEquals(12288, after(book, List.of(bounds("b", 1, 12288, GIB))).getFirst().committedBytes());
            after(book, List.of());
            after(book, List.of(bounds("c", 0, 0, 0)));
        }
        assertEquals(List.of(), read(), "no window outlives its executor");
    }

    @Test
    void whatAKilledExecutorLeftIsThrownAway() throws Exception {
        Files.createDirectories(folder.resolve("book"));
        Path file = StateStoreChoice.file(folder.resolve("book"));
        try (FileStateStore old = FileStateStore.open(file)) {
            BoundsTable table = new BoundsTable(old);
            for (int i = 0; i < 50; i++) {
                table.put(new BoundsEntry("tenant " + i, "GPU-" + i % 2, BASE, 4 * GIB, GIB, 0, 1));
            }
        }
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, bytes, StandardOpenOption.APPEND); // the last write of it is torn
        try (var channel = java.nio.channels.FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(2L * bytes.length - 7);
        }
        try (BoundsBook book = new BoundsBook("file", folder.resolve("book"), "GPU-1")) {
            assertEquals("a", after(book, List.of(bounds("a", 0, 4096, 0))).getFirst().tenant());
        }
    }

    @Test
    void aStoreThatIsNotThereIsAPlainFile() throws Exception {
        try (BoundsBook book = new BoundsBook("no such kind", folder.resolve("book"), "GPU-1")) {
            assertEquals(1, after(book, List.of(bounds("a", 0, 4096, 0))).size());
        }
    }

    @Test
    void whereNothingCanBeWrittenNothingIsHarmed() throws Exception {
        Files.writeString(folder.resolve("book"), "a file where a folder should be");
        try (BoundsBook book = new BoundsBook("file", folder.resolve("book"), "GPU-1")) {
            for (int i = 0; i < 10; i++) {
                book.write(List.of(bounds("a", 0, 4096, 0)));
            }
        }
        assertEquals("a file where a folder should be", Files.readString(folder.resolve("book")));
    }
}
