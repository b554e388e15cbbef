package io.tessera.cli.probe;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import java.util.List;
import java.util.Optional;

/**
 * The report of {@code tessera-probe --json}.
 *
 * @param driver     the vendor's driver
 * @param init       result of its cuInit; null: it could not be loaded
 * @param devices    its devices
 * @param exports    entries that it exports, compared with Tessera's
 * @param lookups    results of cuGetProcAddress, compared with Tessera's hooks
 * @param membarrier whether the kernel has the private expedited membarrier(2)
 */
public record ProbeReport(Driver driver, Integer init, List<Device> devices, Exports exports, Lookups lookups,
        Boolean membarrier) {
    /** Replaces omitted fields by defaults. */
    public ProbeReport {
        devices = devices == null ? List.of() : devices;
    }

    /**
     * The vendor's driver.
     *
     * @param path    its library; empty: none was found
     * @param version version that it reports: 1000 times the major version of CUDA plus 10 times the minor one; 0: unknown
     * @param status  {@code ok}, or why it could not be loaded
     */
    public record Driver(String path, int version, String status) {
    }

    /**
     * A device.
     *
     * @param ordinal    CUDA ordinal
     * @param uuid       {@code GPU-...}
     * @param name       its name
     * @param totalBytes size of its memory
     */
    public record Device(int ordinal, String uuid, String name, long totalBytes) {
    }

    /**
     * Exported names.
     *
     * @param vendor  number of names that the vendor's driver exports
     * @param missing those of them that Tessera's library does not export
     */
    public record Exports(int vendor, List<String> missing) {
        /** Replaces omitted fields by defaults. */
        public Exports {
            missing = missing == null ? List.of() : missing;
        }
    }

    /**
     * Look-ups by cuGetProcAddress, of every wrapped entry in every version.
     *
     * @param hooked    number of entries that Tessera wraps
     * @param present   number of them that this driver exports
     * @param exact     number of look-ups that the driver answered with a known entry, so that Tessera's is substituted
     * @param unmatched names that it answered with something else
     */
    public record Lookups(int hooked, int present, int exact, List<String> unmatched) {
        /** Replaces omitted fields by defaults. */
        public Lookups {
            unmatched = unmatched == null ? List.of() : unmatched;
        }
    }

    /** Parses a report; empty if the text is not a report. */
    public static Optional<ProbeReport> parse(String text) {
        try {
            return Optional.ofNullable(new Gson().fromJson(text, ProbeReport.class));
        } catch (JsonParseException e) {
            return Optional.empty();
        }
    }

    /** Returns whether a vendor driver was found. */
    public boolean hasDriver() {
        return driver != null && driver.path() != null && !driver.path().isEmpty();
    }
}
