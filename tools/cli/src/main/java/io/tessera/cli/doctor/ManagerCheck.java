package io.tessera.cli.doctor;

import io.tessera.cli.control.ControlClient;
import io.tessera.cli.control.ControlException;
import io.tessera.cli.status.StatusReport;
import io.tessera.protocol.SegmentLayout;
import java.util.List;

/** Whether a manager runs, answers, and is of our version. */
final class ManagerCheck implements Check {
    private static final String SUBJECT = "manager";

    private final ControlClient client;
    private final String ownVersion;

    ManagerCheck(ControlClient client, String ownVersion) {
        this.client = client;
        this.ownVersion = ownVersion;
    }

    @Override
    public List<Finding> findings() {
        StatusReport.ManagerState manager;
        try {
            manager = StatusReport.of(client.ask("status")).manager();
        } catch (ControlException e) {
            if (e.kind() == ControlException.Kind.NO_MANAGER) {
                return List.of(Finding.note(SUBJECT, "none runs (" + client.socket() + ")",
                        "tessera run starts one by itself, tessera manager start does too"));
            }
            return List.of(Finding.problem(SUBJECT, e.getMessage(), "tessera manager logs, tessera manager restart"));
        }
        String text = "runs, version " + manager.version() + ", pid " + manager.pid() + ", "
                + manager.runtimeDirectory();
        if (manager.abi() != SegmentLayout.VERSION) {
            return List.of(Finding.problem(SUBJECT, text + ", speaks protocol " + manager.abi() + ", ours is "
                    + SegmentLayout.VERSION, "restart it from this installation: tessera manager restart"));
        }
        if (!manager.version().equals(ownVersion)) {
            return List.of(Finding.note(SUBJECT, text + "; this is " + ownVersion,
                    "tessera manager restart, when no program needs it"));
        }
        return List.of(Finding.ok(SUBJECT, text));
    }
}
