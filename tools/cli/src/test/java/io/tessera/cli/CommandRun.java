package io.tessera.cli;

import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.Installation;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * One command run inside the test's JVM.
 *
 * @param code exit code
 * @param out  standard output
 * @param err  standard error
 */
public record CommandRun(int code, String out, String err) {
    /** Runs a command with a runtime directory and nothing else of the real environment. */
    public static CommandRun of(Path runtime, String... arguments) throws IOException {
        return of(runtime, false, Map.of(), arguments);
    }

    /** Runs a command, on a terminal or not, with more environment; waits between looks pass at once. */
    public static CommandRun of(Path runtime, boolean terminal, Map<String, String> more, String... arguments)
            throws IOException {
        Map<String, String> environment = new HashMap<>(more);
        environment.put("TESSERA_RUNTIME_DIR", runtime.toString());
        environment.putIfAbsent("TESSERA_SHM_DIR", runtime.resolve("segments").toString());
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int uid = (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        Installation installation = new Installation(runtime, runtime.resolve("lib"),
                runtime.resolve("bin/tessera-probe"), runtime.resolve("agent/tessera-agent.jar"), "9.9");
        CommandContext context = new CommandContext(new PrintWriter(out), new PrintWriter(err), terminal, terminal, environment,
                uid, installation, _ -> {});
        int code = TesseraCommands.execute(context, arguments);
        return new CommandRun(code, out.toString(), err.toString());
    }
}
