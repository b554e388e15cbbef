package io.tessera.cli.schedule;

import com.google.gson.JsonObject;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.control.ControlClient;
import io.tessera.cli.control.ControlException;
import io.tessera.cli.text.Durations;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tessera quantum 500ms}: how long a turn lasts. One thread. */
@Command(name = "quantum", mixinStandardHelpOptions = true, header = "How long a turn on the GPU lasts while somebody else waits.", footer = {"",
        "Example: tessera quantum 500ms",
        "Exit codes: 0 done, 1 failure, 2 wrong usage, 3 no manager."})
public final class QuantumCommand implements Callable<Integer> {
    private final CommandContext context;

    @Parameters(paramLabel = "DURATION", description = "The length: " + Durations.ACCEPTED + ".")
    private String duration;

    @Mixin
    private DeviceOption device = new DeviceOption();

    @Spec
    private CommandSpec spec;

    /** Creates the command in the given context. */
    public QuantumCommand(CommandContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws ControlException {
        OptionalLong quantumNs = Durations.parseNs(duration);
        if (quantumNs.isEmpty() || quantumNs.getAsLong() == 0) {
            throw new ParameterException(spec.commandLine(), duration + ": a quantum is above 0, "
                    + Durations.ACCEPTED);
        }
        JsonObject request = new JsonObject();
        request.addProperty("request", "quantum");
        request.addProperty("ns", quantumNs.getAsLong());
        device.addTo(request, spec);
        NotKept.warn(new ControlClient(context.runtime().controlSocket(), ControlClient.PATIENCE).ask(request), context);
        context.out().println("quantum " + Durations.format(quantumNs.getAsLong()));
        return ExitCode.OK.number();
    }
}
