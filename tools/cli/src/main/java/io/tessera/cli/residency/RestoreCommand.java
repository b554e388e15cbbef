package io.tessera.cli.residency;

import com.google.gson.JsonObject;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.control.ControlClient;
import io.tessera.cli.control.ControlException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tessera restore TENANT}: a tenant's evicted memory comes back before it asks. One thread. */
@Command(name = "restore", aliases = "wake", mixinStandardHelpOptions = true, header = "Has a tenant's evicted memory come back to the GPUs now.", footer = {
        "",
        "Without it the memory comes back with the program's next launch or copy.",
        "Example: tessera restore alice",
        "Exit codes: 0 done, 1 failure, 2 wrong usage, 3 no manager."})
public final class RestoreCommand implements Callable<Integer> {
    private final CommandContext context;

    @Parameters(paramLabel = "TENANT", description = "The label, as tessera status shows it.")
    private String tenant;

    @Option(names = "--json", description = "The manager's answer, for machines.")
    private boolean json;

    /** Creates the command in the given context. */
    public RestoreCommand(CommandContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws ControlException {
        JsonObject request = new JsonObject();
        request.addProperty("request", "restore");
        request.addProperty("tenant", tenant);
        JsonObject answer = new ControlClient(context.runtime().controlSocket(), ControlClient.PATIENCE).ask(request);
        context.out().println(json ? answer.toString() : Clients.counted(answer, tenant, "coming back"));
        return ExitCode.OK.number();
    }
}
