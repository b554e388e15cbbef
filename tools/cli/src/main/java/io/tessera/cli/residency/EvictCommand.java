package io.tessera.cli.residency;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.control.ControlClient;
import io.tessera.cli.control.ControlException;
import io.tessera.cli.text.TextTable;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tessera evict TENANT [--suspend]}: a tenant's memory leaves the GPUs until its next call. One thread. */
@Command(name = "evict", aliases = "park", mixinStandardHelpOptions = true, header = "Has a tenant's memory leave the GPUs until its next call.", footer = {
        "",
        "For programs in space sharing, and for those that were started with --plan swap or auto. A running",
        "program first ends its turn, or its work in space sharing. Memory that is zero, or of which the host",
        "still has a copy, is not copied. With its next launch or copy the program gets its memory back; it",
        "waits for the move and for the turns of others. With --suspend the driver's checkpoint takes the",
        "whole process off the GPU, its context included (driver 570 or newer); any call of it brings it back.",
        "Processes that have shared GPU memory with others (CUDA IPC) are evicted, but not suspended: the",
        "driver would not bring them back as they were.",
        "Examples:", "  tessera evict alice", "  tessera evict alice --suspend",
        "Exit codes: 0 done, 1 failure, or a process was not suspended, 2 wrong usage, 3 no manager."})
public final class EvictCommand implements Callable<Integer> {
    private final CommandContext context;

    @Parameters(paramLabel = "TENANT", description = "The label, as tessera status shows it.")
    private String tenant;

    @Option(names = "--suspend", description = "The context's memory as well, by the driver's checkpoint.")
    private boolean suspend;

    @Option(names = "--json", description = "The manager's answer, for machines.")
    private boolean json;

    /** Creates the command in the given context. */
    public EvictCommand(CommandContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws ControlException {
        JsonObject request = new JsonObject();
        request.addProperty("request", "evict");
        request.addProperty("tenant", tenant);
        if (suspend) {
            request.addProperty("suspend", true);
        }
        JsonObject answer = new ControlClient(context.runtime().controlSocket(), ControlClient.PATIENCE).ask(request);
        JsonArray notSuspended = answer.get("notSuspended") instanceof JsonArray sentences ? sentences : new JsonArray();
        context.out().println(json ? ControlClient.line(answer)
                : Clients.counted(answer, tenant, suspend && notSuspended.isEmpty() ? "to be suspended" : "leaving"));
        for (JsonElement sentence : notSuspended) {
            context.say("not suspended: " + TextTable.printable(sentence.isJsonPrimitive()
                    ? sentence.getAsString() : sentence.toString()));
        }
        return (notSuspended.isEmpty() ? ExitCode.OK : ExitCode.FAILURE).number();
    }
}
