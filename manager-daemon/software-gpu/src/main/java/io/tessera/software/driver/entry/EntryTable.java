package io.tessera.software.driver.entry;

import io.tessera.device.DriverEntry;
import io.tessera.device.EntryDescriptions;
import java.util.EnumMap;
import java.util.Map;

/** Maps each entry to its handler. Filled once, then only read. */
public final class EntryTable {
    private final Map<DriverEntry, Handler> handlers = new EnumMap<>(DriverEntry.class);

    /** Serves an entry, and its form with per-thread default streams where there is one. */
    public EntryTable on(DriverEntry entry, Handler handler) {
        if (handlers.put(entry, handler) != null) {
            throw new IllegalStateException(entry + " is served twice");
        }
        for (String suffix : new String[] {"_ptsz", "_ptds"}) {
            EntryDescriptions.ofName(entry + suffix).ifPresent(variant -> handlers.put(variant, handler));
        }
        return this;
    }

    /** Serves several entries that differ in name only. */
    public EntryTable on(Handler handler, DriverEntry... entries) {
        for (DriverEntry entry : entries) {
            on(entry, handler);
        }
        return this;
    }

    /** Returns the handler of an entry, null if there is none. */
    public Handler of(DriverEntry entry) {
        return handlers.get(entry);
    }
}
