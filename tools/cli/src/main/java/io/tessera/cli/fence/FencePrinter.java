package io.tessera.cli.fence;

import io.tessera.cli.context.CommandContext;
import io.tessera.cli.text.ProgressLine;
import io.tessera.cli.text.TextTable;
import io.tessera.guardian.image.FoundImage;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.LongSupplier;

/** Prints outcomes as they arrive, and the progress between them. One thread. */
final class FencePrinter implements FenceRun.Listener {
    private final PrintWriter out;
    private final CommandContext context;
    private final OutcomeTotals totals;
    private final boolean json;
    private final boolean kernels;
    private final ProgressLine progress;

    FencePrinter(CommandContext context, OutcomeTotals totals, boolean json, boolean kernels, LongSupplier nanoTime) {
        this.context = context;
        this.totals = totals;
        this.json = json;
        this.kernels = kernels;
        out = context.out();
        progress = new ProgressLine(out, context.terminal(), nanoTime, "PTX");
    }

    @Override
    public void file(String name, List<FoundImage> images) {
        if (json) {
            return;
        }
        if (images.isEmpty()) {
            out.println(TextTable.printable(name) + ": no image");
        }
        progress.file(name, images.size());
    }

    @Override
    public void outcome(FenceOutcome outcome) {
        totals.add(outcome);
        if (json) {
            out.println(FenceJson.image(outcome));
            return;
        }
        progress.image(outcome.ptxBytes());
        List<String> lines = FenceText.image(outcome, kernels, context.style());
        if (!lines.isEmpty()) {
            progress.clear();
            lines.forEach(out::println);
        }
        progress.show();
    }

    /** Prints the sums. */
    void end(boolean compiled) {
        progress.clear();
        if (json) {
            out.println(FenceJson.totals(totals));
        } else {
            FenceText.totals(totals, compiled, context.style()).forEach(out::println);
        }
    }
}
