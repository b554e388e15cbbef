package io.tessera.cli.status;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.control.ControlClient;
import io.tessera.cli.control.ControlException;
import io.tessera.cli.text.TextTable;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tessera why alice}: whether a tenant runs, what it waits for, by which rule. One thread. */
@Command(name = "why", mixinStandardHelpOptions = true, header = "Why a tenant runs or waits now: for which tenant, since when, by which rule, what would change it.", footer = {
        "", "It is what the manager knew a moment ago. It names no programs of other users.",
        "Examples:", "  tessera why alice", "  tessera why 4711 --json",
        "Exit codes: 0 done, 1 no such tenant, 2 wrong usage, 3 no manager."})
public final class WhyCommand implements Callable<Integer> {
    private final CommandContext context;

    @Parameters(paramLabel = "TENANT", description = "The label, as tessera status shows it; or the number of a process.")
    private String tenant;

    @Option(names = "--json", description = "As JSON: one object for each program and device.")
    private boolean json;

    /** Creates the command in the given context. */
    public WhyCommand(CommandContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws ControlException {
        StatusAnswer status = StatusAnswer.of(new ControlClient(context.runtime().controlSocket(), ControlClient.PATIENCE).ask("status"));
        List<Explanation> all = Explanations.of(status, tenant);
        if (all.isEmpty()) {
            context.say("no program of yours has the name or the process number " + TextTable.printable(tenant)
                    + "; tessera status lists them");
            return ExitCode.FAILURE.number();
        }
        for (Explanation one : all) {
            if (json) {
                context.out().println(ControlClient.line((JsonObject) new Gson().toJsonTree(one)));
            } else {
                context.out().println(one.sentence());
                one.because().forEach(line -> context.out().println("  " + line));
                one.changes().forEach(line -> context.out().println("  to change it: " + line));
            }
        }
        return ExitCode.OK.number();
    }
}
