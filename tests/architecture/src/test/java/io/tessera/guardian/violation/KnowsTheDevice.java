package io.tessera.guardian.violation;

import io.tessera.device.DriverEntry;

/** The fences may not know the device port. */
public final class KnowsTheDevice {
    /** Uses it. */
    public DriverEntry it() {
        return DriverEntry.cuInit;
    }
}
