package io.tessera.guardian.state;

import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * Small records by key: state of one daemon that can be rebuilt and that helps it to start faster or others to look at
 * it. A process may be killed at any instruction: a record is then the old one or the new one after the next opening.
 * A record that is damaged otherwise is found by its checksum, dropped and counted, never returned.
 *
 * <p>Records carry the version of their form, a number of the caller's: a daemon of another version passes over what it
 * does not know. One process has a store open. Thread-safe.
 */
public interface StateStore extends AutoCloseable {
    /** Longer keys are refused, in bytes of UTF-8. */
    int MAX_KEY_BYTES = 512;

    /** Longer records are refused. */
    int MAX_RECORD_BYTES = 16 << 10;

    /**
     * Writes a record; replaces the existing one.
     *
     * @throws StateException           if it cannot be written; then the old one is still there
     * @throws IllegalArgumentException if key or record are too long
     */
    void put(String key, StateRecord value) throws StateException;

    /** The record, or nothing. */
    Optional<StateRecord> get(String key) throws StateException;

    /**
     * Removes a record.
     *
     * @return true if there was a record
     */
    boolean remove(String key) throws StateException;

    /** Hands every record over, in no certain order. The action does not use the store. */
    void forEach(BiConsumer<String, StateRecord> action) throws StateException;

    /** Records that were found damaged and dropped since the store was opened. */
    long dropped();

    /** Closes the store; its records are kept. A second call has no effect. */
    @Override
    void close();
}
