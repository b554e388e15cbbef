package io.tessera.manager.executors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.guardian.state.BoundsTable;
import io.tessera.guardian.state.FileStateStore;
import io.tessera.guardian.state.StateStoreChoice;
import io.tessera.guardian.window.BoundsEntry;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The status shows windows from the table or, without one, from the executor's report. */
class WindowTableTest {
    private static final long GIB = 1L << 30;
    private static final JsonArray SAID = JsonParser.parseString(
            "[{\"tenant\":\"a\",\"base\":1,\"size\":2,\"committedBytes\":3,\"quotaBytes\":4,\"sinkBytes\":5}]").getAsJsonArray();

    @TempDir
    private Path folder;

    private Path socket() {
        return folder.resolve("executor-3.sock");
    }

    private Path file() throws Exception {
        return StateStoreChoice.file(Files.createDirectories(StateStoreChoice.folderBeside(socket())));
    }

    @Test
    void theTableCounts() throws Exception {
        try (FileStateStore store = FileStateStore.open(file())) { // the executor has it open in the same way
            BoundsTable table = new BoundsTable(store);
            table.put(new BoundsEntry("a", "GPU-1", 64 * GIB, 4 * GIB, 3 * GIB, 77, Long.MAX_VALUE));
            table.put(new BoundsEntry("other", "GPU-2", 128 * GIB, 4 * GIB, 3 * GIB, 77, 99));
            JsonArray windows = WindowTable.windows(socket(), "GPU-1", SAID);
            assertEquals(1, windows.size());
            JsonObject window = windows.get(0).getAsJsonObject();
            assertEquals(64 * GIB, window.get("base").getAsLong());
            assertEquals(77, window.get("committedBytes").getAsLong());
            assertEquals(0, window.get("quotaBytes").getAsLong());
            assertEquals(5, window.get("sinkBytes").getAsLong(), "what the table does not have");
            assertEquals(99, WindowTable.windows(socket(), "GPU-2", SAID).get(0).getAsJsonObject().get("quotaBytes").getAsLong());
        }
    }

    @Test
    void withoutATableTheExecutorIsBelieved() throws Exception {
        assertSame(SAID, WindowTable.windows(socket(), "GPU-1", SAID));
        Files.writeString(file(), "no records in here");
        assertSame(SAID, WindowTable.windows(socket(), "GPU-1", SAID));
        Files.delete(file());
        Files.createDirectory(file());
        assertSame(SAID, WindowTable.windows(socket(), "GPU-1", SAID));
    }
}
