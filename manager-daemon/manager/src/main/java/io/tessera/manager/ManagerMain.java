package io.tessera.manager;

import io.tessera.manager.executors.ProcessLauncher;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.session.ManagerRunningException;
import io.tessera.manager.settings.OptionException;
import io.tessera.manager.signals.Signals;
import io.tessera.os.LinuxPort;
import io.tessera.os.linux.Linux;
import io.tessera.os.memory.OwnHostMemory;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * Starts a manager in this process. One line on standard output says that it can be reached; everything else is logged on standard error.
 *
 * <p>This class has no logger of its own: the level must be set before the first logger is created.
 */
public final class ManagerMain {
    /** The manager ended in order. */
    public static final int EXIT_ENDED = 0;
    /** The manager failed while running. */
    public static final int EXIT_FAILED = 1;
    /** An option was wrong. */
    public static final int EXIT_USAGE = 2;
    /** Another manager holds the runtime directory. */
    public static final int EXIT_RUNNING = 3;
    /** A directory or socket cannot be used. */
    public static final int EXIT_UNUSABLE = 4;

    private ManagerMain() {
    }

    /**
     * Adjustment for the out-of-memory killer: if it ended root's manager, or an executor, which inherits the value, programs of several users would
     * end.
     */
    private static final int ENDED_LATE = -800;

    /** Starts the manager; see {@code --help}. */
    public static void main(String[] arguments) {
        System.exit(run(List.of(arguments)));
    }

    private static int run(List<String> arguments) {
        if (arguments.contains("--help")) {
            System.out.print(ManagerOption.help());
            return EXIT_ENDED;
        }
        LinuxPort os = Linux.open();
        boolean check = arguments.contains("--check");
        ManagerContext context;
        try {
            context = checked(os, arguments.stream().filter(argument -> !argument.equals("--check")).toList(), System.getenv());
        } catch (OptionException e) {
            System.err.println("tessera-manager: " + e.getMessage());
            return EXIT_USAGE;
        }
        if (check) {
            System.out.println("tessera-manager: the options can be used; runtime directory " + context.directory().path() + ", segments in "
                    + context.directory().shmDirectory());
            return EXIT_ENDED;
        }
        if (os.processes().uid() == 0) {
            Linux.limits().endedEarly(ENDED_LATE);
        }
        try {
            return serve(context, os.processes().pid());
        } catch (ManagerRunningException e) {
            System.err.println("tessera-manager: " + e.getMessage());
            return EXIT_RUNNING;
        } catch (IOException e) {
            System.err.println("tessera-manager: " + e.getMessage());
            return EXIT_UNUSABLE;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return EXIT_FAILED;
        }
    }

    /**
     * Returns the configuration that a manager would have with these arguments and this environment. Also sets up the log of this process.
     *
     * @throws OptionException if the manager would not start; it names the wrong option or variable
     */
    public static ManagerContext checked(LinuxPort os, List<String> arguments, Map<String, String> environment) throws OptionException {
        ManagerContext context = ManagerContext.parse(arguments, environment, os.processes().uid());
        configureLog(context.logLevel());
        checkUser(os, context);
        ExecutorVariables.check(environment, new OwnHostMemory(why -> System.err.println("tessera-manager: " + why)).totalBytes());
        return context;
    }

    private static void checkUser(LinuxPort os, ManagerContext context) throws OptionException {
        try {
            ProcessLauncher.checkUser(os, context.executorUser(), context.directory().path());
        } catch (IOException e) {
            throw new OptionException(ManagerOption.EXECUTOR_USER.flag() + " (" + ManagerOption.EXECUTOR_USER.variable() + "): " + e.getMessage());
        }
    }

    private static void configureLog(String level) {
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", level);
        System.setProperty("org.slf4j.simpleLogger.showDateTime", "true");
        System.setProperty("org.slf4j.simpleLogger.dateTimeFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX");
        System.setProperty("org.slf4j.simpleLogger.showThreadName", "false");
        System.setProperty("org.slf4j.simpleLogger.showShortLogName", "true");
    }

    private static int serve(ManagerContext context, int pid) throws IOException, InterruptedException {
        try (Manager manager = Manager.start(context)) {
            Signals.install("USR1", () -> manager.mode(SchedulerMode.ON));
            Signals.install("USR2", () -> manager.mode(SchedulerMode.OFF));
            Signals.install("TERM", manager::stop);
            Signals.install("INT", manager::stop);
            System.out.println("tessera-manager ready pid=" + pid + " socket="
                    + context.directory().registrationSocket());
            System.out.flush();
            return manager.awaitEnd() == null ? EXIT_ENDED : EXIT_FAILED;
        }
    }
}
