package io.tessera.executor.fake;

import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;

/** A driver of which a test writes what calls do, and nothing else: it has every entry and nothing that is open. */
@FunctionalInterface
public interface CallsAlone extends DriverPort {
    @Override
    default String name() {
        return "test";
    }

    @Override
    default boolean software() {
        return true;
    }

    @Override
    default boolean supports(DriverEntry entry) {
        return true;
    }

    @Override
    default void close() {
        // nothing is open
    }
}
