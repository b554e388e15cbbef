package io.tessera.nvidia;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import io.tessera.device.EntryDescription;
import io.tessera.device.EntryDescriptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * An open vendor's driver. Entries are bound at their first use; two threads that race bind the same entry twice. The library stays loaded for the life of the
 * process: a driver that has started threads cannot be unloaded safely.
 */
final class NvidiaDriver implements DriverPort {
    private static final EntryCall LACKING = _ -> CudaResult.NOT_SUPPORTED;

    private final SymbolLookup library;
    private final String name;
    /** By ordinal; null: not bound yet. Bound calls have no fields, so that they are safe to publish by a race. */
    private final EntryCall[] bound = new EntryCall[DriverEntry.values().length];

    NvidiaDriver(SymbolLookup library, String name) {
        this.library = library;
        this.name = name;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean software() {
        return false;
    }

    @Override
    public boolean supports(DriverEntry entry) {
        return EntryDescriptions.of(entry).known() && library.find(entry.name()).isPresent();
    }

    @Override
    public int call(DriverEntry entry, MemorySegment slots) {
        EntryCall call = bound[entry.ordinal()];
        if (call == null) {
            call = bind(entry);
        }
        try {
            return call.call(slots);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a downcall threw a checked exception", e);
        }
    }

    @Override
    public void warm(BooleanSupplier goOn) {
        EntryBinder.warm(goOn);
    }

    private EntryCall bind(DriverEntry entry) {
        EntryDescription description = EntryDescriptions.of(entry);
        Optional<MemorySegment> address = library.find(entry.name());
        EntryCall call = description.known() && address.isPresent()
                ? EntryBinder.bind(address.get(), description) : LACKING;
        bound[entry.ordinal()] = call;
        return call;
    }

    @Override
    public void close() {
        String closed = name + " is closed";
        Arrays.fill(bound, (EntryCall) _ -> {
            throw new IllegalStateException(closed);
        });
    }
}
