package io.tessera.cli.fence;

import io.tessera.cli.text.Sizes;
import io.tessera.cli.text.Style;
import io.tessera.cli.text.Style.Emphasis;
import io.tessera.cli.text.TextTable;
import io.tessera.cli.text.TextTable.Cell;
import io.tessera.cli.text.TextTable.Side;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.image.FoundImage;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Formats outcomes for people. Stateless. */
final class FenceText {
    private static final int NAME_WIDTH = 48;
    private static final String NONE = "-";

    private FenceText() {
    }

    /** Returns the lines of one image: a description, then a table of its kernels or the reason for its refusal. */
    static List<String> image(FenceOutcome outcome, boolean kernels, Style style) {
        String what = TextTable.printable(outcome.file()) + ", " + TextTable.printable(outcome.where()) + " at 0x"
                + Long.toHexString(outcome.offset()) + ", " + outcome.made()
                + (outcome.ptxBytes() > 0 ? ", " + Sizes.format(outcome.ptxBytes()) + " of PTX" : "");
        List<String> lines = new ArrayList<>();
        if (kernels || !outcome.accepted() || !outcome.dropped().isEmpty()) {
            lines.add(style.apply(Emphasis.HEADING, what));
        }
        if (!outcome.accepted()) {
            lines.add("  " + style.apply(Emphasis.BAD, FoundImage.isRelocatable(outcome.where()) && outcome.ptxBytes() == 0 ? "left out" : "refused")
                    + ": " + TextTable.printable(outcome.refused()));
        }
        outcome.dropped().forEach((kernel, why) -> lines.add("  " + style.apply(Emphasis.BAD, "left out") + ": " + shortened(kernel) + ": "
                + TextTable.printable(why)));
        if (kernels && !outcome.reports().isEmpty()) {
            lines.addAll(table(outcome).lines("  ", style));
            for (KernelReport report : outcome.reports()) {
                report.notes().forEach(note -> lines.add("  " + shortened(report.name()) + ": " + note));
                if (report.waits() != null) {
                    lines.add("  " + shortened(report.name()) + ": may wait for other blocks: " + report.waits());
                }
            }
        }
        if (kernels && !outcome.written().isEmpty()) {
            lines.add("  written: " + String.join(", ", outcome.written()));
        }
        return lines;
    }

    private static TextTable table(FenceOutcome outcome) {
        boolean resources = !outcome.after().isEmpty();
        TextTable table = new TextTable().column("KERNEL", Side.LEFT).column("GLOBAL", Side.RIGHT)
                .column("GENERIC", Side.RIGHT).column("SHARED", Side.RIGHT).column("LOCAL", Side.RIGHT)
                .column("OTHER", Side.RIGHT).column("FENCES", Side.RIGHT).column("PROVED", Side.RIGHT);
        if (resources) {
            table.column("REGISTERS", Side.RIGHT).column("SPILLED", Side.RIGHT);
        }
        for (KernelReport report : outcome.reports()) {
            List<Cell> row = new ArrayList<>();
            row.add(Cell.of((report.kernel() ? "" : "(function) ") + shortened(report.name())));
            for (String space : AccessSpaces.NAMES) {
                row.add(Cell.of(number(AccessSpaces.count(report.accesses(), space))));
            }
            row.add(Cell.of(number(sum(report.fences()))));
            row.add(Cell.of(number(sum(report.proved()))));
            if (resources) {
                KernelResources before = outcome.before().get(report.name());
                KernelResources after = outcome.after().get(report.name());
                boolean spills = after != null && after.spillBytes() > (before == null ? 0 : before.spillBytes());
                row.add(Cell.of(change(before == null ? null : before.registers(),
                        after == null ? null : after.registers())));
                row.add(new Cell(change(before == null ? null : before.spillBytes(),
                        after == null ? null : after.spillBytes()), spills ? Emphasis.CAUTION : Emphasis.NONE));
            }
            table.row(row);
        }
        return table;
    }

    private static String change(Integer before, Integer after) {
        return after == null ? NONE : before == null || before.equals(after) ? after.toString() : before + " > " + after;
    }

    private static String number(int count) {
        return count == 0 ? NONE : Integer.toString(count);
    }

    private static int sum(Map<?, Integer> counts) {
        return counts.values().stream().mapToInt(Integer::intValue).sum();
    }

    private static String shortened(String name) {
        String printable = TextTable.printable(name);
        return printable.length() <= NAME_WIDTH ? printable : printable.substring(0, NAME_WIDTH - 3) + "...";
    }

    /** Returns the last lines: sums over all images. */
    static List<String> totals(OutcomeTotals totals, boolean compiled, Style style) {
        List<String> lines = new ArrayList<>();
        int usable = totals.images() - totals.machineCodeAlone() - totals.partsWithoutPtx() - totals.forOtherGpus();
        lines.add(style.apply(Emphasis.HEADING, totals.images() + " images, " + usable + " with PTX for this GPU ("
                + Sizes.format(totals.ptxBytes()) + "), " + totals.kernels() + " kernels; "
                + (totals.refused() == 0 ? totals.dropped() == 0 ? "none refused" : "no image refused" : totals.refused() + " refused")
                + (totals.dropped() == 0 ? "" : ", " + totals.dropped() + " kernels left out")));
        if (totals.machineCodeAlone() > 0) {
            lines.add("  " + style.apply(Emphasis.CAUTION, totals.machineCodeAlone()
                    + " images are machine code alone: they are refused, moved to time sharing or trusted; --machine-code tells what fences do to them"));
        }
        if (totals.partsWithoutPtx() > 0) {
            lines.add("  " + totals.partsWithoutPtx() + " parts have no PTX: a program is linked without them, and refused if it needs them");
        }
        if (totals.forOtherGpus() > 0) {
            lines.add("  " + totals.forOtherGpus() + " images have nothing for this GPU");
        }
        if (totals.waiting() > 0) {
            lines.add("  " + totals.waiting()
                    + " kernels may wait for other blocks of their grid, so that they are not confined to a part of the processors");
        }
        lines.add("  accesses  " + listed(totals.accesses()));
        lines.add("  fences    " + listed(totals.fences()));
        lines.add("  proved    " + listed(totals.proved()));
        if (compiled && totals.compared() > 0) {
            lines.add("  registers more in " + totals.moreRegisters() + " of " + totals.compared()
                    + " kernels, spills more in " + totals.spilling());
        }
        lines.add(String.format(Locale.ROOT, "  read and fenced at %.1f MB of PTX a second and core",
                totals.bytesPerSecond() / 1e6));
        return lines;
    }

    private static String listed(Map<String, Integer> counts) {
        return counts.isEmpty() ? "none" : counts.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()))
                .map(one -> one.getKey() + " " + one.getValue()).collect(Collectors.joining(", "));
    }
}
