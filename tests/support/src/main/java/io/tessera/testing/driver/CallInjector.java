package io.tessera.testing.driver;

import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import java.lang.foreign.MemorySegment;

/** What a test does with calls that are for a fake driver: answers some of them itself, and hands on the rest. */
@FunctionalInterface
public interface CallInjector {
    /** As {@link DriverPort#call}, with the driver behind it. */
    int call(DriverEntry entry, MemorySegment slots, DriverPort driver);

    /** A fake driver whose calls come to this first. */
    default DriverPort port() {
        return over(new FakeDriver());
    }

    /** The driver with its calls coming to this first; it closes the driver. */
    default DriverPort over(FakeDriver driver) {
        return new DriverPort() {
            @Override
            public String name() {
                return driver.name();
            }

            @Override
            public boolean software() {
                return driver.software();
            }

            @Override
            public boolean supports(DriverEntry entry) {
                return driver.supports(entry);
            }

            @Override
            public int call(DriverEntry entry, MemorySegment slots) {
                return CallInjector.this.call(entry, slots, driver);
            }

            @Override
            public void close() {
                driver.close();
            }
        };
    }
}
