package io.tessera.cli.doctor;

import io.tessera.cli.text.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The vendor's driver, its devices, and what of it would be intercepted, as the probe saw them. */
final class DriverCheck implements Check {
    /** Ways of a driver to say that all is well. */
    private static final Set<String> FINE = Set.of("0", "ok", "CUDA_SUCCESS");
    /** A driver without a device to drive: as good as no driver. */
    private static final Set<String> NO_DEVICE = Set.of("100", "CUDA_ERROR_NO_DEVICE");
    private static final int NAMES_SHOWN = 12;

    private final Probe.Outcome outcome;

    DriverCheck(Probe.Outcome outcome) {
        this.outcome = outcome;
    }

    @Override
    public List<Finding> findings() {
        return switch (outcome) {
            case Probe.Failed failed -> List.of(Finding.problem("probe", failed.reason(), failed.advice()));
            case Probe.Reported reported -> findings(reported.report());
        };
    }

    private static List<Finding> findings(ProbeReport report) {
        List<Finding> findings = new ArrayList<>();
        if (report.hasDriver()) {
            driver(report, findings);
            interception(report, findings);
        } else {
            findings.add(Finding.note("driver", "no GPU driver (libcuda.so.1) on this machine: programs see no GPU",
                    "nothing is wrong with Tessera; if there should be a GPU, install its driver or name the library"
                            + " in TESSERA_DRIVER"));
        }
        if (report.membarrier() != null) {
            findings.add(report.membarrier() ? Finding.ok("membarrier", "the kernel has it")
                    : Finding.note("membarrier", "the kernel has no private expedited membarrier(2): every submission"
                            + " fences instead, which costs some nanoseconds", "Linux 4.14 and newer has it"));
        }
        return findings;
    }

    private static void driver(ProbeReport report, List<Finding> findings) {
        ProbeReport.Driver driver = report.driver();
        String name = driver.path() + (driver.version() == null ? "" : ", version " + driver.version());
        String status = driver.status() == null ? "0" : driver.status();
        if (NO_DEVICE.contains(status) || FINE.contains(status) && report.devices().isEmpty()) {
            findings.add(Finding.note("driver", name + ": it finds no GPU",
                    "in a container, pass the devices in; elsewhere, see whether nvidia-smi lists one"));
        } else if (FINE.contains(status)) {
            findings.add(Finding.ok("driver", name));
        } else {
            findings.add(Finding.problem("driver", name + " does not start: " + status,
                    "see whether nvidia-smi works and whether the kernel module has the version of the library"));
        }
        for (ProbeReport.Device device : report.devices()) {
            findings.add(Finding.ok("device " + device.ordinal(), device.name() + ", "
                    + Sizes.format(device.totalBytes()) + ", " + device.uuid()));
        }
    }

    private static void interception(ProbeReport report, List<Finding> findings) {
        ProbeReport.Exports exports = report.exports();
        if (exports != null) {
            String text = exports.vendor() + " entries exported by the driver";
            findings.add(exports.missing().isEmpty() ? Finding.ok("interception", text + ", by us too")
                    : Finding.problem("interception", text + ", " + exports.missing().size() + " of them not by us: "
                            + names(exports.missing()), "a program that asks for one of these gets none: the driver is"
                                    + " newer than Tessera knows; report it with the driver's version"));
        }
        ProbeReport.Lookups lookups = report.lookups();
        if (lookups != null) {
            String text = lookups.exact() + " of " + lookups.hooked() + " wrapped entries are what the driver answers"
                    + " to cuGetProcAddress";
            findings.add(lookups.unmatched().isEmpty() ? Finding.ok("interception", text)
                    : Finding.problem("interception", text + "; not: " + names(lookups.unmatched()),
                            "calls of these would pass by the scheduler: report it with the driver's version"));
        }
    }

    private static String names(List<String> names) {
        String shown = String.join(", ", names.subList(0, Math.min(NAMES_SHOWN, names.size())));
        return names.size() <= NAMES_SHOWN ? shown : shown + " and " + (names.size() - NAMES_SHOWN) + " more (--json)";
    }
}
