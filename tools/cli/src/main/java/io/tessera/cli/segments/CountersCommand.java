package io.tessera.cli.segments;

import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.text.Durations;
import io.tessera.cli.text.Sizes;
import io.tessera.cli.text.Style.Emphasis;
import io.tessera.cli.text.TextTable;
import io.tessera.protocol.segment.CounterId;
import io.tessera.protocol.segment.CountersReader;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.SegmentHeader;
import io.tessera.protocol.segment.SegmentLayout;
import io.tessera.protocol.segment.SubmissionKind;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tessera counters [PID|ID]}: a client's counters from its segment alone. One thread. */
@Command(name = "counters", mixinStandardHelpOptions = true, header = "The counters of the clients, read from their segments alone: no manager is asked.", footer = {
        "", "Exit codes: 0 done, 1 no such client or none readable, 2 wrong usage."})
public final class CountersCommand implements Callable<Integer> {
    private final CommandContext context;

    @Parameters(arity = "0..1", paramLabel = "PID|ID", description = "Only the client with this pid or number.")
    private Long wanted;

    @Option(names = "--json", description = "JSON for scripts: an array, an object a client.")
    private boolean json;

    /** Creates the command in the given context. */
    public CountersCommand(CommandContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws IOException {
        try (SegmentFiles files = SegmentFiles.open(SegmentFolders.of(context), wanted)) {
            List<CountersReader> chosen = files.readers().stream()
                    .filter(r -> wanted == null ? runs(r.header()) : r.header().clientId() == wanted || r.header().clientPid() == wanted)
                    .toList();
            files.unreadable().forEach(line -> context.say(line));
            if (wanted == null) {
                files.readers().stream().map(CountersReader::header).filter(header -> !runs(header)).forEach(this::sayLeft);
            }
            if (chosen.isEmpty()) {
                if (json) {
                    line("[]");
                }
                files.unlisted().forEach(line -> context.say(line));
                context.say((wanted == null ? "no program that runs has a segment in "
                        : "no client with pid or number " + wanted + " has a segment in ")
                        + SegmentFolders.names(context));
                return wanted == null && files.unreadable().isEmpty() ? ExitCode.OK.number()
                        : ExitCode.FAILURE.number();
            }
            if (json) {
                line(SegmentJson.counters(chosen).toString());
            } else {
                chosen.forEach(this::print);
            }
        }
        return ExitCode.OK.number();
    }

    private static boolean runs(SegmentHeader header) {
        return ProcessHandle.of(header.clientPid()).isPresent();
    }

    /** A program that ends just when its manager does may leave its segment. */
    private void sayLeft(SegmentHeader header) {
        context.say("client " + header.clientId() + ", pid " + header.clientPid() + ", has ended and left its segment, which the "
                + "next manager removes (tessera counters " + header.clientId() + " shows it)");
    }

    private void print(CountersReader reader) {
        SegmentHeader header = reader.header();
        line(context.style().apply(Emphasis.HEADING, "client " + header.clientId() + ", pid " + header.clientPid()
                + ", " + TextTable.printable(header.tenant()) + ", " + TextTable.printable(header.command())));
        for (CounterId id : CounterId.values()) {
            value(id.label(), reader.counter(id));
        }
        for (SubmissionKind kind : SubmissionKind.values()) {
            value("submitted." + kind.name().toLowerCase(Locale.ROOT), reader.submitted(kind));
        }
        for (int slot = 0; slot < SegmentLayout.MAX_DEVICES; slot++) {
            DeviceBlock device = reader.device(slot);
            if (device.registered()) {
                device(slot, device, reader.deviceSubmissions(slot));
            }
        }
    }

    private void device(int slot, DeviceBlock device, long submissions) {
        line("  device " + slot + ", " + device.uuid() + ", " + TextTable.printable(device.name()));
        value("  submissions", submissions);
        bytes("  used", device.usedBytes());
        bytes("  peak", device.peakBytes());
        bytes("  managed", device.managedBytes());
        bytes("  limit", device.limitBytes());
        value("  turns", device.turns());
        nanoseconds("  held", device.heldNs());
        nanoseconds("  waited", device.waitNs());
        value("  drains", device.drains());
        nanoseconds("  drain, sum", device.drainNs());
        nanoseconds("  drain, longest", device.drainMaxNs());
        nanoseconds("  drain, last", device.drainLastNs());
        value("  contexts", device.contexts());
        value("  captures open", device.capturing());
    }

    private void value(String label, long value) {
        line(String.format(Locale.ROOT, "  %-28s %20s", label, Long.toUnsignedString(value)));
    }

    private void bytes(String label, long bytes) {
        line(String.format(Locale.ROOT, "  %-28s %20s", label, Sizes.format(bytes)));
    }

    private void nanoseconds(String label, long ns) {
        line(String.format(Locale.ROOT, "  %-28s %20s", label, Durations.format(ns)));
    }

    private void line(String text) {
        context.out().println(text);
    }
}
