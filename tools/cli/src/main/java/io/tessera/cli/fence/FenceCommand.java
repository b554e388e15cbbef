package io.tessera.cli.fence;

import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.fence.machine.MachineCodeRun;
import io.tessera.cli.fence.machine.MachineFenceWindow;
import io.tessera.cli.text.FileProblem;
import io.tessera.cli.text.ProgressLine;
import io.tessera.guardian.cache.CacheLocation;
import io.tessera.guardian.cache.CodeCache;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.image.ComputeCapability;
import io.tessera.guardian.image.FoundImage;
import io.tessera.guardian.machine.MachineFence;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tessera fence FILE...}: the offline fencer. One thread calls it. */
@Command(name = "fence", mixinStandardHelpOptions = true, sortOptions = false, header = "Fences the kernels of programs and libraries ahead of time and says what that does to each.", description = {
        "", "Finds every image in executables, libraries, archives, fat binaries, cubins and PTX files, fences its "
                + "PTX and, where there is an assembler (ptxas), compiles it into the cache that executors read: programs then "
                + "start without compiling.",
        ""}, footer = {"", "Examples",
                "  tessera fence ./simulate                  what fencing does to each kernel",
                "  tessera fence --summary /opt/libfoo.so    sums alone",
                "  tessera fence --show _Z4axpyPf ./simulate a kernel's PTX before and after",
                "  tessera fence --output out --no-cache k.ptx",
                "                                            fenced PTX and machine code as files",
                "  tessera fence --machine-code --summary /opt/libvendor.so",
                "                                            machine code: what is fenced, what is not, why",
                "  tessera fence --machine-code --show gemm --window 4G /opt/libvendor.so",
                "                                            the instructions of a kernel that change",
                "  tessera fence --trust /opt/libvendor.so   known as a vendor's beside other users' programs;",
                "                                            may run unfenced under --unfenced trusted",
                "  tessera fence --trust 21acbe...7aae71a    one image, by the hash that its refusal names",
                "                                            (the list of the user who runs the manager counts)",
                "", "Exit codes: 0 done, 1 failure, 2 wrong usage, 4 something cannot be fenced or is",
                "not there."})
public final class FenceCommand implements Callable<Integer> {
    private static final int PER_MILLE_OF_HEAP = 600;
    private static final List<String> FOR_PTX = List.of("--mode", "--arch", "--ptxas", "--no-compile", "--no-compare", "--no-cache", "--output",
            "--jobs");

    private final CommandContext context;
    private final InstantSource clock;
    private final Instant start;
    private final Function<FenceArguments, ImageFencer.Fencing> fencings;

    @Parameters(arity = "0..*", paramLabel = "FILE", description = "What to fence; with --trust also an image's hash.")
    private List<Path> files = List.of();

    @Option(names = "--mode", paramLabel = "MODE", defaultValue = "mask", description = "mask (default), modulo, check; none: no fence, for a tenant that is alone.")
    private String modeName;

    @Option(names = "--arch", paramLabel = "SM", defaultValue = "90", description = "GPU to compile for: 90, sm_90a (default: ${DEFAULT-VALUE}).")
    private String architecture;

    @Option(names = "--ptxas", paramLabel = "FILE", description = "The assembler (default: on the PATH, in CUDA_HOME, in /usr/local/cuda).")
    private Path ptxas;

    @Option(names = "--no-compile", description = "Only fence and report.")
    private boolean noCompile;

    @Option(names = "--no-compare", description = "Do not compile the unfenced code to compare registers: half the time.")
    private boolean noCompare;

    @Option(names = "--no-cache", description = "Keep compiled code out of the cache.")
    private boolean noCache;

    @Option(names = "--output", paramLabel = "DIR", description = "Write fenced PTX and machine code there.")
    private Path output;

    @Option(names = "--summary", description = "Print what is refused and the sums, not every kernel.")
    private boolean summary;

    @Option(names = "--machine-code", description = "What fences do to the machine code for sm_90 when a program loads it. Nothing is compiled or written.")
    private boolean machineCode;

    @Option(names = "--window", paramLabel = "SIZE", defaultValue = "128G", description = "With --machine-code: the tenant's window, a power of two (default: ${DEFAULT-VALUE}).")
    private String window;

    @Option(names = "--json", description = "JSON for scripts: a line an image, then one with the sums.")
    private boolean json;

    @Option(names = "--jobs", paramLabel = "N", description = "Images at once (default: as many as cores).")
    private int jobs = Runtime.getRuntime().availableProcessors();

    @ArgGroup
    private Instead instead;

    @Spec
    private CommandSpec spec;

    /** Actions that replace the fencing of files. */
    private static final class Instead {
        @Option(names = "--show", paramLabel = "KERNEL", description = "Print a kernel's PTX before and after; with --machine-code the instructions that change.")
        private String show;

        @Option(names = "--trust", description = "Trust the machine code of the files, or images by hash: hashes go into the user's list.")
        private boolean trust;

        @Option(names = "--untrust", arity = "1..*", paramLabel = "FILE|HASH", description = "Take that back.")
        private List<String> untrust;

        @Option(names = "--list-trusted", description = "Print what is trusted.")
        private boolean list;
    }

    /** Creates the command in the given context. */
    public FenceCommand(CommandContext context) {
        this(context, InstantSource.system(), request -> new VerifiedFencer(request.mode(), request.gpu().sm()));
    }

