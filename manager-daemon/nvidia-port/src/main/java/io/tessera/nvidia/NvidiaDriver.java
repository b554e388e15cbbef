package io.tessera.nvidia;

import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import io.tessera.device.EntryDescription;
import io.tessera.device.EntryDescriptions;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.Optional;

/**
 * An open vendor's driver. Entries are bound at their first use; two threads that race bind the same twice. The library
 * stays loaded for the life of the process: a driver that has started threads cannot be unloaded safely.
 */
final class NvidiaDriver implements DriverPort {
    private static final MethodType CALL = MethodType.methodType(int.class, MemorySegment.class);
    private static final MethodHandle LACKING = MethodHandles.dropArguments(
            MethodHandles.constant(int.class, NOT_SUPPORTED), 0, MemorySegment.class);

    private final SymbolLookup library;
    private final String name;
    /** By ordinal; null: not bound yet. Method handles are safe to publish by a race. */
    private final MethodHandle[] bound = new MethodHandle[DriverEntry.values().length];

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
        MethodHandle handle = bound[entry.ordinal()];
        if (handle == null) {
            handle = bind(entry);
        }
        try {
            return (int) handle.invokeExact(slots);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a downcall threw a checked exception", e);
        }
    }

    private MethodHandle bind(DriverEntry entry) {
        EntryDescription description = EntryDescriptions.of(entry);
        Optional<MemorySegment> address = library.find(entry.name());
        MethodHandle handle = description.known() && address.isPresent()
                ? EntryBinder.bind(address.get(), description) : LACKING;
        bound[entry.ordinal()] = handle;
        return handle;
    }

    @Override
    public void close() {
        MethodHandle closed = MethodHandles.dropArguments(MethodHandles.foldArguments(
                MethodHandles.throwException(int.class, IllegalStateException.class),
                MethodHandles.insertArguments(Closed.FAILURE, 0, name)), 0, MemorySegment.class).asType(CALL);
        Arrays.fill(bound, closed);
    }

    /** What a call after the end gets. */
    private static final class Closed {
        private static final MethodHandle FAILURE = find();

        private static MethodHandle find() {
            try {
                return MethodHandles.lookup().findStatic(Closed.class, "failure",
                        MethodType.methodType(IllegalStateException.class, String.class));
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        private static IllegalStateException failure(String name) {
            return new IllegalStateException(name + " is closed");
        }
    }
}
