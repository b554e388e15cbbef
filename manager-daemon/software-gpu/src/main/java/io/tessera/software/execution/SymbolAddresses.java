package io.tessera.software.execution;

/** Where symbols of a loaded module are. Immutable. */
@FunctionalInterface
public interface SymbolAddresses {
    /**
     * Address of a variable in global or constant memory, or code address of a function.
     *
     * @throws java.util.NoSuchElementException if there is no such symbol
     */
    long of(String symbol);
}
