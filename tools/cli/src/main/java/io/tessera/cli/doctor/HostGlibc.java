package io.tessera.cli.doctor;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/** Reads the version of the glibc on which this process runs, from gnu_get_libc_version(3). */
final class HostGlibc {
    /** A version is a handful of digits; the bound keeps a bad pointer from being read far. */
    private static final long MAX_TEXT_BYTES = 32;

    private HostGlibc() {
    }

    /** Returns the version, {@code 2.36} for example; empty if the C library is not glibc. */
    static Optional<String> version() {
        Optional<MemorySegment> symbol = lookup().find("gnu_get_libc_version");
        if (symbol.isEmpty()) {
            return Optional.empty();
        }
        FunctionDescriptor descriptor = FunctionDescriptor.of(ValueLayout.ADDRESS.withTargetLayout(
                MemoryLayout.sequenceLayout(MAX_TEXT_BYTES, ValueLayout.JAVA_BYTE)));
        try {
            MemorySegment text = (MemorySegment) Linker.nativeLinker().downcallHandle(symbol.get(), descriptor)
                    .invokeExact();
            return Optional.of(text.getString(0));
        } catch (Throwable e) {
            // invokeExact declares Throwable; a call without arguments into libc has nothing of its own to throw.
            throw new IllegalStateException("gnu_get_libc_version", e);
        }
    }

    private static SymbolLookup lookup() {
        return Linker.nativeLinker().defaultLookup();
    }
}
