package io.tessera.cli.doctor;

import io.tessera.cli.probe.Probe;
import io.tessera.cli.probe.ProbeReport;
import io.tessera.cli.text.Sizes;
import io.tessera.device.CudaResult;
import java.util.ArrayList;
import java.util.List;

/** Checks the vendor's driver, its devices, and which of its entries would be intercepted, from the probe's report. */
final class DriverCheck implements DoctorCheck {
    private static final String LOADED = "ok";
    private static final int NAMES_SHOWN = 12;

    private final Probe.Outcome outcome;

    DriverCheck(Probe.Outcome outcome) {
        this.outcome = outcome;
    }

    @Override
    public List<DoctorFinding> findings() {
        return switch (outcome) {
            case Probe.Failed failed -> List.of(DoctorFinding.problem("probe", failed.reason(), failed.advice()));
            case Probe.Reported reported -> findings(reported.report());
        };
    }

    private static List<DoctorFinding> findings(ProbeReport report) {
        List<DoctorFinding> findings = new ArrayList<>();
        if (report.hasDriver()) {
            driver(report, findings);
            interception(report, findings);
        } else {
            findings.add(DoctorFinding.note("driver", "no GPU driver (libcuda.so.1) on this machine: programs see no GPU",
                    "nothing is wrong with Tessera; if there should be a GPU, install its driver or name the library"
                            + " in TESSERA_DRIVER"));
        }
        if (report.membarrier() != null) {
            findings.add(report.membarrier() ? DoctorFinding.ok("membarrier", "the kernel has it")
                    : DoctorFinding.note("membarrier", "the kernel has no private expedited membarrier(2): every submission"
                            + " fences instead, which costs some nanoseconds", "Linux 4.14 and newer has it"));
        }
        return findings;
    }

    private static void driver(ProbeReport report, List<DoctorFinding> findings) {
        ProbeReport.Driver driver = report.driver();
        String name = driver.path() + (driver.version() == 0 ? "" : ", CUDA " + driver.version() / 1000 + "."
                + driver.version() % 1000 / 10);
        int init = report.init() == null ? 0 : report.init();
        if (!LOADED.equals(driver.status())) {
            findings.add(DoctorFinding.problem("driver", name + " cannot be loaded: " + driver.status(),
                    "install the driver again, or name another library in TESSERA_DRIVER"));
        } else if (init == CudaResult.NO_DEVICE || init == 0 && report.devices().isEmpty()) {
            // Equivalent to having no driver.
            findings.add(DoctorFinding.note("driver", name + ": it finds no GPU",
                    "in a container, pass the devices in; elsewhere, see whether nvidia-smi lists one"));
        } else if (init != 0) {
            findings.add(DoctorFinding.problem("driver", name + " does not start: cuInit answers " + init,
                    "see whether nvidia-smi works and whether the kernel module has the version of the library"));
        } else {
            findings.add(DoctorFinding.ok("driver", name));
        }
        for (ProbeReport.Device device : report.devices()) {
            findings.add(DoctorFinding.ok("device " + device.ordinal(), device.name() + ", "
                    + Sizes.format(device.totalBytes()) + ", " + device.uuid()));
        }
    }

    private static void interception(ProbeReport report, List<DoctorFinding> findings) {
        ProbeReport.Exports exports = report.exports();
        if (exports != null) {
            String text = exports.vendor() + " entries exported by the driver";
            findings.add(exports.missing().isEmpty() ? DoctorFinding.ok("interception", text + ", by us too")
                    : DoctorFinding.problem("interception", text + ", " + exports.missing().size() + " of them not by us: "
                            + names(exports.missing()),
                            "a program that asks for one of these gets none: the driver is"
                                    + " newer than Tessera knows; report it with the driver's version"));
        }
        ProbeReport.Lookups lookups = report.lookups();
        if (lookups != null) {
            String text = lookups.hooked() + " entries are wrapped, " + lookups.present() + " of them in this driver; "
                    + lookups.exact() + " answers of cuGetProcAddress lead to them";
            findings.add(lookups.unmatched().isEmpty() ? DoctorFinding.ok("interception", text)
                    : DoctorFinding.problem("interception", text + "; not: " + names(lookups.unmatched()),
                            "calls of these would pass by the scheduler: report it with the driver's version"));
        }
    }

    private static String names(List<String> names) {
        String shown = String.join(", ", names.subList(0, Math.min(NAMES_SHOWN, names.size())));
        return names.size() <= NAMES_SHOWN ? shown : shown + " and " + (names.size() - NAMES_SHOWN) + " more (--json)";
    }
}
