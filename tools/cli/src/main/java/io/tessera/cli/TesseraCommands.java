package io.tessera.cli;

import io.tessera.cli.admission.AdmissionCommand;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.control.ControlException;
import io.tessera.cli.doctor.DoctorCommand;
import io.tessera.cli.fence.FenceCommand;
import io.tessera.cli.jvm.JvmCommand;
import io.tessera.cli.manager.ManagerStopCommand;
import io.tessera.cli.residency.EvictCommand;
import io.tessera.cli.residency.RestoreCommand;
import io.tessera.cli.schedule.LimitCommand;
import io.tessera.cli.schedule.PolicyCommand;
import io.tessera.cli.schedule.QuantumCommand;
import io.tessera.cli.schedule.SchedulerCommand;
import io.tessera.cli.schedule.TenantCommand;
import io.tessera.cli.segments.CountersCommand;
import io.tessera.cli.segments.ErrorsCommand;
import io.tessera.cli.simulate.SimulateCommand;
import io.tessera.cli.status.StatusCommand;
import io.tessera.cli.status.WhyCommand;
import io.tessera.cli.text.FileProblem;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Assembles the commands, and turns their exceptions into one line and an exit code. Stateless. */
public final class TesseraCommands {
    /** The parent of the commands; by itself it does nothing. */
    @Command(name = "tessera", synopsisSubcommandLabel = "COMMAND")
    private static final class Parent {
    }

    private TesseraCommands() {
    }

    /**
     * Runs a command line.
     *
     * @param arguments the command's name and its arguments
     * @return the exit code, see {@link ExitCode}
     */
    public static int execute(CommandContext context, String... arguments) {
        CommandLine line = new CommandLine(new Parent())
                .addSubcommand(new StatusCommand(context))
                .addSubcommand(new SchedulerCommand(context))
                .addSubcommand(new QuantumCommand(context))
                .addSubcommand(new PolicyCommand(context))
                .addSubcommand(new TenantCommand(context))
                .addSubcommand(new WhyCommand(context))
                .addSubcommand(new LimitCommand(context))
                .addSubcommand(new EvictCommand(context))
                .addSubcommand(new RestoreCommand(context))
                .addSubcommand(new CountersCommand(context))
                .addSubcommand(new ErrorsCommand(context))
                .addSubcommand(new JvmCommand(context))
                .addSubcommand(new DoctorCommand(context))
                .addSubcommand(new FenceCommand(context))
                .addSubcommand(new SimulateCommand(context))
                .addSubcommand(new ManagerStopCommand(context))
                .addSubcommand(new AdmissionCommand(context, InstantSource.system()));
        line.setOut(context.out()).setErr(context.err());
        line.setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF));
        line.getSubcommands().values().forEach(command -> command.getCommandSpec()
                .versionProvider(() -> new String[] {"tessera " + context.installation().version()}));
        line.setParameterExceptionHandler((e, _) -> {
            context.say(sentence(e));
            context.err().println("See: tessera help " + e.getCommandLine().getCommandName());
            return ExitCode.USAGE.number();
        });
        line.setExecutionExceptionHandler((e, _, _) -> {
            context.say(switch (e) {
                case ControlException known -> known.getMessage();
                case IOException io -> FileProblem.of(io);
                default -> e.toString();
            });
            return e instanceof ControlException known ? known.exitCode().number() : ExitCode.FAILURE.number();
        });
        List<String> joined = withPriorities(arguments);
        Optional<String> negative = negative(joined.stream().takeWhile(argument -> !argument.equals("--")).toList());
        negative.ifPresent(value -> context.say(value + " is negative: no number, size or duration here is"));
        // Otherwise it would be taken for an option, and the error would be misleading.
        int code = negative.isPresent() ? ExitCode.USAGE.number() : line.execute(joined.toArray(String[]::new));
        context.out().flush();
        context.err().flush();
        return code;
    }

    /** Returns what is wrong with an argument. The parser's own message would name Java types. */
    private static String sentence(CommandLine.ParameterException e) {
        boolean number = e.getMessage().endsWith("is not an int") || e.getMessage().endsWith("is not a long");
        return number && e.getArgSpec() instanceof CommandLine.Model.OptionSpec option
                ? option.longestName() + " " + e.getValue() + ": a whole number is needed"
                : e.getMessage();
    }

    /** Returns the first negative number, with its option if it has one. */
    private static Optional<String> negative(List<String> arguments) {
        for (int i = 0; i < arguments.size(); i++) {
            if (arguments.get(i).matches("-\\d.*")) {
                return Optional.of((i > 0 && arguments.get(i - 1).startsWith("--") ? arguments.get(i - 1) + " " : "") + arguments.get(i));
            }
        }
        return Optional.empty();
    }

    /**
     * Returns the arguments with {@code --priority -5} joined to {@code --priority=-5}. {@code tessera run} accepts both forms, too; no
     * other value may be negative.
     */
    private static List<String> withPriorities(String... arguments) {
        List<String> joined = new ArrayList<>();
        for (String argument : arguments) {
            if (!joined.isEmpty() && joined.getLast().equals("--priority") && argument.matches("-\\d.*")) {
                joined.removeLast();
                joined.add("--priority=" + argument);
            } else {
                joined.add(argument);
            }
        }
        return joined;
    }
}
