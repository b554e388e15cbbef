package io.tessera.cli.script;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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
            live(runtime.resolve("manager.pid"));
        }
    }

    /** Has its pid file open as long as it lives. */
    private static void live(Path pidFile) throws IOException, InterruptedException {
        try (FileChannel file = FileChannel.open(pidFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
            file.write(ByteBuffer.wrap((ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII)));
            Thread.sleep(LIFE_MS);
        }
    }
}
