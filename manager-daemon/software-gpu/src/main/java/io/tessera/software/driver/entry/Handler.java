package io.tessera.software.driver.entry;

/** Serves an entry; an error is a {@link io.tessera.software.driver.abi.DriverException}. Thread-safe. */
@FunctionalInterface
public interface Handler {
    /** Does what the entry documents. */
    void handle(Call call);
}
