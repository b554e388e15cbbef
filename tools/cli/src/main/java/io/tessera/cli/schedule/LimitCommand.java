package io.tessera.cli.schedule;

import com.google.gson.JsonObject;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.control.ControlClient;
import io.tessera.cli.control.ControlException;
import io.tessera.cli.text.Sizes;
import io.tessera.cli.text.TextTable;
import io.tessera.protocol.message.TenantName;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tessera limit TENANT 8GiB}: device memory of a tenant in space sharing. One thread. */
@Command(name = "limit", mixinStandardHelpOptions = true, header = "Device memory that a tenant in space sharing may use from now on, on each GPU.", footer = {
        "", "Memory that it uses already stays; it gets no more until it uses less than the limit.",
        "Examples:", "  tessera limit alice 8GiB", "  tessera limit --ahead bob none",
        "Exit codes: 0 done, 1 failure, 2 wrong usage, 3 no manager."})
public final class LimitCommand implements Callable<Integer> {
    private final CommandContext context;

    @Parameters(index = "0", paramLabel = "TENANT", description = "The label, as tessera status shows it. Another user's program: 'LABEL of user NUMBER'.")
    private String tenant;

    @Parameters(index = "1", paramLabel = "SIZE", description = "For example 8GiB or 512MiB; none: no limit.")
    private String size;

    @Option(names = "--ahead", description = "Also where no client of the tenant is there yet.")
    private boolean ahead;

    @Spec
    private CommandSpec spec;

    /** Creates the command in the given context. */
    public LimitCommand(CommandContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws ControlException {
        if (tenant.isEmpty() || tenant.getBytes(StandardCharsets.UTF_8).length > TenantName.MOST_BYTES) {
            throw new ParameterException(spec.commandLine(), "TENANT: a tenant's name has 1 to " + TenantName.MOST_BYTES + " bytes");
        }
        OptionalLong bytes = size.equals("none") ? OptionalLong.of(0) : Sizes.parse(size);
        if (bytes.isEmpty()) {
            throw new ParameterException(spec.commandLine(), size + ": a limit is none, or " + Sizes.ACCEPTED);
        }
        JsonObject request = new JsonObject();
        request.addProperty("request", "limit");
        request.addProperty("tenant", tenant);
        request.addProperty("bytes", bytes.getAsLong());
        if (ahead) {
            request.addProperty("ahead", true);
        }
        NotKept.warn(new ControlClient(context.runtime().controlSocket(), ControlClient.PATIENCE).ask(request), context);
        context.out().println(TextTable.printable(tenant) + ": " + (bytes.getAsLong() == 0 ? "no limit" : Sizes.format(bytes.getAsLong())));
        return ExitCode.OK.number();
    }
}
