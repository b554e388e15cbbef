package io.tessera.cli.status;

import io.tessera.cli.status.StatusAnswer.ClientDevice;
import io.tessera.cli.status.StatusAnswer.ClientState;
import io.tessera.cli.status.StatusAnswer.DeviceMemory;
import io.tessera.cli.status.StatusAnswer.DeviceState;
import io.tessera.cli.status.StatusAnswer.HostMemory;
import io.tessera.cli.status.StatusAnswer.Residency;
import io.tessera.cli.text.Durations;
import io.tessera.cli.text.Sizes;
import io.tessera.cli.text.Style;
import io.tessera.cli.text.TextTable;
import io.tessera.cli.text.TextTable.Cell;
import io.tessera.cli.text.TextTable.Side;
import java.util.ArrayList;
import java.util.List;

/** Memory on a device and off it, as lines of text, for devices whose clients' memory can leave. Stateless. */
final class MemoryTable {
    private static final String NOTHING = "-";

    private MemoryTable() {
    }

    static List<String> lines(DeviceState device, StatusAnswer report, String indent, Style style) {
        DeviceMemory memory = device.memory();
        List<String> lines = new ArrayList<>();
        lines.add(indent + "memory of " + Sizes.format(memory.capacityBytes()) + ": "
                + Sizes.format(memory.residentBytes()) + " resident, " + Sizes.format(memory.swappedBytes())
                + " off the device, " + Sizes.format(memory.fixedBytes()) + " cannot leave"
                + (memory.reason().isEmpty() ? "" : "; " + TextTable.printable(memory.reason())));
        if (memory.usableBytes() > 0 && memory.usableBytes() < device.totalBytes()) {
            lines.add(indent + "clients can have " + Sizes.format(memory.usableBytes()) + " of the device's "
                    + Sizes.format(device.totalBytes()) + ": the driver said so, or refused more");
        }
        if (!memory.standing().isEmpty()) {
            lines.add(indent + "stands still: " + TextTable.printable(memory.standing()));
        }
        HostMemory host = report.host();
        if (host != null) {
            lines.add(indent + "host: " + Sizes.format(host.pinnedBytes()) + " pinned of "
                    + Sizes.format(host.pinnedBudgetBytes()) + ", " + Sizes.format(host.pageableBytes())
                    + " pageable of " + Sizes.format(host.pageableBudgetBytes()) + ", "
                    + Sizes.format(host.availableBytes()) + " available");
        }
        TextTable table = new TextTable().column("ID", Side.RIGHT).column("TENANT", Side.LEFT)
                .column("MEMORY IS", Side.LEFT).column("RESIDENT", Side.RIGHT).column("NEEDED", Side.RIGHT)
                .column("OFF", Side.RIGHT).column("ZERO", Side.RIGHT).column("CLEAN", Side.RIGHT).column("FIXED", Side.RIGHT)
                .column("GUARANTEED", Side.RIGHT)
                .column("HOST", Side.RIGHT).column("MOVED IN", Side.RIGHT).column("OUT", Side.RIGHT)
                .column("IN/S", Side.RIGHT).column("OUT/S", Side.RIGHT).column("HAND-OVER", Side.RIGHT)
                .column("MEDIAN", Side.RIGHT);
        boolean any = false;
        List<String> sentences = new ArrayList<>();
        for (ClientState client : report.clients()) {
            for (ClientDevice on : client.devices()) {
                if (on.uuid().equals(device.uuid()) && on.residency() != null) {
                    table.row(cells(client, on.residency()));
                    any = true;
                    say(sentences, indent, client, "plan auto is ", on.residency().choice());
                    say(sentences, indent, client, "its calls are out of memory: ", on.residency().shortOf());
                    say(sentences, indent, client, "suspended ", on.residency().suspension());
                    say(sentences, indent, client, "not suspended: ", on.residency().notSuspended());
                }
            }
        }
        if (any) {
            lines.addAll(table.lines(indent, style));
        }
        lines.addAll(sentences);
        return lines;
    }

    private static void say(List<String> sentences, String indent, ClientState client, String what, String sentence) {
        if (!sentence.isEmpty()) {
            sentences.add(indent + TextTable.printable(client.tenant()) + " (client " + client.id() + "): " + what
                    + TextTable.printable(sentence));
        }
    }

    private static List<Cell> cells(ClientState client, Residency memory) {
        return List.of(Cell.of(Long.toString(client.id())), Cell.of(client.tenant()), Cell.of(state(memory)),
                size(memory.residentBytes()), size(memory.neededBytes()), size(memory.swappedBytes()),
                size(memory.zeroBytes()), size(memory.cleanBytes()), size(memory.fixedBytes()), size(memory.guaranteeBytes()),
                size(memory.pinnedBytes() + memory.pageableBytes() + memory.fileBytes()),
                size(memory.movedInBytes()), size(memory.movedOutBytes()), size(memory.moveInBytesPerSecond()),
                size(memory.moveOutBytesPerSecond()), duration(memory.handoverLastNs()),
                duration(memory.handoverMedianNs()));
    }

    private static String state(Residency memory) {
        return memory.parked() && memory.state().equals("steady") ? "evicted" : memory.state().replace('-', ' ');
    }

    private static Cell size(long bytes) {
        return Cell.of(bytes == 0 ? NOTHING : Sizes.format(bytes));
    }

    private static Cell duration(long ns) {
        return Cell.of(ns == 0 ? NOTHING : Durations.format(ns));
    }
}
