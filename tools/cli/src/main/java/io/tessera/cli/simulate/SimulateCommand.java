package io.tessera.cli.simulate;

import com.google.gson.JsonArray;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.text.Durations;
import io.tessera.policy.PolicyName;
import io.tessera.policy.PolicySettings;
import io.tessera.policy.simulation.DeviceSimulation;
import io.tessera.policy.simulation.RunObserver;
import io.tessera.policy.simulation.SchedulingTrace;
import io.tessera.policy.simulation.SimulationResult;
import io.tessera.policy.simulation.SimulationSettings;
import io.tessera.policy.simulation.UsageBuckets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code tessera simulate TRACE}: what scheduling policies give the tenants of a trace. Asks no manager. One thread. */
@Command(name = "simulate", mixinStandardHelpOptions = true, header = "What a scheduling policy gives each tenant of a trace, on a simulated device.", footer = {
        "",
        "A trace is text, a record a line. TIME is like 4ms, PART like 50%% or 0.5.",
        "  tenant NAME [weight=N] [priority=N] [class=interactive|batch] [target=TIME]",
        "              [hard-cap=PART] [soft-cap=PART]",
        "  loop NAME length=TIME [gap=TIME] [depth=N] [requests=N]",
        "            [from=TIME] [until=TIME]",
        "  request NAME at=TIME length=TIME",
        "  set NAME at=TIME weight=N       (or others of a tenant's fields)",
        "",
        "A loop submits a request of that length, waits until it is done, and submits",
        "the next one after the gap; depth of them are under way at once. A share is a",
        "part of what the device worked. A request is in time if it is done within its",
        "tenant's target (unless the trace says one: 200 ms interactive, 2 s batch).",
        "",
        "Examples",
        "  tessera simulate --generate 75:25 --policy band",
        "  tessera simulate --generate w1 --load 2 --policy all --revoke 22ms",
        "  tessera simulate monday.trace --turns --policy round-robin --svg monday.svg",
        "",
        "Exit codes: 0 done, 1 the trace cannot be read or is malformed, 2 wrong usage."})
public final class SimulateCommand implements Callable<Integer> {
    /** The length of a simulation whose trace has no end. */
    private static final long ENDLESS_NS = 60_000_000_000L;
    private static final int PICTURE_WINDOWS = 480;
    private static final long PICTURE_WINDOW_NS = 1_000_000L;

    private final CommandContext context;

    @Mixin
    private TraceSource source = new TraceSource();

    @Option(names = "--policy", paramLabel = "NAME", split = ",", description = {
            "fifo, round-robin, credit, band, fair, priority, elastic, deadline;",
            "several with commas between them, or all, are compared. Default: fair"})
    private List<String> policies = List.of("fair");

    @Option(names = "--turns", description = "Turns on the whole device: a quantum of 250 ms, 1 ms for a hand-over, 1 ms of idle release. "
            + "Without it, queues of submissions: a quantum of 10 ms, and the rest costs nothing.")
    private boolean turns;

    @Option(names = "--quantum", paramLabel = "TIME", description = "Length of a turn of average weight; 0s: a turn is one request.")
    private String quantum;

    @Option(names = "--handover", paramLabel = "TIME", description = "Cost of a hand-over to another tenant.")
    private String handover;

    @Option(names = "--idle-release", paramLabel = "TIME", description = "How long a turn goes on without work before it ends.")
    private String idleRelease;

    @Option(names = "--ageing", paramLabel = "TIME", description = "priority: a tenant's priority rises by one for each such time that it waits. Default: 60s")
    private String ageing;

    @Option(names = "--revoke", paramLabel = "TIME", description = "Batch requests are stopped for tenants that go first, and run again from their "
            + "beginning later; stopping takes this time. Default: never")
    private String revoke;

    @Option(names = "--until", paramLabel = "TIME", description = "Ends at this time. Default: when all is done, or after 60 s if the trace has no end")
    private String until;

    @Option(names = "--json", description = "JSON for scripts: an object; with several policies an array of them.")
    private boolean json;

    @Option(names = "--svg", paramLabel = "FILE", description = "Draws the use of the device over time; of one policy.")
    private Path svg;

    @Spec
    private CommandSpec spec;

    /** Creates the command in the given context. */
    public SimulateCommand(CommandContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws IOException {
        List<PolicyName> names = names();
        if (svg != null && names.size() > 1) {
            throw usage("--svg draws one policy; --policy names " + names.size());
        }
        SchedulingTrace trace = trace();
        UsageBuckets usage = svg == null ? null : new UsageBuckets(trace.tenants().size(), PICTURE_WINDOW_NS, PICTURE_WINDOWS);
        Map<PolicyName, SimulationResult> results = new EnumMap<>(PolicyName.class);
        for (PolicyName name : names) {
            results.put(name, DeviceSimulation.run(trace, settings(name, trace), usage == null ? RunObserver.NONE : usage));
        }
        if (svg != null) {
            Files.writeString(svg, SharePicture.of(names.getFirst(), results.get(names.getFirst()), usage));
        }
        print(results);
        return ExitCode.OK.number();
    }

    private List<PolicyName> names() {
        List<PolicyName> names = new ArrayList<>();
        for (String text : policies) {
            if (text.equals("all")) {
                return Arrays.asList(PolicyName.values());
            }
            PolicyName name = PolicyName.of(text).orElseThrow(() -> usage("--policy " + text + ": there are " + PolicyName.all() + ", all"));
            if (!names.contains(name)) {
                names.add(name);
            }
        }
        return names;
    }

    private SchedulingTrace trace() throws IOException {
        try {
            return source.open();
        } catch (IllegalArgumentException problem) {
            throw usage(problem.getMessage());
        }
    }

    private SimulationSettings settings(PolicyName name, SchedulingTrace trace) {
        long untilNs = timeNs("--until", until, trace.ends() ? Long.MAX_VALUE : ENDLESS_NS);
        SimulationSettings basis = turns ? SimulationSettings.turns(name, Math.max(1, untilNs))
                : SimulationSettings.submissions(name, Math.max(1, untilNs));
        PolicySettings constants = basis.constants();
        constants = constants.withQuantumNs(timeNs("--quantum", quantum, constants.quantumNs()));
        constants = constants.withAgeingNs(Math.max(1, timeNs("--ageing", ageing, constants.ageingNs())));
        return new SimulationSettings(name, constants, basis.untilNs(), timeNs("--handover", handover, basis.handoverNs()),
                timeNs("--idle-release", idleRelease, basis.idleReleaseNs()), timeNs("--revoke", revoke, basis.revokeNs()));
    }

    private long timeNs(String option, String text, long otherwise) {
        if (text == null) {
            return otherwise;
        }
        OptionalLong ns = Durations.parseNs(text);
        return ns.orElseThrow(() -> usage(option + " " + text + ": " + Durations.ACCEPTED));
    }

    private ParameterException usage(String sentence) {
        return new ParameterException(spec.commandLine(), sentence);
    }

    private void print(Map<PolicyName, SimulationResult> results) {
        if (json) {
            JsonArray array = new JsonArray();
            results.forEach((name, result) -> array.add(SimulationJson.of(name, result)));
            context.out().println(array.size() == 1 ? array.get(0) : array);
            return;
        }
        if (results.size() == 1) {
            results.forEach((name, result) -> SimulationText.of(name, result, context.style()).forEach(context.out()::println));
        } else {
            SimulationText.compared(results, context.style()).forEach(context.out()::println);
        }
    }
}
