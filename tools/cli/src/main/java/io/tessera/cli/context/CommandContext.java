package io.tessera.cli.context;

import io.tessera.cli.text.Style;
import io.tessera.protocol.RuntimeDirectory;
import io.tessera.protocol.message.EscapedText;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * The environment in which a command runs. Immutable except for the two outputs; one thread.
 *
 * @param out          standard output
 * @param err          standard error
 * @param terminal     whether standard output is a terminal
 * @param errorTerminal whether standard error is one
 * @param environment  the process's environment
 * @param uid          the process's effective user
 * @param installation the installation of Tessera
 * @param pause        wait between two polls
 */
public record CommandContext(PrintWriter out, PrintWriter err, boolean terminal, boolean errorTerminal, Map<String, String> environment,
        int uid, Installation installation, PollPause pause) {
    /**
     * Returns the runtime directory of the manager: this user's own, or the system's if only that one has a control socket. The shell
     * script makes the same choice and passes it in TESSERA_RUNTIME_DIR.
     */
    public RuntimeDirectory runtime() {
        RuntimeDirectory own = RuntimeDirectory.of(environment, uid);
        boolean named = !environment.getOrDefault(RuntimeDirectory.RUNTIME_VARIABLE, "").isEmpty();
        Path systemSocket = RuntimeDirectory.SYSTEM.resolve("control.sock");
        if (!named && !Files.exists(own.controlSocket()) && Files.exists(systemSocket)) {
            return new RuntimeDirectory(RuntimeDirectory.SYSTEM, own.shmDirectory());
        }
        return own;
    }

    /**
     * Writes a line to standard error. Control characters in it are escaped, because names of files, kernels and programs are untrusted.
     */
    public void say(String sentence) {
        err.println("tessera: " + EscapedText.of(sentence));
    }

    /** Returns the style of emphasis: colours only on a terminal that supports them and if NO_COLOR is not set. */
    public Style style() {
        boolean wanted = environment.getOrDefault("NO_COLOR", "").isEmpty()
                && !environment.getOrDefault("TERM", "").equals("dumb");
        return terminal && wanted ? Style.COLOURED : Style.PLAIN;
    }
}
