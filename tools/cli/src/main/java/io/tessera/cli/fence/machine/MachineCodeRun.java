package io.tessera.cli.fence.machine;

import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.text.ProgressLine;
import io.tessera.cli.text.Style.Emphasis;
import io.tessera.cli.text.TextTable;
import io.tessera.guardian.image.FoundImage;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.LongSupplier;

/** Reports the effect of fences on the machine code of files. One thread calls it; an image is fenced on all cores. */
public final class MachineCodeRun {
    /** Finds the images of a file. */
    @FunctionalInterface
    public interface Scan {
        /**
         * The images.
         *
         * @param arena arena whose lifetime bounds that of the images
         */
        List<FoundImage> images(Path file, Arena arena) throws IOException;
    }

    private final CommandContext context;
    private final MachineFence fence;
    private final Scan scan;
    private final ProgressLine progress;

    /**
     * Creates a run.
     *
     * @param fence    the fence, which includes the window
     * @param nanoTime clock for the progress, which is shown on standard error if that is a terminal
     */
    public MachineCodeRun(CommandContext context, MachineFence fence, Scan scan, LongSupplier nanoTime) {
        this.context = context;
        this.fence = fence;
        this.scan = scan;
        progress = new ProgressLine(context.err(), true, nanoTime, "machine code");
    }

    /**
     * Prints the outcome for every kernel.
     *
     * @param all  whether fenced kernels are listed, too; otherwise only refused kernels and sums are
     * @param json whether it is printed as JSON
     * @throws IOException if a file cannot be read
     */
    public ExitCode report(List<Path> files, boolean all, boolean json) throws IOException {
        MachineTotals totals = new MachineTotals();
        try {
            for (Path file : files) {
                file(file, all, json, totals);
            }
        } finally {
            progress.clear();
            context.err().flush();
        }
        if (json) {
            context.out().println(MachineJson.totals(totals, fence));
        } else if (totals.images() > 0) {
            MachineText.totals(totals, MachineFenceWindow.text(fence), context.style()).forEach(context.out()::println);
        }
        return totals.isWhole() ? ExitCode.OK : ExitCode.REFUSED;
    }

    private void file(Path file, boolean all, boolean json, MachineTotals totals) throws IOException {
        boolean found = false;
        Set<String> architectures = new LinkedHashSet<>();
        try (Arena arena = Arena.ofShared()) {
            List<FoundImage> images = scan.images(file, arena);
            if (context.errorTerminal()) {
                progress.file(file.toString(), images.size());
            }
            for (FoundImage image : images) {
                CubinOutcome outcome = CubinOutcome.of(image, fence);
                totals.add(outcome);
                architectures.addAll(outcome.code().architectures());
                found |= outcome.hasCode();
                progress.image(image.sizeBytes());
                print(file, outcome, all, json);
                progress.show();
            }
            progress.clear();
        }
        if (!found) {
            context.say(noCode(file.toString(), architectures));
        }
    }

    private void print(Path file, CubinOutcome outcome, boolean all, boolean json) {
        List<String> lines = json ? outcome.hasCode() ? List.of(MachineJson.image(file.toString(), outcome).toString()) : List.of()
                : MachineText.image(file.toString(), outcome, all, context.style());
        if (!lines.isEmpty()) {
            progress.clear();
            context.err().flush();
            lines.forEach(context.out()::println);
        }
    }

    private static String noCode(String where, Set<String> architectures) {
        return where + " has no machine code for sm_" + DeviceCode.SM
                + (architectures.isEmpty() ? "" : "; it has machine code for " + String.join(", ", architectures));
    }

    /**
     * Prints the instructions of a kernel that fencing changes, with their surroundings.
     *
     * @throws IOException if a file cannot be read
     */
    public ExitCode show(List<Path> files, String kernel) throws IOException {
        Set<String> names = new LinkedHashSet<>();
        Set<String> architectures = new LinkedHashSet<>();
        for (Path file : files) {
            try (Arena arena = Arena.ofShared()) {
                for (FoundImage image : scan.images(file, arena)) {
                    Set<String> functions = functions(image, architectures);
                    if (functions.contains(kernel)) {
                        return show(file, CubinOutcome.of(image, fence), kernel);
                    }
                    names.addAll(functions);
                }
            }
        }
        String where = files.size() == 1 ? files.getFirst().toString() : "of the files none";
        if (names.isEmpty()) {
            context.say(noCode(where, architectures));
        } else {
            List<String> near = NearNames.of(kernel, names).stream().map(TextTable::printable).toList();
            context.say("no kernel " + kernel + " in the machine code for sm_" + DeviceCode.SM + " (" + names.size() + " kernels)"
                    + (near.isEmpty() ? "" : "; near names: " + String.join(", ", near)));
        }
        return ExitCode.REFUSED;
    }

    /** Returns the names of functions in an image's code; none if it cannot be read, for which the report gives the reason. */
    private static Set<String> functions(FoundImage image, Set<String> architectures) {
        Set<String> names = new LinkedHashSet<>();
        try {
            DeviceCode code = DeviceCode.of(image);
            architectures.addAll(code.architectures());
            if (code.cubin() != null) {
                Cubin.read(code.cubin()).code().forEach(section -> names.add(section.functionName(CubinSection.CODE)));
            }
        } catch (ImageException | MachineCodeException e) {
            return names;
        }
        return names;
    }

    private ExitCode show(Path file, CubinOutcome outcome, String kernel) {
        FunctionFence function = outcome.functions().stream().filter(each -> each.report().name().equals(kernel)).findFirst().orElse(null);
        if (function == null || !function.report().isFenced()) {
            context.say(kernel + " is refused: " + (function == null ? outcome.refused() : MachineText.refusal(function)));
            return ExitCode.REFUSED;
        }
        CodeChanges changes;
        try {
            changes = CodeChanges.between(words(outcome.code().cubin(), kernel), words(outcome.fenced(), kernel));
        } catch (MachineCodeException e) {
            context.say(kernel + " cannot be shown: " + e.getMessage());
            return ExitCode.FAILURE;
        }
        context.out().println(
                context.style().apply(Emphasis.HEADING, TextTable.printable(kernel) + ", " + TextTable.printable(file + ", " + outcome.where())
                        + " at 0x" + Long.toHexString(outcome.place())));
        context.out().println(String.format(Locale.ROOT, "  %d accesses, %d instructions inserted, %d changed, %d with another distance; %s",
                function.report().accesses(), changes.inserted(), changes.changed(), changes.moved(), MachineFenceWindow.text(fence)));
        if (function.trusted() != null) {
            context.out().println("  on trust: " + MachineText.trusted(function));
        }
        if (!function.maps().isEmpty()) {
            context.out().println("  tensor maps " + MachineText.maps(function.maps()));
        }
        changes.lines(context.style()).forEach(context.out()::println);
        if (!function.isFenced()) {
            context.say(kernel + " is refused: " + MachineText.refusal(function));
        }
        return function.isFenced() ? ExitCode.OK : ExitCode.REFUSED;
    }

    private static long[] words(byte[] cubin, String kernel) throws MachineCodeException {
        CubinSection section = Cubin.read(cubin).section(CubinSection.CODE + kernel);
        if (section == null) {
            throw new MachineCodeException("it has no code");
        }
        return CodeReader.words(section);
    }
}
