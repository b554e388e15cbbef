package io.tessera.cli.status;

import io.tessera.cli.status.StatusAnswer.ClientDevice;
import io.tessera.cli.status.StatusAnswer.ClientState;
import io.tessera.cli.status.StatusAnswer.DeviceState;
import io.tessera.cli.text.Durations;
import io.tessera.cli.text.Sizes;
import io.tessera.cli.text.Style;
import io.tessera.cli.text.Style.Emphasis;
import io.tessera.cli.text.TextTable;
import io.tessera.cli.text.TextTable.Cell;
import io.tessera.cli.text.TextTable.Side;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Formats a status as lines of text: the manager, then each device with its holder, its queue, and a row for each client. Stateless.
 * Scripts should read the JSON instead.
 */
public final class StatusTable {
    private static final String INDENT = "  ";
    private static final String NOTHING = "-";

    /** A client with its part of one device. */
    private record Row(ClientState client, ClientDevice device) {
    }

    private StatusTable() {
    }

    /**
     * Returns the lines of a status.
     *
     * @param rates launches a second, if the status is watched
     */
    public static List<String> lines(StatusAnswer report, Optional<LaunchRates> rates, Style style) {
        List<String> lines = new ArrayList<>();
        StatusAnswer.ManagerState manager = report.manager();
        lines.add("manager " + manager.version() + ", pid " + manager.pid() + ", uid " + manager.uid() + ", up "
                + Durations.format(manager.uptimeNs()) + ", " + manager.runtimeDirectory());
        if (!manager.settings().isEmpty()) {
            lines.add(manager.settingsProblem().isEmpty() ? "settings of " + manager.settings()
                    : style.apply(Emphasis.BAD, manager.settings() + ": " + manager.settingsProblem() + ". What it said before holds"));
        }
        if (!manager.ordersProblem().isEmpty()) {
            lines.add(style.apply(Emphasis.BAD, manager.ordersProblem()));
        }
        if (!manager.placement().isEmpty() && !manager.placement().equals("none")) {
            lines.add("programs that name no device are placed by the rule " + TextTable.printable(manager.placement()));
        }
        for (DeviceState device : report.devices()) {
            lines.add("");
            device(lines, report, device, rates, style);
        }
        lines.addAll(ExecutorTable.lines(report, style));
        lines.addAll(WaitingProgram.lines(report.waiting()));
        lines.addAll(placed(report));
        List<ClientState> homeless = report.clients().stream()
                .filter(c -> c.devices().isEmpty() && !ExecutorTable.isIn(report, c.id())).toList();
        if (!homeless.isEmpty()) {
            lines.add("");
            lines.add("without a context: " + String.join(", ", homeless.stream().map(StatusTable::label).toList()));
        }
        if (report.clients().isEmpty()) {
            lines.add("");
            lines.add("no clients");
        }
        for (ClientState client : report.clients()) {
            if (!client.errors().isEmpty()) {
                lines.add(style.apply(Emphasis.BAD, label(client) + " has " + client.errors().size()
                        + " distinct error" + (client.errors().size() == 1 ? "" : "s") + ": tessera errors"));
            }
        }
        return lines;
    }

    /** Returns a line for each client whose device the manager has chosen. */
    private static List<String> placed(StatusAnswer report) {
        List<String> lines = report.clients().stream().filter(client -> client.placement() != null)
                .map(client -> INDENT + label(client) + ": " + TextTable.printable(client.placement().device()) + ", by "
                        + TextTable.printable(client.placement().rule()))
                .toList();
        return lines.isEmpty() ? lines
                : Stream.concat(Stream.of("", "devices that the manager chose (tessera why says why):"), lines.stream()).toList();
    }

    private static void device(List<String> lines, StatusAnswer report, DeviceState device,
            Optional<LaunchRates> rates, Style style) {
        List<Row> rows = report.clients().stream()
                .flatMap(c -> c.devices().stream().filter(d -> d.uuid().equals(device.uuid()))
                        .map(d -> new Row(c, d)))
                .toList();
        lines.add(style.apply(Emphasis.HEADING, TextTable.printable(device.name() + ", "
                + Sizes.format(device.totalBytes()) + ", " + device.uuid())));
        lines.add(INDENT + "scheduler " + device.mode() + ", now " + device.effective()
                + (device.reason().isEmpty() ? "" : ": " + TextTable.printable(device.reason())));
        lines.add(INDENT + (device.policy().isEmpty() ? "" : "policy " + device.policy() + ", ") + "quantum " + Durations.format(device.quantumNs())
                + ", " + device.handovers()
                + " hand-overs" + (device.handovers() == 0 ? ""
                        : ", median " + Durations.format(device.handoverMedianNs())));
        lines.add(INDENT + holder(report, device) + waiters(rows));
        if (!rows.isEmpty()) {
            lines.addAll(table(device, rows, rates).lines(INDENT, style));
            lines.addAll(terms(rows));
        }
        if (device.memory() != null) {
            lines.addAll(MemoryTable.lines(device, report, INDENT, style));
        }
    }

