package io.tessera.cli.context;

import io.tessera.cli.text.Style;
import io.tessera.protocol.RuntimeDirectory;
import io.tessera.protocol.message.EscapedText;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * The surroundings of a command. Immutable but for what is written to; one thread.
 *
 * @param out          standard output
 * @param err          standard error
 * @param terminal     whether standard output is a terminal
 * @param errorTerminal whether standard error is one
 * @param environment  the process's environment
 * @param uid          the process's effective user
 * @param installation where Tessera lies
 * @param pause        how time passes
 */
public record CommandContext(PrintWriter out, PrintWriter err, boolean terminal, boolean errorTerminal, Map<String, String> environment,
        int uid, Installation installation, PollPause pause) {
    /**
     * The runtime directory of the manager to talk to: this user's own, or the system's where only that one has a
     * control socket. The same choice as the shell script's, which names it in TESSERA_RUNTIME_DIR.
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

    /** Writes a line to standard error. Control characters in it are escaped: names of files, kernels and programs are others' words. */
    public void say(String sentence) {
        err.println("tessera: " + EscapedText.of(sentence));
    }

    /** How to emphasise: colours only on a terminal that has them and whose user did not set NO_COLOR. */
    public Style style() {
        boolean wanted = environment.getOrDefault("NO_COLOR", "").isEmpty()
                && !environment.getOrDefault("TERM", "").equals("dumb");
        return terminal && wanted ? Style.COLOURED : Style.PLAIN;
    }
}
