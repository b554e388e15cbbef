package io.tessera.device;

/**
 * Opens drivers of one kind. Found by {@link java.util.ServiceLoader}; implementations have a public constructor
 * without parameters that does nothing, and are thread-safe.
 */
public interface DriverPortProvider {
    /** Returns the word that options and messages use: {@code "nvidia"}, {@code "software"}. */
    String name();

    /**
     * Opens the driver.
     *
     * @return a driver that is initialised ({@code cuInit}) and has the requested device; the caller closes it
     * @throws DriverUnavailableException where that is impossible here, which is an ordinary case
     */
    DriverPort open(DriverOptions options) throws DriverUnavailableException;
}
