package io.tessera.manager.executors;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.guardian.state.BoundsTable;
import io.tessera.guardian.state.FileStateStore;
import io.tessera.guardian.state.StateException;
import io.tessera.guardian.state.StateStoreChoice;
import io.tessera.guardian.window.BoundsEntry;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Windows of an executor's tenants for the status: from the bounds table that the executor writes or, if there is none that can be read, from its
 * report every second. Stateless.
 */
final class WindowTable {
    private static final Logger LOG = LoggerFactory.getLogger(WindowTable.class);

    private WindowTable() {
    }

    /**
     * Returns the windows.
     *
     * @param socket socket of the executor, beside which its table is
     * @param device the device's name in the table
     * @param said   the executor's last report
     */
    static JsonArray windows(Path socket, String device, JsonArray said) {
        List<BoundsEntry> entries;
        try {
            entries = BoundsTable.entries(FileStateStore.read(StateStoreChoice.file(StateStoreChoice.folderBeside(socket))));
        } catch (StateException e) {
            LOG.debug("{}", e.getMessage());
            entries = List.of();
        }
        Map<String, JsonObject> known = new HashMap<>();
        for (JsonElement window : said) {
            known.put(window.getAsJsonObject().get("tenant").getAsString(), window.getAsJsonObject());
        }
        JsonArray windows = new JsonArray();
        for (BoundsEntry entry : entries) {
            if (entry.device().equals(device)) {
                windows.add(json(entry, known.get(entry.tenant())));
            }
        }
        return windows.isEmpty() ? said : windows;
    }

    private static JsonObject json(BoundsEntry entry, JsonObject said) {
        JsonObject window = new JsonObject();
        window.addProperty("tenant", entry.tenant());
        window.addProperty("base", entry.baseAddress());
        window.addProperty("size", entry.sizeBytes());
        window.addProperty("committedBytes", entry.committedBytes());
        window.addProperty("quotaBytes", entry.quotaBytes() == Long.MAX_VALUE ? 0 : entry.quotaBytes());
        for (String bytes : new String[] {"sinkBytes", "awayBytes", "movedOutBytes", "sparedBytes"}) {
            window.addProperty(bytes, said == null || !said.has(bytes) ? 0 : said.get(bytes).getAsLong());
        }
        return window;
    }
}
