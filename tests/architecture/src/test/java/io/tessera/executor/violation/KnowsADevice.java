package io.tessera.executor.violation;

import io.tessera.software.launch.DeviceLimits;

/** The executor may not know which device is behind the port. */
public final class KnowsADevice {
    /** Uses it. */
    public DeviceLimits it() {
        return null;
    }
}
