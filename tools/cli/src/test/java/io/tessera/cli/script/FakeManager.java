package io.tessera.cli.script;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Stands in for the manager: takes the socket, then writes its pid, then waits for SIGTERM, for a minute at most. Ends
 * with 1 where the socket is taken, and with 2 where it has an option {@code --wrong}; {@code --check} looks at nothing else.
 */
public final class FakeManager {
    private static final long LIFE_MS = 60_000;

    private FakeManager() {
    }

    /** Runs in the directory that TESSERA_RUNTIME_DIR names. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (List.of(arguments).contains("--wrong")) {
            System.err.println("tessera-manager: there is no option --wrong");
            System.exit(2);
        }
        if (arguments.length > 0 && arguments[0].equals("--check")) {
            return;
        }
        Path runtime = Path.of(System.getenv("TESSERA_RUNTIME_DIR"));
        System.out.println("fake manager in " + runtime);
        Files.deleteIfExists(runtime.resolve("manager.sock"));
        try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            socket.bind(UnixDomainSocketAddress.of(runtime.resolve("manager.sock")));
            Files.writeString(runtime.resolve("manager.pid"), ProcessHandle.current().pid() + "\n");
            Thread.sleep(LIFE_MS);
        }
    }
}
