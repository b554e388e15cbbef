package io.tessera.cli.schedule;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.control.ControlClient;
import io.tessera.cli.control.ControlException;
import io.tessera.cli.status.StatusAnswer;
import io.tessera.cli.text.Durations;
import io.tessera.cli.text.Shares;
import io.tessera.cli.text.TextTable;
import io.tessera.policy.TenantTerms;
import io.tessera.protocol.message.TenantName;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tessera tenant alice --weight 3}: sets a tenant's share of the device's time. One thread. */
@Command(name = "tenant", mixinStandardHelpOptions = true, sortOptions = false, header = "What a tenant gets of the GPU's time.", footer = {
        "",
        "Without options: what is set for it. A change takes effect at once, on every GPU, for all programs of the tenant together.",
        "Under the mode auto a GPU takes turns while what is set for its tenants differs. Of programs that share by space the work then",
        "waits for turns of some milliseconds; class interactive keeps processors free for them. It is forgotten when the manager ends.",
        "Examples:", "  tessera tenant alice --weight 3", "  tessera tenant bob --soft-cap 20%%",
        "  tessera tenant carol --clients 2 --ahead", "  tessera policy priority && tessera tenant web --class interactive",
        "  tessera tenant train --replayable yes", "  tessera tenant alice --reset",
        "Exit codes: 0 done, 1 failure, 2 wrong usage, 3 no manager."})
public final class TenantCommand implements Callable<Integer> {
    /** The classes as the user writes them. */
    enum Kind {
        interactive, batch
    }

    /** Whether a tenant is something, as the user writes it. */
    enum Answer {
        yes, no
    }

    /** Maximum number of clients, the same as the manager's. */
    private static final int MOST_CLIENTS = 1_000_000;

    private final CommandContext context;

    @Parameters(index = "0", paramLabel = "TENANT", description = "The label, as tessera status shows it. Another user's program: 'LABEL of user NUMBER'.")
    private String tenant;

    @Option(names = "--weight", paramLabel = "N", description = "Its part of the GPU is its weight over the sum of weights; 1 to 1000000, 1 unless set.")
    private Integer weight;

    @Option(names = "--priority", paramLabel = "N", description = "A higher one goes first under the policy priority; -1000 to 1000, 0 unless set.")
    private Integer priority;

    @Option(names = "--class", paramLabel = "interactive|batch", description = "Whether somebody waits for each of its requests; batch unless set.")
    private Kind kind;

    @Option(names = "--cap", paramLabel = "SHARE", description = "The most of the GPU's time that it gets, for example 25%%; 100%%: no cap.")
    private String cap;

    @Option(names = "--soft-cap", paramLabel = "SHARE", description = "The same, while another tenant has work.")
    private String softCap;

    @Option(names = "--target", paramLabel = "DURATION", description = "Within which time a request is to be done, for elastic and deadline, at most 1440min; default: as its class.")
    private String target;

    @Option(names = "--replayable", paramLabel = "yes|no", description = "In space sharing: a kernel of it that an interactive tenant waits for may be stopped and run again later from its beginning (only kernels whose threads do not wait for each other and whose writes are known). Set it for batch work whose kernels take long. no unless set.")
    private Answer replayable;

    @Option(names = "--clients", paramLabel = "N", description = "How many programs (processes) of it there may be at once; 0: any number. More are refused, or wait with tessera run --wait.")
    private Integer clients;

    @Option(names = "--reset", description = "Resets all terms, except those that other options here set.")
    private boolean reset;

    @Option(names = "--ahead", description = "Also where no program of the tenant is there yet.")
    private boolean ahead;

    @Option(names = "--own", hidden = true, description = "The label is that of a program of the caller, also where the manager is another user's.")
    private boolean own;

    @Option(names = "--space", hidden = true, description = "The tenant will share by space.")
    private boolean space;

    @Option(names = "--while-it-runs", description = "Only until the last program of the tenant has ended; as the options of run.")
    private boolean whileItRuns;

