package io.tessera.guardian.state;

import java.nio.file.Path;
import java.util.List;

/** A further kind of store, found on the class path as a service ({@link java.util.ServiceLoader}). Stateless. */
public interface StateStoreProvider {
    /** Returns the name of this kind of store, as a user writes it. */
    String name();

    /** Returns the options that a JVM needs to open such a store. */
    List<String> jvmFlags();

    /**
     * Opens a store, makes it if it is not there; may take seconds.
     *
     * @param folder only this user can write there; the kinds use files of their own in it
     * @return open, the caller's to close
     * @throws StateException if it cannot be opened here, with the reason
     */
    StateStore open(Path folder) throws StateException;
}
