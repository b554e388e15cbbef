package io.tessera.testing.driver;

import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import java.lang.foreign.MemorySegment;

/** A test's interception of calls to a fake driver: it answers some of them itself and passes on the rest. */
@FunctionalInterface
public interface CallInjector {
    /** As {@link DriverPort#call}, with the driver to which the call can be passed on. */
    int call(DriverEntry entry, MemorySegment slots, DriverPort driver);

    /** Returns a new fake driver whose calls pass through this first. */
    default DriverPort port() {
        return over(new FakeDriver());
    }

    /** Returns a port whose calls pass through this first; closing it closes the driver. */
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
