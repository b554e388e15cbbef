package io.tessera.executor.driver;

import io.tessera.device.DriverOptions;
import io.tessera.device.DriverPort;
import io.tessera.device.DriverPortProvider;
import io.tessera.device.DriverUnavailableException;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;

/** Finds the driver to use among those on the class path. Stateless. */
public final class DriverOpening {
    /** The provider of real devices, which auto tries first. */
    public static final String NVIDIA = "nvidia";
    /** The provider of devices in software. */
    public static final String SOFTWARE = "software";
    /** Any provider. */
    public static final String AUTO = "auto";

    private DriverOpening() {
    }

    /**
     * Opens the driver of a provider.
     *
     * @param wanted a provider's name, or {@link #AUTO}: a real device if there is one, else one in software
     * @throws DriverUnavailableException with every reason, if there is none
     */
    public static DriverPort open(String wanted, DriverOptions options) throws DriverUnavailableException {
        List<String> reasons = new ArrayList<>();
        List<String> order = wanted.equals(AUTO) ? List.of(NVIDIA, SOFTWARE) : List.of(wanted);
        for (String name : order) {
            boolean known = false;
            for (DriverPortProvider provider : ServiceLoader.load(DriverPortProvider.class)) {
                if (provider.name().equals(name)) {
                    known = true;
                    try {
                        return provider.open(options);
                    } catch (DriverUnavailableException e) {
                        reasons.add(name + ": " + e.getMessage());
                    }
                }
            }
            if (!known) {
                reasons.add(name + ": this installation has no such driver");
            }
        }
        throw new DriverUnavailableException(String.join("; ", reasons));
    }
}