    /** Creates the command with another clock and other fencers, for tests. */
    FenceCommand(CommandContext context, InstantSource clock, Function<FenceArguments, ImageFencer.Fencing> fencings) {
        this.context = context;
        this.clock = clock;
        this.fencings = fencings;
        start = clock.instant();
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        TrustListChanges trusting = new TrustListChanges(context, LocalDate.ofInstant(clock.instant(), ZoneId.systemDefault()));
        if (instead != null && instead.list) {
            trusting.show();
            return ExitCode.OK.number();
        }
        if (instead != null && instead.untrust != null) {
            return code(trusting.untrust(instead.untrust));
        }
        if (files.isEmpty()) {
            throw wrong("which files? See the examples");
        }
        boolean trust = instead != null && instead.trust;
        Optional<Path> missing = files.stream().filter(file -> !Files.isRegularFile(file)
                && !(trust && TrustListChanges.isHash(file.toString()))).findFirst();
        if (missing.isPresent()) {
            context.say((Files.isDirectory(missing.get()) ? missing.get() + " is a directory, not a file: name"
                    + " the programs and libraries in it" : Files.exists(missing.get()) ? missing.get() + " is not a regular file"
                    : "there is no file " + missing.get()));
            return ExitCode.FAILURE.number();
        }
        if (trust) {
            return code(trusting.trust(files.stream().map(Path::toString).toList(), checkedJobs(), new ProgressLine(context.out(),
                    context.terminal(), () -> Duration.between(start, clock.instant()).toNanos(), "images")));
        }
        if (machineCode) {
            return machineCode().number();
        }
        if (isGiven("--window")) {
            throw wrong("--window is for --machine-code");
        }
        FenceArguments request = request();
        return instead != null && instead.show != null ? show(request, instead.show) : fence(request);
    }

    private static int code(boolean all) {
        return (all ? ExitCode.OK : ExitCode.REFUSED).number();
    }

    private ParameterException wrong(String sentence) {
        return new ParameterException(spec.commandLine(), sentence);
    }

    private int checkedJobs() {
        if (jobs < 1) {
            throw wrong("--jobs " + jobs + ": at least 1");
        }
        return jobs;
    }

    private boolean isGiven(String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    private ExitCode machineCode() throws IOException {
        for (String option : FOR_PTX) {
            if (isGiven(option)) {
                throw wrong(option + " does not go with --machine-code");
            }
        }
        MachineFence fence = MachineFenceWindow.of(window).orElseThrow(() -> wrong("--window " + window + ": " + MachineFenceWindow.ACCEPTED));
        MachineCodeRun run = new MachineCodeRun(context, fence, FenceRun::scan, () -> Duration.between(start, clock.instant()).toNanos());
        return instead != null && instead.show != null ? run.show(files, instead.show) : run.report(files, !summary, json);
    }

    private FenceArguments request() throws IOException {
        FenceMode mode;
        try {
            mode = FenceMode.valueOf(modeName.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw wrong("--mode " + modeName + ": a fence is mask, modulo, check or none");
        }
        String sm = architecture.replaceFirst("^(sm|compute)_", "");
        checkedJobs();
        if (!sm.matches("\\d{2,3}[af]?")) {
            throw wrong("--arch " + architecture + ": for example 90");
        }
        Assembler assembler = assembler();
        if (output != null) {
            try {
                Files.createDirectories(output);
            } catch (IOException e) {
                throw wrong("--output " + output + ": the directory cannot be made: " + FileProblem.of(e));
            }
        }
        return new FenceArguments(mode, sm, ComputeCapability.ofSm(Integer.parseInt(sm.replaceAll("\\D", ""))),
                assembler, !noCompare, !noCache, output,
                ManagementFactory.getThreadMXBean()::getCurrentThreadCpuTime);
    }

    private Assembler assembler() {
        if (noCompile || instead != null) {
            return null;
        }
        Optional<Path> found = ptxas == null ? Ptxas.find(context.environment()) : Optional.of(ptxas);
        if (found.isEmpty()) {
            context.say("no ptxas is found (--ptxas names one): nothing is compiled");
            return null;
        }
        if (!Files.isExecutable(found.get())) {
            throw wrong("--ptxas " + ptxas + " is no program");
        }
        return new Ptxas(found.get());
    }

    private int show(FenceArguments request, String kernel) throws IOException {
        ImageFencer.Fencing fencing = fencings.apply(request);
        for (Path file : files) {
            try (Arena arena = Arena.ofShared()) {
                for (FoundImage image : FenceRun.scan(file, arena)) {
                    Optional<List<String>> lines = KernelText.of(image, kernel, request.gpu(), fencing, context.style());
                    if (lines.isPresent()) {
                        lines.get().forEach(context.out()::println);
                        return ExitCode.OK.number();
                    }
                }
            } catch (FenceRefusedException e) {
                context.say(kernel + " is refused: " + e.getMessage());
                return ExitCode.REFUSED.number();
            }
        }
        context.say("no kernel " + kernel + " with PTX for this GPU");
        return ExitCode.REFUSED.number();
    }

    private int fence(FenceArguments request) throws IOException, InterruptedException {
        CodeCache cache = noCache || request.assembler() == null ? CodeCache.none()
                : CodeCache.open(CacheLocation.of(context.environment(), context.uid(), TrustListChanges.home(context)),
                        CodeCache.DEFAULT_LIMIT_BYTES, clock, line -> context.say(line));
        ImageFencer fencer = new ImageFencer(request, fencings.apply(request), cache);
        FenceRun run = new FenceRun(fencer, jobs, Runtime.getRuntime().maxMemory() / 1000 * PER_MILLE_OF_HEAP);
        OutcomeTotals totals = new OutcomeTotals();
        FencePrinter printer = new FencePrinter(context, totals, json, !summary,
                () -> Duration.between(start, clock.instant()).toNanos());
        for (Path file : files) {
            run.file(file, printer);
        }
        printer.end(request.assembler() != null);
        return code(totals.refused() + totals.dropped() + totals.machineCodeAlone() == 0 && totals.images() > 0);
    }
}
