package io.tessera.cli;

import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.Installation;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** Entry of the commands; the shell script {@code tessera} starts it. */
public final class TesseraMain {
    private TesseraMain() {
    }

    /** Runs one command and ends the process with its exit code. */
    public static void main(String[] arguments) throws IOException {
        String version = Objects.requireNonNullElse(TesseraMain.class.getPackage().getImplementationVersion(), "development");
        int uid = (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        CommandContext context = new CommandContext(new PrintWriter(System.out), new PrintWriter(System.err), isTerminal(1), isTerminal(2),
                System.getenv(), uid, Installation.of(System.getProperties(), version), Thread::sleep);
        System.exit(TesseraCommands.execute(context, arguments));
    }

    /** Whether an open file of this process is a terminal; one that is closed is none. Console.isTerminal() would ask for standard input too. */
    private static boolean isTerminal(int descriptor) throws IOException {
        Path link = Path.of("/proc/self/fd/" + descriptor);
        return Files.isSymbolicLink(link) && Files.readSymbolicLink(link).toString().matches("/dev/(tty|pts/|console).*");
    }
}
