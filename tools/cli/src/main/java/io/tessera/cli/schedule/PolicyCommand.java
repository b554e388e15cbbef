package io.tessera.cli.schedule;

import com.google.gson.JsonObject;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.control.ControlClient;
import io.tessera.cli.control.ControlException;
import io.tessera.cli.status.StatusAnswer;
import io.tessera.cli.status.StatusAnswer.ExecutorState;
import io.tessera.cli.text.TextTable;
import io.tessera.cli.text.TextTable.Cell;
import io.tessera.cli.text.TextTable.Side;
import io.tessera.policy.PolicyName;
import io.tessera.policy.PolicyTerm;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tessera policy [NAME]}: which tenant has the next turn. One thread. */
@Command(name = "policy", mixinStandardHelpOptions = true, header = "Which tenant has the next turn on the GPU, and for how long.", footer = {"",
        "Without NAME: the policies, and which one each device has. A change takes effect with the next turn.",
        "tessera tenant sets the terms that policies look at. tessera simulate tries a policy on a trace.",
        "Examples:", "  tessera policy", "  tessera policy fair", "  tessera policy priority --device GPU-...",
        "Exit codes: 0 done, 1 failure, 2 wrong usage, 3 no manager."})
public final class PolicyCommand implements Callable<Integer> {
    private final CommandContext context;

    @Parameters(index = "0", arity = "0..1", paramLabel = "NAME", description = "The policy.")
    private String name;

    @Mixin
    private DeviceOption device = new DeviceOption();

    @Option(names = "--json", description = "Without NAME: as JSON.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    /** Creates the command in the given context. */
    public PolicyCommand(CommandContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws ControlException {
        ControlClient manager = new ControlClient(context.runtime().controlSocket(), ControlClient.PATIENCE);
        if (name == null) {
            list(manager);
            return ExitCode.OK.number();
        }
        if (PolicyName.of(name).isEmpty()) {
            throw new ParameterException(spec.commandLine(), name + ": a policy is one of " + PolicyName.all());
        }
        JsonObject request = new JsonObject();
        request.addProperty("request", "policy");
        request.addProperty("policy", name);
        device.addTo(request, spec);
        NotKept.warn(manager.ask(request), context);
        context.out().println("policy " + name);
        return ExitCode.OK.number();
    }

    private void list(ControlClient manager) throws ControlException {
        JsonObject request = new JsonObject();
        request.addProperty("request", "status");
        StatusAnswer status = StatusAnswer.of(manager.ask(request));
        if (json) {
            JsonObject devices = new JsonObject();
            inSpace(status).forEach(one -> devices.addProperty(one.uuid(), one.turns().policy()));
            status.devices().forEach(one -> devices.addProperty(one.uuid(), one.policy()));
            JsonObject policies = new JsonObject();
            for (PolicyName policy : PolicyName.values()) {
                policies.addProperty(policy.text(), policy.summary());
            }
            JsonObject all = new JsonObject();
            all.add("devices", devices);
            all.add("policies", policies);
            context.out().println(all);
            return;
        }
        TextTable table = new TextTable().column("POLICY", Side.LEFT).column("LOOKS AT", Side.LEFT).column("NEXT IS", Side.LEFT);
        for (PolicyName policy : PolicyName.values()) {
            String terms = policy.terms().stream().map(PolicyTerm::text).collect(Collectors.joining(", "));
            table.row(List.of(Cell.of(policy.text()), Cell.of(terms.isEmpty() ? "-" : terms), Cell.of(policy.summary())));
        }
        table.lines("", context.style()).forEach(context.out()::println);
        context.out().println();
        if (status.devices().isEmpty() && inSpace(status).isEmpty()) {
            context.out().println("no device is in use");
        }
        status.devices().forEach(one -> context.out().println(TextTable.printable(one.name()) + ", " + one.uuid() + ": " + one.policy()));
        inSpace(status).forEach(one -> context.out()
                .println(TextTable.printable(one.name()) + ", " + one.uuid() + ", by space: " + one.turns().policy()));
    }

    private static List<ExecutorState> inSpace(StatusAnswer status) {
        return status.executors().stream().filter(executor -> !executor.turns().policy().isEmpty()).toList();
    }
}
