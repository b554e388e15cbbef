package io.tessera.software.driver.entry;

import io.tessera.device.DriverEntry;
import io.tessera.device.EntryDescriptions;
import java.util.EnumMap;
import java.util.Map;

/** Which handler serves which entry. Filled once, then only read. */
public final class EntryTable {
    private final Map<DriverEntry, Handler> handlers = new EnumMap<>(DriverEntry.class);

    /** Serves an entry, and its form with per-thread default streams where there is one. */
    EntryTable on(DriverEntry entry, Handler handler) {
        if (handlers.put(entry, handler) != null) {
            throw new IllegalStateException(entry + " is served twice");
        }
        for (String suffix : new String[] {"_ptsz", "_ptds"}) {
            EntryDescriptions.ofName(entry + suffix).ifPresent(variant -> handlers.put(variant, handler));
        }
        return this;
    }

    /** Serves several entries that differ in name only. */
    EntryTable on(Handler handler, DriverEntry... entries) {
        for (DriverEntry entry : entries) {
            on(entry, handler);
        }
        return this;
    }

    /** The handler of an entry, null if there is none. */
    public Handler of(DriverEntry entry) {
        return handlers.get(entry);
    }

    /** All entries of a driver. */
    public static EntryTable of(DriverState state) {
        EntryTable table = new EntryTable();
        new DeviceEntries(state).register(table);
        new ContextEntries(state).register(table);
        new ErrorEntries().register(table);
        new MemoryEntries(state).register(table);
        new HostMemoryEntries(state).register(table);
        new PointerEntries(state).register(table);
        new PoolEntries(state).register(table);
        new VirtualMemoryEntries(state).register(table);
        new CopyEntries(state).register(table);
        new ShapedCopyEntries(state).register(table);
        new FillEntries(state).register(table);
        new StreamEntries(state).register(table);
        new MemoryWordEntries(state).register(table);
        new EventEntries(state).register(table);
        new ModuleEntries(state).register(table);
        new TextureReferenceEntries(state).register(table);
        new TensorMapEntries().register(table);
        new LibraryEntries(state).register(table);
        new FunctionEntries(state).register(table);
        new LinkerEntries(state).register(table);
        new LaunchEntries(state).register(table);
        new OccupancyEntries(state).register(table);
        new CaptureEntries(state).register(table);
        new GraphEntries(state).register(table);
        new GraphNodeEntries(state).register(table);
        new GraphNodeQueryEntries(state).register(table);
        new GraphEdgeEntries(state).register(table);
        new GraphExecEntries(state).register(table);
        new UserObjectEntries(state).register(table);
        new ArrayEntries(state).register(table);
        new TextureEntries(state).register(table);
        return table;
    }
}
