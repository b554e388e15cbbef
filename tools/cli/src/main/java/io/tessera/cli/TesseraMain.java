package io.tessera.cli;

import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.Installation;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.text.StandardOutput;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** Entry point of the commands; the shell script {@code tessera} starts it. */
public final class TesseraMain {
    private TesseraMain() {
    }

    /** Runs one command and ends the process with its exit code. */
    public static void main(String[] arguments) throws IOException {
        String version = Objects.requireNonNullElse(TesseraMain.class.getPackage().getImplementationVersion(), "development");
        int uid = (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        StandardOutput output = new StandardOutput(new FileOutputStream(FileDescriptor.out));
        PrintWriter out = new PrintWriter(new OutputStreamWriter(output, System.out.charset()));
        CommandContext context = new CommandContext(out, new PrintWriter(System.err), isTerminal(1), isTerminal(2),
                System.getenv(), uid, Installation.of(System.getProperties(), version), Thread::sleep);
        int code = TesseraCommands.execute(context, arguments);
        out.flush();
        if (output.failure().isPresent()) {
            context.say("standard output cannot be written: " + output.failure().get());
            context.err().flush();
            code = code == ExitCode.OK.number() ? ExitCode.FAILURE.number() : code;
        }
        System.exit(code);
    }

    /**
     * Returns whether a descriptor of this process is a terminal; a closed one is not. Console.isTerminal() would also require standard
     * input.
     */
    private static boolean isTerminal(int descriptor) throws IOException {
        Path link = Path.of("/proc/self/fd/" + descriptor);
        return Files.isSymbolicLink(link) && Files.readSymbolicLink(link).toString().matches("/dev/(tty|pts/|console).*");
    }
}
