package io.tessera.manager.session;

import io.tessera.manager.admission.AdmissionRoom;
import io.tessera.manager.admission.AwaitedClients;
import io.tessera.os.Errno;
import io.tessera.os.FilePort;
import io.tessera.os.LinuxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The processes, users and labels of a manager's clients, in a file of the runtime directory: from it the next manager reads for which clients places
 * are kept. Segments do not hold this information for long enough, because a client that has lost its manager removes its own segment. The file
 * exists while there are clients. One owner thread.
 */
public final class ClientJournal {
    private static final String NAME = "clients";
    private static final int MOST_BYTES = 1 << 22;
    private static final Pattern LINE = Pattern.compile("(\\d{1,9}) (\\d{1,18}) (\\d{1,10}) (.*)");
    private static final Logger LOG = LoggerFactory.getLogger(ClientJournal.class);

    private final FilePort files;
    private final Path file;
    private final Supplier<Collection<Session>> registered;
    private final AwaitedClients awaited;
    private String written;
    private String problem = "";
    private long changes = -1;

    /**
     * Creates the journal in a runtime directory.
     *
     * @param registered the present clients
     * @param awaited    the awaited clients of the former manager, which are awaited again if this one is killed
     */
    public ClientJournal(FilePort files, Path directory, Supplier<Collection<Session>> registered, AwaitedClients awaited) {
        this.files = files;
        this.file = directory.resolve(NAME);
        this.registered = registered;
        this.awaited = awaited;
    }

    /** Returns the clients of the former manager; none if the file is missing or cannot be read. */
    public static List<AwaitedClients.Former> read(FilePort files, Path directory) {
        Path file = directory.resolve(NAME);
        try {
            int descriptor = files.open(file, FilePort.Open.READ, 0);
            try {
                return new String(files.read(descriptor, MOST_BYTES), StandardCharsets.UTF_8).lines().map(LINE::matcher).filter(Matcher::matches)
                        .map(line -> new AwaitedClients.Former(Integer.parseInt(line.group(1)), Long.parseLong(line.group(2)),
                                new AdmissionRoom.Owner(Integer.parseUnsignedInt(line.group(3)), line.group(4))))
                        .toList();
            } finally {
                files.close(descriptor);
            }
        } catch (LinuxException | NumberFormatException e) {
            if (!(e instanceof LinuxException missing) || missing.errno() != Errno.ENOENT) {
                LOG.warn("the clients of the manager before are not known, {}: {}", file, e.getMessage());
            }
            return List.of();
        }
    }

    /**
     * Forgets clients that are no longer awaited, and writes the present ones if they have changed.
     *
     * @param registrations number of the latest change of the present clients
     * @return 1 if it was written, 0 if there was nothing to write
     */
    public int doWork(long registrations, long nowNs) {
        awaited.look(nowNs);
        return write(registrations);
    }

    /** Writes as {@link #doWork} does, regardless of the time. */
    public int write(long registrations) {
        long change = registrations + awaited.changes();
        if (change == changes) {
            return 0;
        }
        changes = change;
        StringBuilder text = new StringBuilder();
        awaited.all().forEach(client -> line(text, client));
        registered.get().forEach(session -> line(text, new AwaitedClients.Former(session.peer().pid(), session.hello().startTicks(),
                new AdmissionRoom.Owner(session.peer().uid(), session.hello().tenant()))));
        write(text.toString());
        return 1;
    }

    /** Returns when {@link #doWork} has to run next if nothing else happens; {@link Long#MAX_VALUE}: never. */
    public long nextDeadlineNs() {
        return awaited.nextDeadlineNs();
    }

    /** Adds a line; a label has no control characters ({@link Session#hello}), so it ends with its line. */
    private static void line(StringBuilder text, AwaitedClients.Former client) {
        text.append(client.pid()).append(' ').append(client.startTicks()).append(' ').append(Integer.toUnsignedString(client.owner().uid()))
                .append(' ').append(client.owner().tenant()).append('\n');
    }

    private void write(String text) {
        if (text.equals(written)) {
            return;
        }
        try {
            if (text.isEmpty()) {
                files.remove(file);
            } else {
                Path next = file.resolveSibling(NAME + ".next");
                files.remove(next);
                int descriptor = files.open(next, FilePort.Open.CREATE_NEW, 0600);
                try {
                    files.write(descriptor, text.getBytes(StandardCharsets.UTF_8));
                } finally {
                    files.close(descriptor);
                }
                files.rename(next, file);
            }
            written = text;
            problem = "";
        } catch (LinuxException e) {
            if (!e.getMessage().equals(problem)) {
                problem = e.getMessage();
                LOG.warn("if this manager is killed, its clients may lose their places to others: {}", problem);
            }
        }
    }
}
