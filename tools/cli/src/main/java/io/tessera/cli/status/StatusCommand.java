package io.tessera.cli.status;

import com.google.gson.JsonObject;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.control.ControlClient;
import io.tessera.cli.control.ControlException;
import io.tessera.cli.text.Durations;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code tessera status}: holder and queue of each GPU, memory, launches, turns. One thread. */
@Command(name = "status", mixinStandardHelpOptions = true, header = "The holder of each GPU and since when, the queue, memory, launches, turns, drains.", footer = {
        "", "HELD and WAITED are sums over the client's life; a drain is the time from the closed gate to the",
        "idle GPU. Exit codes: 0 done, 1 failure, 2 wrong usage, 3 no manager."})
public final class StatusCommand implements Callable<Integer> {
    private static final String CLEAR_SCREEN = "\u001b[H\u001b[2J";

    private final CommandContext context;

    @Option(names = "--json", description = "Print the manager's answer as it is, one JSON object a line.")
    private boolean json;

    @Option(names = "--watch", arity = "0..1", fallbackValue = "1s", paramLabel = "PERIOD", description = "Look again every PERIOD (default: ${FALLBACK-VALUE}) and show launches a second.")
    private String watch;

    @Option(names = "--count", paramLabel = "N", description = "With --watch: end after N looks.")
    private long count = Long.MAX_VALUE;

    @Spec
    private CommandSpec spec;

    /** Creates the command in the given context. */
    public StatusCommand(CommandContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws ControlException, InterruptedException {
        if (count < 1) {
            throw new ParameterException(spec.commandLine(), "--count " + count + ": at least 1");
        }
        ControlClient client = new ControlClient(context.runtime().controlSocket(), ControlClient.PATIENCE);
        if (watch == null) {
            show(client.ask("status"), Optional.empty());
            return ExitCode.OK.number();
        }
        Duration period = Duration.ofNanos(Durations.parseNs(watch).orElseThrow(() -> new ParameterException(
                spec.commandLine(), "--watch " + watch + ": a period is " + Durations.ACCEPTED)));
        LaunchRates rates = new LaunchRates();
        for (long look = 0; look < count; look++) {
            if (look > 0) {
                context.pause().await(period);
            }
            JsonObject answer = client.ask("status");
            if (!json) {
                context.out().print(context.terminal() ? CLEAR_SCREEN : look > 0 ? "\n" : "");
            }
            show(answer, Optional.of(rates));
            if (context.out().checkError()) {
                break; // the reader has gone: status --watch | head
            }
        }
        return ExitCode.OK.number();
    }

    private void show(JsonObject answer, Optional<LaunchRates> rates) throws ControlException {
        if (json) {
            context.out().println(ControlClient.line(answer));
        } else {
            StatusAnswer report = StatusAnswer.of(answer);
            rates.ifPresent(known -> known.look(report));
            StatusTable.lines(report, rates, context.style()).forEach(context.out()::println);
        }
        context.out().flush();
    }
}
