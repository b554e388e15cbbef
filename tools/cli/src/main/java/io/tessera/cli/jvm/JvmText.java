package io.tessera.cli.jvm;

import io.tessera.cli.text.Durations;
import io.tessera.cli.text.Sizes;
import io.tessera.cli.text.Style;
import io.tessera.cli.text.Style.Emphasis;
import io.tessera.cli.text.TextTable;
import io.tessera.cli.text.TextTable.Cell;
import io.tessera.cli.text.TextTable.Side;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Reports for people. Pure. */
final class JvmText {
    private static final String INDENT = "  ";
    private static final Cell NONE = Cell.of("-");

    private final Style style;

    JvmText(Style style) {
        this.style = style;
    }

    /** One JVM; a part that was not asked for is absent. */
    List<String> of(JvmReport report) {
        GpuSummary summary = report.summary();
        List<String> lines = new ArrayList<>();
        lines.add(style.apply(Emphasis.HEADING, "pid " + report.process().pid() + ", "
                + TextTable.printable(report.process().program())) + ", agent " + TextTable.printable(summary.version())
                + ", recording " + TextTable.printable(summary.recording()) + ", driver " + driver(summary.driver()));
        lines.add(INDENT + Sizes.format(summary.liveBytes()) + " in " + summary.liveAllocations() + " allocations, "
                + summary.launches() + " launches and calls, " + Durations.format(summary.turnWaitNs())
                + " waited for turns");
        if (report.unseen()) {
            lines.add(INDENT + style.apply(Emphasis.CAUTION, unseen(report.process())));
        }
        if (summary.evictedBytes() > 0) {
            lines.add(INDENT + Sizes.format(summary.evictedBytes()) + " moved off the GPU for others, "
                    + Sizes.format(summary.swappedBytes()) + " are off it now");
        }
        if (summary.suppressed() > 0 || summary.dropped() > 0) {
            lines.add(INDENT + style.apply(Emphasis.CAUTION, "not seen: " + summary.dropped()
                    + " events found a table full, " + summary.suppressed() + " errors of the agent were suppressed"));
        }
        if (report.heap() != null) {
            section(lines, "Device memory by call site", report.heap().isEmpty(), "none", heap(report.heap()));
        }
        if (report.leaks() != null) {
            String age = Durations.format(TimeUnit.MILLISECONDS.toNanos(report.olderMs()));
            section(lines, "Older than " + age, report.leaks().isEmpty(), "none", leaks(report.leaks()));
        }
        if (report.launchers() != null) {
            section(lines, "Launches by call site", report.launchers().isEmpty(), "none",
                    launchers(report.launchers()));
        }
        return lines;
    }

    /** The JVMs with the agent. */
    List<String> list(List<JvmReport> jvms) {
        TextTable table = new TextTable().column("PID", Side.RIGHT).column("PROGRAM", Side.LEFT)
                .column("DRIVER", Side.LEFT).column("RECORDING", Side.LEFT).column("LIVE", Side.RIGHT)
                .column("ALLOCATIONS", Side.RIGHT).column("LAUNCHES", Side.RIGHT).column("WAITED", Side.RIGHT);
        for (JvmReport jvm : jvms) {
            GpuSummary summary = jvm.summary();
            String pid = Long.toString(jvm.process().pid());
            if (summary == null) {
                table.row(List.of(Cell.of(pid), Cell.of(jvm.process().program()), Cell.of(jvm.unseen() ? "not seen" : "no CUDA seen"), NONE, NONE,
                        NONE, NONE, NONE));
                continue;
            }
            table.row(List.of(Cell.of(pid), Cell.of(jvm.process().program()),
                    Cell.of(driver(summary.driver())), Cell.of(summary.recording()),
                    Cell.of(Sizes.format(summary.liveBytes())), Cell.of(Long.toString(summary.liveAllocations())),
                    Cell.of(Long.toString(summary.launches())), Cell.of(Durations.format(summary.turnWaitNs()))));
        }
        List<String> lines = new ArrayList<>(table.lines("", style));
        jvms.stream().filter(JvmReport::unseen).forEach(jvm -> lines.add(style.apply(Emphasis.CAUTION, unseen(jvm.process()))));
        return lines;
    }

    /** Explains missing data: the agent sees only calls of Java methods of the libraries in its table. */
    private static String unseen(JvmProcess process) {
        return "pid " + process.pid() + " uses CUDA past what the agent sees (java.lang.foreign, native code, or a library that is not in its "
                + "table): tessera status and tessera counters " + process.pid() + " have its sums";
    }

    private void section(List<String> lines, String title, boolean empty, String nothing, TextTable table) {
        lines.add("");
        lines.add(style.apply(Emphasis.HEADING, title) + (empty ? ": " + nothing : ""));
        if (!empty) {
            lines.addAll(table.lines(INDENT, style));
        }
    }

    private static String driver(String bean) {
        return switch (bean) {
            case "agent" -> "Tessera's";
            case "wrapper" -> "Tessera's by tessera run";
            case "vendor" -> "the vendor's";
            case "none" -> "none";
            default -> TextTable.printable(bean);
        };
    }

    private static TextTable heap(List<SiteRow> rows) {
        TextTable table = new TextTable().column("BYTES", Side.RIGHT).column("COUNT", Side.RIGHT)
                .column("OLDEST", Side.RIGHT).column("KIND", Side.LEFT).column("SITE", Side.LEFT);
        for (SiteRow row : rows) {
            table.row(List.of(Cell.of(Sizes.format(row.bytes())), Cell.of(Long.toString(row.count())),
                    age(row.oldestMs()), Cell.of(row.kind()), Cell.of(row.site())));
        }
        return table;
    }

    private static TextTable leaks(List<LeakSite> rows) {
        TextTable table = new TextTable().column("BYTES", Side.RIGHT).column("COUNT", Side.RIGHT)
                .column("OLDEST", Side.RIGHT).column("OWNERS GONE", Side.RIGHT).column("VERDICT", Side.LEFT)
                .column("KIND", Side.LEFT).column("SITE", Side.LEFT);
        for (LeakSite row : rows) {
            Emphasis emphasis = switch (row.verdict()) {
                case LEAK -> Emphasis.BAD;
                case GROWS -> Emphasis.CAUTION;
                case OLD -> Emphasis.NONE;
            };
            table.row(List.of(Cell.of(Sizes.format(row.bytes())), Cell.of(Long.toString(row.count())),
                    age(row.oldestMs()), Cell.of(Long.toString(row.ownersCollected())),
                    new Cell(row.verdict().text(), emphasis), Cell.of(row.kind()), Cell.of(row.site())));
        }
        return table;
    }

    private static TextTable launchers(List<LaunchSiteRow> rows) {
        TextTable table = new TextTable().column("LAUNCHES", Side.RIGHT).column("COPIED", Side.RIGHT)
                .column("KERNEL", Side.LEFT).column("SITE", Side.LEFT);
        for (LaunchSiteRow row : rows) {
            table.row(List.of(Cell.of(Long.toString(row.launches())),
                    Cell.of(row.bytes() == 0 ? "-" : Sizes.format(row.bytes())), Cell.of(row.kernel()),
                    Cell.of(row.site())));
        }
        return table;
    }

    private static Cell age(long ms) {
        return Cell.of(Durations.format(TimeUnit.MILLISECONDS.toNanos(ms)));
    }
}
