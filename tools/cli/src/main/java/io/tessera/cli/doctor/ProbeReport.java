package io.tessera.cli.doctor;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import java.util.List;
import java.util.Optional;

/**
 * What {@code tessera-probe --json} says.
 *
 * @param driver     the vendor's driver; null: none was found
 * @param devices    its devices
 * @param exports    entries that it exports, compared with ours
 * @param lookups    what cuGetProcAddress answers, compared with our hooks
 * @param membarrier whether the kernel has the private expedited membarrier(2)
 */
record ProbeReport(Driver driver, List<Device> devices, Exports exports, Lookups lookups, Boolean membarrier) {
    /** Fills in what was left out. */
    ProbeReport {
        devices = devices == null ? List.of() : devices;
    }

    /**
     * The vendor's driver.
     *
     * @param path    its library; null: none was found
     * @param version as it says itself
     * @param status  result of its cuInit: 0 or CUDA_SUCCESS, or what is wrong
     */
    record Driver(String path, String version, String status) {
    }

    /**
     * A device.
     *
     * @param ordinal    CUDA ordinal
     * @param uuid       {@code GPU-...}
     * @param name       its name
     * @param totalBytes its memory
     */
    record Device(int ordinal, String uuid, String name, long totalBytes) {
    }

    /**
     * Exported names.
     *
     * @param vendor  how many the vendor's driver exports
     * @param missing those of them that our library does not
     */
    record Exports(int vendor, List<String> missing) {
        /** Fills in what was left out. */
        Exports {
            missing = missing == null ? List.of() : missing;
        }
    }

    /**
     * Look-ups by cuGetProcAddress.
     *
     * @param hooked    entries that we wrap
     * @param exact     of them: the driver's answer is the entry that we know, so we substitute ours
     * @param unmatched names whose answer is not
     */
    record Lookups(int hooked, int exact, List<String> unmatched) {
        /** Fills in what was left out. */
        Lookups {
            unmatched = unmatched == null ? List.of() : unmatched;
        }
    }

    /** Reads a report; empty if the text is none. */
    static Optional<ProbeReport> parse(String text) {
        try {
            return Optional.ofNullable(new Gson().fromJson(text, ProbeReport.class));
        } catch (JsonParseException e) {
            return Optional.empty();
        }
    }

    /** Whether a vendor driver was found. */
    boolean hasDriver() {
        return driver != null && driver.path() != null && !driver.path().isEmpty();
    }
}
