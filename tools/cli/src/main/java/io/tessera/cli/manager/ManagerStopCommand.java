package io.tessera.cli.manager;

import com.google.gson.JsonObject;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.control.ControlClient;
import io.tessera.cli.control.ControlException;
import io.tessera.cli.control.ControlException.Kind;
import io.tessera.cli.status.StatusAnswer;
import io.tessera.cli.text.TextTable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code tessera manager stop --programs}, and {@code tessera manager stop} without a usable pid file: ends the manager that answers on the
 * sockets. One thread.
 */
@Command(name = "manager-stop", hidden = true, header = "Ends the manager, and with --programs what it knows of.")
public final class ManagerStopCommand implements Callable<Integer> {
    /** Time limit: programs get 5 s, executors 15 s. */
    private static final Duration END = Duration.ofSeconds(40);
    private static final Duration LOOK = Duration.ofMillis(50);

    private final CommandContext context;

    @Option(names = "--programs", description = "End all programs and executors, too.")
    private boolean programs;

    @Option(names = "--yes", description = "Do not ask.")
    private boolean yes;

    /** Creates the command in the given context. */
    public ManagerStopCommand(CommandContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws ControlException, IOException, InterruptedException {
        ControlClient client = new ControlClient(context.runtime().controlSocket(), ControlClient.PATIENCE);
        StatusAnswer status;
        try {
            status = StatusAnswer.of(client.ask("status"));
        } catch (ControlException e) {
            if (e.kind() != Kind.NO_MANAGER || !programs) {
                throw e;
            }
            return withoutManager(context.runtime().path(), e);
        }
        if (programs && !agrees(question(status))) {
            context.say("nothing was ended");
            return ExitCode.FAILURE.number();
        }
        JsonObject request = new JsonObject();
        request.addProperty("request", "stop");
        request.addProperty("programs", programs);
        client.ask(request);
        if (!hasEnded(client)) {
            context.say("the manager (pid " + status.manager().pid() + ") still runs after " + END.toSeconds()
                    + " s; look at tessera manager logs");
            return ExitCode.FAILURE.number();
        }
        context.out().println("manager stopped: pid " + status.manager().pid());
        return ExitCode.OK.number();
    }

    private String question(StatusAnswer status) {
        // Names of other users' programs are hidden from a user who may not end them; the manager refuses by itself.
        status.clients().stream().filter(program -> program.pid() != 0).forEach(program -> context.out().println("  pid " + program.pid() + ", "
                + TextTable.printable(program.command()) + ", tenant " + TextTable.printable(program.tenant())));
        return "This ends " + counted(status.clients().size(), "program") + ", "
                + counted((int) status.executors().stream().filter(executor -> executor.pid() != 0).count(), "executor")
                + " and the manager.";
    }

    private static String counted(int count, String what) {
        return count + " " + what + (count == 1 ? "" : "s");
    }

    private boolean agrees(String sentence) throws IOException {
        if (yes) {
            return true;
        }
        context.out().print(sentence + " End them? [y/N] ");
        context.out().flush();
        StringBuilder answer = new StringBuilder();
        int next;
        while ((next = System.in.read()) >= 0 && next != '\n') {
            answer.append((char) next);
        }
        return List.of("y", "yes").contains(answer.toString().strip().toLowerCase(Locale.ROOT));
    }

    private boolean hasEnded(ControlClient client) throws ControlException, InterruptedException {
        for (long looks = END.dividedBy(LOOK); looks > 0; looks--) {
            try {
                client.ask("ping");
            } catch (ControlException e) {
                if (e.kind() == Kind.NO_MANAGER) {
                    return true;
                }
                if (e.kind() != Kind.UNREACHABLE && e.kind() != Kind.MALFORMED && e.kind() != Kind.TIMEOUT) {
                    throw e; // the others are what one hears of a manager that is just ending
                }
            }
            context.pause().await(LOOK);
        }
        return false;
    }

    private int withoutManager(Path runtime, ControlException none) throws ControlException, IOException, InterruptedException {
        List<LivingExecutor> living = LivingExecutor.in(runtime);
        if (living.isEmpty()) {
            throw none;
        }
        if (!agrees("No manager runs. This ends " + counted(living.size(), "executor") + "; programs in them get an error.")) {
            context.say("nothing was ended");
            return ExitCode.FAILURE.number();
        }
        for (LivingExecutor executor : living) {
            executor.end(END, context.pause());
            context.out().println("executor " + executor.ordinal() + " stopped");
        }
        return ExitCode.OK.number();
    }
}
