package io.tessera.software.driver.entry;

/** The entries of one subject. */
@FunctionalInterface
public interface EntryGroup {
    /** Adds a handler for each of its entries. */
    void register(EntryTable table);
}
