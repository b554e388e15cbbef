package io.tessera.cli.doctor;

import io.tessera.cli.control.ControlClient;
import io.tessera.cli.control.ControlException;
import io.tessera.cli.status.StatusAnswer;
import io.tessera.protocol.segment.SegmentLayout;
import java.util.ArrayList;
import java.util.List;

/** Checks whether a manager runs, answers, and has the same version. */
final class ManagerCheck implements DoctorCheck {
    private static final String SUBJECT = "manager";

    private final ControlClient client;
    private final String ownVersion;

    ManagerCheck(ControlClient client, String ownVersion) {
        this.client = client;
        this.ownVersion = ownVersion;
    }

    @Override
    public List<DoctorFinding> findings() {
        StatusAnswer status;
        try {
            status = StatusAnswer.of(client.ask("status"));
        } catch (ControlException e) {
            if (e.kind() == ControlException.Kind.NO_MANAGER) {
                return List.of(DoctorFinding.note(SUBJECT, "none runs (" + client.socket() + ")",
                        "tessera run starts one by itself, tessera manager start does too"));
            }
            return List.of(DoctorFinding.problem(SUBJECT, e.getMessage(), "tessera manager logs, tessera manager restart"));
        }
        List<DoctorFinding> findings = new ArrayList<>();
        findings.add(of(status.manager()));
        status.executors().stream().filter(executor -> executor.state().equals("foreign")).forEach(executor -> findings.add(
                DoctorFinding.problem("executor " + executor.ordinal(), executor.reason(),
                        "wait for its programs, or tessera manager stop --programs")));
        status.executors().stream().filter(executor -> executor.state().equals("restarting")
                || executor.state().equals("absent") && !executor.reason().isEmpty()).forEach(executor -> findings.add(
                        DoctorFinding.problem("executor " + executor.ordinal(), executor.reason(), "its log: executors/executor-" + executor.ordinal()
                                + ".log in " + status.manager().runtimeDirectory())));
        // All executors run as the same user, for the same reason.
        status.executors().stream().map(StatusAnswer.ExecutorState::rootBecause).filter(why -> !why.isEmpty()).findFirst()
                .ifPresent(why -> findings.add(
                        DoctorFinding.note("executors", "run as root, so that a fault in them would be one of root's: " + why,
                                "mend that (a folder: chmod o+x; or Java and "
                                        + "Tessera in a place that everybody reaches, as /opt), then tessera manager stop --programs; --executor-user root if it is meant so")));
        return findings;
    }

    private DoctorFinding of(StatusAnswer.ManagerState manager) {
        String text = "runs, version " + manager.version() + ", pid " + manager.pid() + ", "
                + manager.runtimeDirectory();
        if (manager.abi() != SegmentLayout.VERSION) {
            return DoctorFinding.problem(SUBJECT, text + ", speaks protocol " + manager.abi() + ", ours is "
                    + SegmentLayout.VERSION, "restart it from this installation: tessera manager restart");
        }
        if (!manager.version().equals(ownVersion)) {
            return DoctorFinding.note(SUBJECT, text + "; this is " + ownVersion,
                    "tessera manager restart, when no program needs it");
        }
        return DoctorFinding.ok(SUBJECT, text);
    }
}
