package io.tessera.executor.state;

import io.tessera.executor.window.TenantWindows.Bounds;
import io.tessera.guardian.state.BoundsTable;
import io.tessera.guardian.state.FileStateStore;
import io.tessera.guardian.state.StateException;
import io.tessera.guardian.state.StateStore;
import io.tessera.guardian.state.StateStoreChoice;
import io.tessera.guardian.window.BoundsEntry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partition bounds table of one device on disk, in a {@link StateStore} of its own. The table of an earlier executor is discarded at the start, and the
 * executor itself does not read the table, so a failure to write it does no harm. A thread of its own opens the store and writes. Thread-safe.
 */
public final class BoundsBook implements AutoCloseable {
    private static final long CLOSE_S = 5;
    private static final Logger LOG = LoggerFactory.getLogger(BoundsBook.class);

    private final String kind;
    private final Path folder;
    private final String device;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(
            task -> Thread.ofPlatform().name("bounds").daemon().unstarted(task));
    private final AtomicBoolean busy = new AtomicBoolean();
    private final Map<String, BoundsEntry> written = new HashMap<>();
    private StateStore store;
    private BoundsTable table;
    private boolean complained;

    /**
     * Creates a book, which opens its store on its own thread.
     *
     * @param kind   of the store ({@link StateStoreChoice})
     * @param folder created if it does not exist, for this user alone
     * @param device its name in the table
     */
    public BoundsBook(String kind, Path folder, String device) {
        this.kind = kind;
        this.folder = folder;
        this.device = device;
        write(List.of());
    }

    /** Requests that the table be written soon; does nothing while an earlier request is being executed, since the next one will follow. */
    public void write(List<Bounds> bounds) {
        if (busy.compareAndSet(false, true)) {
            thread.execute(() -> {
                try {
                    update(bounds);
                } catch (StateException | IOException | RuntimeException e) {
                    complain(e);
                } finally {
                    busy.set(false);
                }
            });
        }
    }

    private void update(List<Bounds> bounds) throws StateException, IOException {
        if (store == null) {
            open();
        }
        Set<String> tenants = new HashSet<>();
        for (Bounds window : bounds) {
            BoundsEntry entry = new BoundsEntry(window.tenant(), device, window.baseAddress(), window.sizeBytes(),
                    window.devicePartBytes(), window.committedBytes(),
                    window.quotaBytes() == 0 ? Long.MAX_VALUE : window.quotaBytes());
            tenants.add(window.tenant());
            if (!entry.equals(written.get(window.tenant()))) {
                table.put(entry);
                written.put(window.tenant(), entry);
            }
        }
        for (String tenant : List.copyOf(written.keySet())) {
            if (!tenants.contains(tenant)) {
                table.remove(tenant, device);
                written.remove(tenant);
            }
        }
        complained = false;
    }

    private void open() throws StateException, IOException {
        Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        store = StateStoreChoice.open(kind, folder, why -> LOG.warn("the bounds are kept in a plain file: {}", why));
        if (!(store instanceof FileStateStore)) {
            Files.deleteIfExists(StateStoreChoice.file(folder)); // the table of an earlier executor, which readers would take for the present one
        }
        table = new BoundsTable(store);
        for (BoundsEntry old : table.entries()) {
            table.remove(old.tenant(), old.device());
        }
        if (store.dropped() > 0) {
            LOG.info("{} damaged records were dropped from {}", store.dropped(), folder);
        }
    }

    private void complain(Exception e) {
        if (!complained) {
            complained = true;
            LOG.warn("the bounds of windows are not written down: {}", e.getMessage());
        }
    }

    /** Empties the table and closes it. */
    @Override
    public void close() {
        thread.execute(() -> {
            try {
                if (store != null) {
                    update(List.of());
                    store.close();
                }
            } catch (StateException | IOException | RuntimeException e) {
                complain(e);
            }
        });
        thread.shutdown();
        try {
            if (!thread.awaitTermination(CLOSE_S, TimeUnit.SECONDS)) {
                LOG.warn("the bounds of windows are still being written");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
