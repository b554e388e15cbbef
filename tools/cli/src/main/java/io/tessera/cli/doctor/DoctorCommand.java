package io.tessera.cli.doctor;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.control.ControlClient;
import io.tessera.cli.doctor.DoctorFinding.Level;
import io.tessera.cli.probe.Probe;
import io.tessera.cli.text.Style.Emphasis;
import io.tessera.cli.text.TextTable;
import io.tessera.protocol.RuntimeDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code tessera doctor}: checks the installation: findings, faults, remedies. One thread. */
@Command(name = "doctor", mixinStandardHelpOptions = true, header = "Looks at Java, the preload library, the driver, the manager and their surroundings.", footer = {
        "", "A machine without a GPU is a note, not a problem. Exit codes: 0 nothing is wrong, 1 something is,",
        "2 wrong usage."})
public final class DoctorCommand implements Callable<Integer> {
    private final CommandContext context;

    @Option(names = "--json", description = "The findings, and the probe's report as it is, as one JSON object.")
    private boolean json;

    /** Creates the command in the given context. */
    public DoctorCommand(CommandContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws InterruptedException {
        RuntimeDirectory runtime = context.runtime();
        int manager = managersUser(runtime.path());
        Probe.Outcome probe = Probe.run(context.installation().probe(), Probe.PATIENCE);
        List<DoctorCheck> checks = List.of(
                new JavaCheck(Runtime.version(), System.getProperty("java.home")),
                new NativeLibraryCheck(context.installation().nativeFolder(), HostGlibc.version()),
                new DriverCheck(probe),
                new ManagerCheck(new ControlClient(runtime.controlSocket(), ControlClient.PATIENCE),
                        context.installation().version()),
                new RuntimeDirectoryCheck(runtime.path(), context.uid()),
                new SharedMemoryCheck(RuntimeDirectory.of(context.environment(), manager).shmDirectory(), manager),
                new PreloadCheck(context.environment(), Path.of("/etc/ld.so.preload"),
                        context.installation().nativeFolder()));
        List<DoctorFinding> findings = checks.stream().flatMap(check -> check.findings().stream()).toList();
        if (json) {
            context.out().println(json(findings, probe));
        } else {
            print(findings);
        }
        return (findings.stream().anyMatch(f -> f.level() == Level.PROBLEM) ? ExitCode.FAILURE : ExitCode.OK).number();
    }

    /** Returns the user of the manager: root if the directory is root's, whose manager serves all users, or else this user. */
    private int managersUser(Path runtime) {
        try {
            return Files.getAttribute(runtime, "unix:uid", LinkOption.NOFOLLOW_LINKS).equals(0) ? 0 : context.uid();
        } catch (IOException e) {
            return context.uid(); // it does not exist yet
        }
    }

    private void print(List<DoctorFinding> findings) {
        for (DoctorFinding finding : findings) {
            Emphasis emphasis = switch (finding.level()) {
                case OK -> Emphasis.GOOD;
                case NOTE -> Emphasis.CAUTION;
                case PROBLEM -> Emphasis.BAD;
            };
            String level = finding.level().name().toLowerCase(Locale.ROOT);
            context.out().println(context.style().apply(emphasis, String.format(Locale.ROOT, "%-8s", level))
                    + finding.subject() + ": " + TextTable.printable(finding.text()));
            if (!finding.advice().isEmpty()) {
                context.out().println("        -> " + TextTable.printable(finding.advice()));
            }
        }
        long problems = findings.stream().filter(f -> f.level() == Level.PROBLEM).count();
        context.out().println(problems == 0 ? "nothing is wrong"
                : problems + (problems == 1 ? " problem" : " problems"));
    }

    private static String json(List<DoctorFinding> findings, Probe.Outcome probe) {
        JsonArray list = new JsonArray();
        for (DoctorFinding finding : findings) {
            JsonObject one = new JsonObject();
            one.addProperty("level", finding.level().name().toLowerCase(Locale.ROOT));
            one.addProperty("subject", finding.subject());
            one.addProperty("text", finding.text());
            one.addProperty("advice", finding.advice());
            list.add(one);
        }
        JsonObject all = new JsonObject();
        all.addProperty("ok", findings.stream().noneMatch(f -> f.level() == Level.PROBLEM));
        all.add("findings", list);
        if (probe instanceof Probe.Reported reported) {
            JsonElement report = new GsonBuilder().create().toJsonTree(reported.report());
            all.add("probe", report);
        }
        return all.toString();
    }
}