    @Option(names = "--json", description = "The answer as JSON.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    /** Creates the command in the given context. */
    public TenantCommand(CommandContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws ControlException {
        if (tenant.isEmpty() || tenant.getBytes(StandardCharsets.UTF_8).length > TenantName.MOST_BYTES) {
            throw new ParameterException(spec.commandLine(), "TENANT: a tenant's name has 1 to " + TenantName.MOST_BYTES + " bytes");
        }
        JsonObject request = new JsonObject();
        request.addProperty("request", "tenant");
        request.addProperty("tenant", tenant);
        JsonObject set = set();
        if (!set.isEmpty()) {
            request.add("set", set);
        }
        if (reset) {
            request.addProperty("reset", true);
        }
        if (whileItRuns) {
            request.addProperty("whileItRuns", true);
        }
        if (own) {
            request.addProperty("own", true);
        }
        if (space) {
            request.addProperty("space", true);
        }
        if (ahead) {
            request.addProperty("ahead", true);
        }
        print(new ControlClient(context.runtime().controlSocket(), ControlClient.PATIENCE).ask(request));
        return ExitCode.OK.number();
    }

    private JsonObject set() {
        JsonObject set = new JsonObject();
        if (weight != null) {
            check("--weight", () -> TenantTerms.DEFAULT.withWeight(weight));
            set.addProperty("weight", weight);
        }
        if (priority != null) {
            check("--priority", () -> TenantTerms.DEFAULT.withPriority(priority));
            set.addProperty("priority", priority);
        }
        if (kind != null) {
            set.addProperty("class", kind.name().toLowerCase(Locale.ROOT));
        }
        if (cap != null) {
            set.addProperty("hardCap", share("--cap", cap));
        }
        if (softCap != null) {
            set.addProperty("softCap", share("--soft-cap", softCap));
        }
        if (target != null) {
            OptionalLong ns = Durations.parseNs(target);
            if (ns.isEmpty()) {
                throw new ParameterException(spec.commandLine(), "--target " + target + ": " + Durations.ACCEPTED);
            }
            check("--target", () -> TenantTerms.DEFAULT.withTargetNs(ns.getAsLong()));
            set.addProperty("targetNs", ns.getAsLong());
        }
        if (replayable != null) {
            set.addProperty("replayable", replayable == Answer.yes);
        }
        if (clients != null) {
            if (clients < 0 || clients > MOST_CLIENTS) {
                throw new ParameterException(spec.commandLine(), "--clients " + clients + ": from 1 to " + MOST_CLIENTS + "; 0: any number");
            }
            set.addProperty("clients", clients);
        }
        return set;
    }

    /** Checks a value. One out of range is wrong usage, like one that is not a number; the manager would refuse it, too. */
    private void check(String option, Runnable term) {
        try {
            term.run();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), option + ": " + e.getMessage());
        }
    }

    private double share(String option, String text) {
        OptionalDouble share = Shares.parse(text);
        if (share.isEmpty()) {
            throw new ParameterException(spec.commandLine(), option + " " + text + ": a share is " + Shares.ACCEPTED);
        }
        return share.getAsDouble();
    }

    private void print(JsonObject answer) throws ControlException {
        if (json) {
            answer.remove("ok");
            context.out().println(answer);
            return;
        }
        StatusAnswer.Terms terms = StatusAnswer.terms(answer.getAsJsonObject("terms"));
        String policies = list(answer.getAsJsonArray("policies"));
        context.out()
                .println(TextTable.printable(tenant) + ": " + (terms.text().isEmpty() ? "nothing is set" : terms.text()) + "; policy " + policies);
        NotKept.warn(answer, context);
        JsonArray unused = answer.getAsJsonArray("unused");
        if (!unused.isEmpty()) {
            context.say(policies + " does not look at " + list(unused) + ": tessera policy lists those that do");
        }
    }

    private static String list(JsonArray texts) {
        return StreamSupport.stream(texts.spliterator(), false).map(JsonElement::getAsString).map(TextTable::printable)
                .collect(Collectors.joining(", "));
    }
}
