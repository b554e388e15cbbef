package io.tessera.guardian.state;

class MemoryStateStoreTest extends StateStoreContract {
    @Override
    StateStore store() {
        return new MemoryStateStore();
    }
}
