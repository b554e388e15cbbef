package io.tessera.attacks;

import io.tessera.clock.Clocks;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command. Exit code 0: all attacks failed as required, or with {@code --control} the suite saw the required escapes; 1: otherwise; 2:
 * usage.
 */
@Command(name = "attacks", mixinStandardHelpOptions = true, sortOptions = false, description = "Runs every attack of a tenant against another one and counts what succeeds.")
public final class AttacksMain implements Callable<Integer> {
    /** Minimum number of attacks that must succeed without protection; with fewer, the suite would prove nothing. */
    private static final int CONTROL_ESCAPES = 20;

    @Option(names = "--home", paramLabel = "DIR", description = "a built tree or a kit (default: ${DEFAULT-VALUE})")
    private Path home = Path.of(System.getProperty("tessera.root", "."));
    @Option(names = "--device", paramLabel = "software|nvidia", description = "default: ${DEFAULT-VALUE}")
    private String device = "software";
    @Option(names = "--only", paramLabel = "GLOB", split = ",", description = "attacks by name, as load/*")
    private List<String> only = new ArrayList<>();
    @Option(names = "--except", paramLabel = "GLOB", split = ",", description = "attacks to leave out")
    private List<String> except = new ArrayList<>();
    @Option(names = "--manager", paramLabel = "OPTION", description = "a further option of the manager; may be repeated")
    private List<String> manager = new ArrayList<>();
    @Option(names = "--env", paramLabel = "NAME=VALUE", description = "more environment of the attackers")
    private Map<String, String> environment = new HashMap<>();
    @Option(names = "--seed", paramLabel = "NUMBER", description = "of the secret; default: any, and said")
    private Long seed;
    @Option(names = "--stall-ms", paramLabel = "MS", description = "longest computation of the victim (${DEFAULT-VALUE})")
    private long stallMs = 5000;
    @Option(names = "--seconds", paramLabel = "SECONDS", description = "bound of an attacker (${DEFAULT-VALUE})")
    private int seconds = 20;
    @Option(names = "--lanes", paramLabel = "NUMBER", description = "attacks at once, each against a victim of its own")
    private int lanes = AttackSettings.usualLanes(Runtime.getRuntime().availableProcessors());
    @Option(names = "--limit", paramLabel = "SECONDS", description = "begin no attack after this time (${DEFAULT-VALUE})")
    private long limitSeconds = 3600;
    @Option(names = "--times", paramLabel = "NUMBER", description = "run each attack so often (${DEFAULT-VALUE})")
    private int times = 1;
    @Option(names = "--control", description = "run without fences: succeed if the suite sees escapes")
    private boolean control;
    @Option(names = "--json", description = "print one JSON object; the table goes to stderr")
    private boolean json;
    @Option(names = "--out", paramLabel = "FILE", description = "keep the JSON object there from the first verdict on")
    private Path out;
    @Option(names = "--list", description = "print the attacks and what must happen, and run none")
    private boolean list;

    /** Runs the command. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new AttacksMain()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        AttackInstallation place = AttackInstallation.of(home.toAbsolutePath().normalize());
        if (!place.missing().isEmpty()) {
            System.err.println("attacks: build first, this is missing: " + place.missing());
            return 2;
        }
        long chosen = seed == null ? new Random().nextLong() >>> 1 : seed;
        List<String> options = new ArrayList<>(List.of("--executors", device));
        options.addAll(manager);
        AttackSettings settings = new AttackSettings(place, options, environment, only, except, chosen, seconds, stallMs,
                lanes, limitSeconds, times, control);
        if (list) {
            for (Attack attack : AttackList.of(place.kernels(), place.programs(), settings::wants)) {
                System.out.printf("%-28s %-9s %s%n", attack.name(), attack.must().word(), attack.what());
            }
            return 0;
        }
        PrintStream lines = json ? System.err : System.out;
        lines.println("seed " + chosen + ", device " + device + ", lanes " + lanes);
        Path folder = Files.createTempDirectory("tessera-attacks-");
        SuiteReport report = new AttackSuite(settings, folder, Clocks.system().monotonic()).run(known -> {
            lines.println(SuiteReport.line(known.verdicts().getLast()));
            keep(known);
        });
        keep(report);
        if (json) {
            System.out.println(report.json());
        } else {
            System.out.println("logs: " + folder);
            report.sums().forEach(System.out::println);
        }
        return (control ? report.escapes() >= CONTROL_ESCAPES : report.held()) ? 0 : 1;
    }

    /** Writes the results so far, for a user who ends this program early. */
    private void keep(SuiteReport report) {
        if (out == null) {
            return;
        }
        try {
            Path next = out.resolveSibling(out.getFileName() + ".next");
            Files.writeString(next, report.json() + "\n");
            Files.move(next, out, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
