package io.tessera.software.execution;

/** Addresses of the symbols of a loaded module. Immutable. */
@FunctionalInterface
public interface SymbolAddresses {
    /**
     * Returns the address of a variable in global or constant memory, or the code address of a function.
     *
     * @throws java.util.NoSuchElementException if there is no such symbol
     */
    long of(String symbol);
}
