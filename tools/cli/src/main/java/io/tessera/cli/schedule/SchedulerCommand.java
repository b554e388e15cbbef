package io.tessera.cli.schedule;

import com.google.gson.JsonObject;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.control.ControlClient;
import io.tessera.cli.control.ControlException;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tessera scheduler on|off|auto}: how clients share a device in time. One thread. */
@Command(name = "scheduler", mixinStandardHelpOptions = true, header = "Whether clients take turns on the GPU.", footer = {"",
        "on: one client at a time, for a quantum. off: all at once, the hardware switches. auto: whichever",
        "does more work now; turns while memory is oversubscribed. Takes effect at once.",
        "Exit codes: 0 done, 1 failure, 2 wrong usage, 3 no manager."})
public final class SchedulerCommand implements Callable<Integer> {
    /** The modes as the user writes them. */
    enum Mode {
        on, off, auto
    }

    private final CommandContext context;

    @Parameters(paramLabel = "on|off|auto", description = "The mode.")
    private Mode mode;

    @Mixin
    private DeviceOption device = new DeviceOption();

    @Spec
    private CommandSpec spec;

    /** Creates the command in the given context. */
    public SchedulerCommand(CommandContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws ControlException {
        String name = mode.name().toLowerCase(Locale.ROOT);
        JsonObject request = new JsonObject();
        request.addProperty("request", "scheduler");
        request.addProperty("mode", name);
        device.addTo(request, spec);
        NotKept.warn(new ControlClient(context.runtime().controlSocket(), ControlClient.PATIENCE).ask(request), context);
        context.out().println("scheduler " + name);
        return ExitCode.OK.number();
    }
}