    /** Returns a line for each tenant that has settings. */
    private static List<String> terms(List<Row> rows) {
        Map<String, String> lines = new TreeMap<>();
        for (Row row : rows) {
            if (row.device().terms() != null) {
                String tenant = TextTable.printable(row.client().tenant());
                lines.put(tenant, INDENT + tenant + ": " + row.device().terms().text());
            }
        }
        return List.copyOf(lines.values());
    }

    private static String holder(StatusAnswer report, DeviceState device) {
        if (device.holder() == null) {
            return device.effective().equals("free") ? "everybody runs" : "nobody holds it";
        }
        String label = report.clients().stream().filter(c -> c.id() == device.holder()).findFirst()
                .map(StatusTable::label).orElse("client " + device.holder());
        return "held by " + label + " for " + Durations.format(device.holderSinceNs());
    }

    private static String waiters(List<Row> rows) {
        List<Row> waiting = rows.stream().filter(r -> r.device().waitingNs() > 0).toList();
        if (waiting.isEmpty()) {
            return "";
        }
        long longestNs = waiting.stream().mapToLong(r -> r.device().waitingNs()).max().orElseThrow();
        return "; " + waiting.size() + (waiting.size() == 1 ? " waits, for " : " wait, the longest for ")
                + Durations.format(longestNs);
    }

    private static String label(ClientState client) {
        return TextTable.printable(client.tenant()) + " (client " + client.id() + ")";
    }

    private static TextTable table(DeviceState device, List<Row> rows, Optional<LaunchRates> rates) {
        TextTable table = new TextTable().column("ID", Side.RIGHT).column("PID", Side.RIGHT)
                .column("TENANT", Side.LEFT).column("COMMAND", Side.LEFT).column("PLAN", Side.LEFT)
                .column("STATE", Side.LEFT).column("SINCE", Side.RIGHT).column("MEMORY", Side.RIGHT)
                .column("PEAK", Side.RIGHT).column("LIMIT", Side.RIGHT).column("LAUNCHES", Side.RIGHT);
        if (rates.isPresent()) {
            table.column("LAUNCHES/S", Side.RIGHT);
        }
        table.column("TURNS", Side.RIGHT).column("HELD", Side.RIGHT).column("WAITED", Side.RIGHT)
                .column("LAST DRAIN", Side.RIGHT).column("LONGEST", Side.RIGHT);
        rows.forEach(row -> table.row(cells(device, row, rates)));
        return table;
    }

    private static List<Cell> cells(DeviceState device, Row row, Optional<LaunchRates> rates) {
        ClientState client = row.client();
        ClientDevice on = row.device();
        List<Cell> cells = new ArrayList<>();
        cells.add(Cell.of(Long.toString(client.id())));
        cells.add(Cell.of(client.pid() == 0 ? "-" : Long.toString(client.pid())));
        cells.add(Cell.of(client.tenant()));
        cells.add(Cell.of(client.command()));
        cells.add(Cell.of(client.plan()));
        state(device, row, cells);
        cells.add(Cell.of(Sizes.format(on.usedBytes())));
        cells.add(Cell.of(Sizes.format(on.peakBytes())));
        cells.add(Cell.of(on.limitBytes() == 0 ? NOTHING : Sizes.format(on.limitBytes())));
        cells.add(Cell.of(Long.toString(on.launches())));
        rates.ifPresent(known -> {
            var rate = known.perSecond(client.id(), device.uuid());
            cells.add(Cell.of(rate.isEmpty() ? NOTHING : String.format(Locale.ROOT, "%.0f", rate.getAsDouble())));
        });
        cells.add(Cell.of(Long.toString(on.turns())));
        cells.add(Cell.of(Durations.format(on.heldNs())));
        cells.add(Cell.of(Durations.format(on.waitedNs())));
        cells.add(Cell.of(on.drains() == 0 ? NOTHING : Durations.format(on.drainLastNs())));
        cells.add(Cell.of(on.drains() == 0 ? NOTHING : Durations.format(on.drainMaxNs())));
        return cells;
    }

    /** Adds the client's state on the device, and its duration if known. */
    private static void state(DeviceState device, Row row, List<Cell> cells) {
        ClientDevice on = row.device();
        boolean holds = device.holder() != null && device.holder() == row.client().id();
        if (on.ack().equals("draining")) {
            add(cells, "drains", Emphasis.CAUTION, holds ? Durations.format(device.holderSinceNs()) : NOTHING);
        } else if (holds) {
            add(cells, "holds", Emphasis.GOOD, Durations.format(device.holderSinceNs()));
        } else if (on.waitingNs() > 0) {
            add(cells, "waits", Emphasis.CAUTION, Durations.format(on.waitingNs()));
        } else if (on.turn().equals("free")) {
            add(cells, "runs", Emphasis.GOOD, NOTHING);
        } else {
            add(cells, "idle", Emphasis.FAINT, NOTHING);
        }
    }

    private static void add(List<Cell> cells, String state, Emphasis emphasis, String since) {
        cells.add(new Cell(state, emphasis));
        cells.add(Cell.of(since));
    }
}
