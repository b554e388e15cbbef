package io.tessera.state;

import io.tessera.guardian.state.FileStateStore;
import io.tessera.guardian.state.StateException;
import io.tessera.guardian.state.StateStore;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Which store a daemon gets. Stateless. */
public final class StateStoreChoice {
    private StateStoreChoice() {
    }

    /**
     * A Chronicle Map where it can run, else a plain file: state is worth less than a daemon that starts.
     *
     * @param folder  only this user can write there; the two kinds use files of their own in it
     * @param refused told in one line why Chronicle Map cannot run, if it cannot
     * @return open, the caller's to close
     * @throws StateException if neither can be opened
     */
    public static StateStore open(Path folder, Consumer<String> refused) throws StateException {
        try {
            return ChronicleStateStore.open(folder.resolve("state.map"));
        } catch (StateException e) {
            refused.accept(e.getMessage());
            return FileStateStore.open(folder.resolve("state.log"));
        }
    }
}
