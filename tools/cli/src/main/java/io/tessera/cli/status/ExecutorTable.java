package io.tessera.cli.status;

import io.tessera.cli.status.StatusAnswer.ClientState;
import io.tessera.cli.status.StatusAnswer.ExecutorClient;
import io.tessera.cli.status.StatusAnswer.ExecutorState;
import io.tessera.cli.status.StatusAnswer.TenantWindow;
import io.tessera.cli.text.Durations;
import io.tessera.cli.text.Sizes;
import io.tessera.cli.text.Style;
import io.tessera.cli.text.Style.Emphasis;
import io.tessera.cli.text.TextTable;
import io.tessera.cli.text.TextTable.Cell;
import io.tessera.cli.text.TextTable.Side;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;

/** The executors of a status as lines of text: with a row for each client that shares the context. Stateless. */
final class ExecutorTable {
    private static final String INDENT = "  ";
    private static final List<MachineColumn> MACHINE_CODE = List.of(new MachineColumn("SHOWN", ExecutorClient::shown, false),
            new MachineColumn("VENDOR", ExecutorClient::vendors, false), new MachineColumn("UNKNOWN", ExecutorClient::unknown, true),
            new MachineColumn("UNFENCED", ExecutorClient::unfenced, true));

    private ExecutorTable() {
    }

    /** Returns whether a client shares the context of an executor. */
    static boolean isIn(StatusAnswer report, long client) {
        return report.executors().stream().flatMap(executor -> executor.clients().stream())
                .anyMatch(known -> known.client() == client);
    }

    /** Returns the lines of all executors. */
    static List<String> lines(StatusAnswer report, Style style) {
        List<String> lines = new ArrayList<>();
        for (ExecutorState executor : report.executors()) {
            lines.add("");
            lines.add(style.apply(Emphasis.HEADING, TextTable.printable("executor " + executor.ordinal() + ", "
                    + executor.name() + ", " + Sizes.format(executor.totalBytes()) + ", " + executor.uuid())));
            lines.add(INDENT + TextTable.printable("shared by space, " + executor.state()
                    + (executor.pid() == 0 ? "" : ", pid " + executor.pid())
                    + (executor.software() ? ", in software" : "")
                    + (executor.turns().now() ? ", turns by " + executor.turns().policy() : "")
                    + (executor.restarts() == 0 ? "" : ", restarted " + executor.restarts() + " times")
                    + (executor.reason().isEmpty() ? "" : ": " + executor.reason())));
            if (!executor.clients().isEmpty()) {
                lines.addAll(table(report, executor).lines(INDENT, style));
                lines.addAll(terms(executor));
            }
            if (!executor.windows().isEmpty()) {
                lines.addAll(windows(executor).lines(INDENT, style));
            }
        }
        return lines;
    }

    /** Returns a line for each tenant that has settings. */
    private static List<String> terms(ExecutorState executor) {
        return executor.clients().stream().filter(client -> client.terms() != null)
                .map(client -> INDENT + TextTable.printable(client.tenant()) + ": " + client.terms().text()).distinct().sorted().toList();
    }

    private static TextTable windows(ExecutorState executor) {
        TextTable table = new TextTable().column("WINDOW", Side.LEFT).column("TENANT", Side.LEFT)
                .column("SIZE", Side.RIGHT).column("COMMITTED", Side.RIGHT).column("LIMIT", Side.RIGHT)
                .column("SINK", Side.RIGHT).column("AWAY", Side.RIGHT);
        for (TenantWindow window : executor.windows()) {
            table.row(List.of(Cell.of("0x" + Long.toHexString(window.base())), Cell.of(window.tenant()),
                    Cell.of(Sizes.format(window.size())), Cell.of(Sizes.format(window.committedBytes())),
                    Cell.of(window.quotaBytes() == 0 ? "-" : Sizes.format(window.quotaBytes())),
                    Cell.of(window.sinkBytes() == 0 ? "-" : Sizes.format(window.sinkBytes())),
                    Cell.of(window.awayBytes() == 0 ? "-" : Sizes.format(window.awayBytes()))));
        }
        return table;
    }

    private static Cell notable(long count) {
        return count == 0 ? Cell.of("0") : new Cell(Long.toString(count), Emphasis.CAUTION);
    }

    /**
     * A column about machine code, which is omitted if it would have only zeros.
     *
     * @param keepsOut whether such code keeps other users' programs out
     */
    private record MachineColumn(String title, ToLongFunction<ExecutorClient> count, boolean keepsOut) {
        Cell cell(ExecutorClient client) {
            long images = count.applyAsLong(client);
            return keepsOut ? notable(images) : Cell.of(Long.toString(images));
        }
    }

    private static TextTable table(StatusAnswer report, ExecutorState executor) {
        List<MachineColumn> machineCode = MACHINE_CODE.stream()
                .filter(column -> executor.clients().stream().anyMatch(client -> column.count().applyAsLong(client) != 0)).toList();
        TextTable table = new TextTable().column("ID", Side.RIGHT).column("PID", Side.RIGHT)
                .column("TENANT", Side.LEFT).column("COMMAND", Side.LEFT).column("MEMORY", Side.RIGHT)
                .column("LAUNCHES", Side.RIGHT).column("CALLS", Side.RIGHT).column("REFUSED", Side.RIGHT)
                .column("HELD", Side.RIGHT).column("WAITED", Side.RIGHT).column("FENCE", Side.LEFT);
        machineCode.forEach(column -> table.column(column.title(), Side.RIGHT));
        table.column("VIOLATIONS", Side.RIGHT);
        boolean divided = executor.clients().stream().anyMatch(client -> client.processors() < client.deviceProcessors());
        if (divided) {
            table.column("PROCESSORS", Side.RIGHT);
        }
        for (ExecutorClient client : executor.clients()) {
            Optional<ClientState> known = report.clients().stream().filter(c -> c.id() == client.client()).findFirst();
            List<Cell> row = new ArrayList<>(List.of(Cell.of(Long.toString(client.client())),
                    Cell.of(known.filter(c -> c.pid() != 0).map(c -> Long.toString(c.pid()))
                            .orElse(client.pid() == 0 ? "-" : Long.toString(client.pid()))),
                    Cell.of(known.map(ClientState::tenant).orElse(client.tenant())),
                    Cell.of(known.map(ClientState::command).orElse("-")), Cell.of(Sizes.format(client.usedBytes())),
                    Cell.of(Long.toString(client.launches())), Cell.of(Long.toString(client.calls())),
                    Cell.of(Long.toString(client.rejected())), Cell.of(Durations.format(client.heldNs())),
                    Cell.of(Durations.format(client.waitedNs())), Cell.of(client.fence())));
            machineCode.forEach(column -> row.add(column.cell(client)));
            row.add(notable(client.violations()));
            if (divided) {
                row.add(Cell.of(client.processors() + "/" + client.deviceProcessors()));
            }
            table.row(row);
        }
        return table;
    }
}
