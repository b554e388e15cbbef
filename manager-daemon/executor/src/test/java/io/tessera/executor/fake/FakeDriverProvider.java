package io.tessera.executor.fake;

import io.tessera.device.DriverOptions;
import io.tessera.device.DriverPort;
import io.tessera.device.DriverPortProvider;
import io.tessera.testing.driver.FakeDriver;

/** Opens a {@link FakeDriver} in the executor processes that tests start. */
public final class FakeDriverProvider implements DriverPortProvider {
    @Override
    public String name() {
        return "software";
    }

    @Override
    public DriverPort open(DriverOptions options) {
        return new FakeDriver();
    }
}
