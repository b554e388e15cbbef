package io.tessera.guardian.state;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/** A store that remembers as long as the process lives: where nothing may be written, and for tests. Thread-safe. */
public final class MemoryStateStore implements StateStore {
    private final Map<String, StateRecord> records = new ConcurrentHashMap<>();

    @Override
    public void put(String key, StateRecord value) {
        RecordForm.requireSizes(key, value);
        records.put(key, value);
    }

    @Override
    public Optional<StateRecord> get(String key) {
        return Optional.ofNullable(records.get(key));
    }

    @Override
    public boolean remove(String key) {
        return records.remove(key) != null;
    }

    @Override
    public void forEach(BiConsumer<String, StateRecord> action) {
        records.forEach(action);
    }

    @Override
    public long dropped() {
        return 0;
    }

    @Override
    public void close() {
        // Nothing to close.
    }
}
