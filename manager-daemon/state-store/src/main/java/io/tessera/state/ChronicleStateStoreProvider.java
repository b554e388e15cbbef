package io.tessera.state;

import io.tessera.guardian.state.StateException;
import io.tessera.guardian.state.StateStore;
import io.tessera.guardian.state.StateStoreProvider;
import java.nio.file.Path;
import java.util.List;

/** Provides {@link ChronicleStateStore} under the name {@code chronicle}. Stateless. */
public final class ChronicleStateStoreProvider implements StateStoreProvider {
    /** Creates a provider for the service loader. */
    public ChronicleStateStoreProvider() {
        // nothing to prepare
    }

    @Override
    public String name() {
        return "chronicle";
    }

    @Override
    public List<String> jvmFlags() {
        return ChronicleStateStore.JVM_FLAGS;
    }

    @Override
    public StateStore open(Path folder) throws StateException {
        return ChronicleStateStore.open(folder.resolve("state.map"));
    }
}
