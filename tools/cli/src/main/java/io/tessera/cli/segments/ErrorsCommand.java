package io.tessera.cli.segments;

import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.text.Style.Emphasis;
import io.tessera.cli.text.TextTable;
import io.tessera.protocol.segment.CountersReader;
import io.tessera.protocol.segment.LoggedError;
import io.tessera.protocol.segment.SegmentHeader;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code tessera errors}: the distinct errors in the clients' segments. One thread. */
@Command(name = "errors", mixinStandardHelpOptions = true, header = "Distinct errors of the clients, read from their segments alone: how often, first, last, what.", footer = {
        "", "A positive code is the driver's result, a negative one a system error. Times are UTC.",
        "Exit codes: 0 done, also where there are errors; 1 a segment could not be read, 2 wrong usage."})
public final class ErrorsCommand implements Callable<Integer> {
    private final CommandContext context;

    @Option(names = "--json", description = "JSON for scripts: an array, an object a client.")
    private boolean json;

    /** Creates the command in the given context. */
    public ErrorsCommand(CommandContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws IOException {
        try (SegmentFiles files = SegmentFiles.open(SegmentFolders.of(context), null)) {
            if (json) {
                context.out().println(SegmentJson.errors(files.readers()));
            }
            int found = json ? 1 : 0;
            for (CountersReader reader : files.readers()) {
                List<LoggedError> errors = reader.errors();
                found += errors.size();
                if (!errors.isEmpty() && !json) {
                    print(reader.header(), errors);
                }
            }
            files.unreadable().forEach(line -> context.say(line));
            files.unlisted().forEach(line -> context.say(line));
            if (found == 0) {
                context.out().println("no errors in " + files.readers().size() + " segment"
                        + (files.readers().size() == 1 ? "" : "s"));
            }
            return files.unreadable().isEmpty() ? ExitCode.OK.number() : ExitCode.FAILURE.number();
        }
    }

    private void print(SegmentHeader header, List<LoggedError> errors) {
        context.out().println(context.style().apply(Emphasis.HEADING, "client " + header.clientId() + ", pid "
                + header.clientPid() + ", " + TextTable.printable(header.tenant())));
        for (LoggedError error : errors) {
            context.out().println("  " + Long.toUnsignedString(error.count()) + "x  code " + error.code() + "  "
                    + time(error.firstNs()) + " to " + time(error.lastNs()) + "  "
                    + TextTable.printable(error.text()));
        }
    }

    private static String time(long realtimeNs) {
        return Instant.ofEpochSecond(0, realtimeNs).truncatedTo(ChronoUnit.MILLIS).toString();
    }
}
