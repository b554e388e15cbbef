package io.tessera.guardian.state;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Chooses a daemon's store. Stateless. */
public final class StateStoreChoice {
    /** Environment variable with the name of a kind, {@link #FILE} without it. */
    public static final String VARIABLE = "TESSERA_STATE_STORE";
    /** The kind that needs nothing but the JDK. */
    public static final String FILE = "file";

    private static final String FILE_NAME = "state.log";

    private StateStoreChoice() {
    }

    /** The kind that an environment names. */
    public static String named(Map<String, String> environment) {
        String name = environment.getOrDefault(VARIABLE, "");
        return name.isEmpty() ? FILE : name;
    }

    /** The kinds that are there, the plain file first. */
    public static List<String> kinds() {
        return Stream.concat(Stream.of(FILE), ServiceLoader.load(StateStoreProvider.class).stream().map(provider -> provider.get().name()).sorted())
                .toList();
    }

    private static Optional<StateStoreProvider> provider(String name) {
        return ServiceLoader.load(StateStoreProvider.class).stream().map(ServiceLoader.Provider::get)
                .filter(provider -> provider.name().equals(name)).findFirst();
    }

    /** The flags of a JVM that is to open a store of a kind; none if the kind is not there. */
    public static List<String> jvmFlags(String name) {
        return provider(name).map(StateStoreProvider::jvmFlags).orElse(List.of());
    }

    /**
     * Opens a store of a kind if it can run, otherwise a plain file: a daemon that starts is worth more than its state.
     *
     * @param folder  only this user can write there; the kinds use files of their own in it
     * @param refused receives one line with the reason if the kind cannot run
     * @return an open store, which the caller closes
     * @throws StateException if the file cannot be opened either
     */
    public static StateStore open(String name, Path folder, Consumer<String> refused) throws StateException {
        if (!name.equals(FILE)) {
            Optional<StateStoreProvider> provider = provider(name);
            if (provider.isPresent()) {
                try {
                    return provider.get().open(folder);
                } catch (StateException e) {
                    refused.accept(e.getMessage());
                }
            } else {
                refused.accept("there is no store \"" + name + "\" on the class path");
            }
        }
        return FileStateStore.open(file(folder));
    }

    /** The folder for the state of a daemon that listens at a socket. */
    public static Path folderBeside(Path socket) {
        return socket.resolveSibling(socket.getFileName().toString().replaceFirst("\\.sock$", "") + ".state");
    }

    /** Returns the path of the plain file, for processes that only read it ({@link FileStateStore#read}). */
    public static Path file(Path folder) {
        return folder.resolve(FILE_NAME);
    }
}
