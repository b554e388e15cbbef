package io.tessera.cli.jvm;

import com.google.gson.JsonArray;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.text.Durations;
import io.tessera.cli.text.Sizes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tessera jvm [PID]}: shows what a JVM has on the GPU, by class and call site. One thread. */
@Command(name = "jvm", mixinStandardHelpOptions = true, header = "What a JVM has on the GPU: memory by call site, leaks, launchers. Without a pid: the JVMs with the agent.", description = {
        "", "Attaches to a JVM of this user. If the agent is not in it, it is loaded there: it then sees what"
                + " happens from now on, not what was allocated before, and a CUDA driver that was loaded stays as it is.",
        ""}, footer = {"", "Examples:",
                "  tessera jvm                          the JVMs with the agent",
                "  tessera jvm 4711                     memory, old memory and launches of one",
                "  tessera jvm 4711 --leaks=10s --gc    what is older than 10 s, after a garbage collection there",
                "  tessera jvm 4711 --record sampled:16 --heap --top 50",
                "  tessera jvm 4711 --release           free device memory that no Java object knows any more",
                "", "Verdicts: `leak: owner collected` nothing in Java knows the address any more; `grows` ever more at this"
                        + " site and none is freed; `old` as a model or a pool is.",
                "Exit codes: 0 done, 1 no such JVM or it cannot be asked, 2 wrong usage."})
public final class JvmCommand implements Callable<Integer> {
    /** Maximum number of rows for the leak finder: beyond it, sites are missing from its answer, but none is wrong. */
    private static final int LEAK_ROWS = 20_000;
    private static final Path PROC = Path.of("/proc");

    private final CommandContext context;

    @Parameters(arity = "0..1", paramLabel = "PID", description = "The JVM.")
    private Long pid;

    @Option(names = "--heap", description = "Device memory by class and call site.")
    private boolean heap;

    @Option(names = "--leaks", arity = "0..1", fallbackValue = "30s", paramLabel = "AGE", description = "Memory that is older and still allocated; default ${FALLBACK-VALUE}.")
    private String leaks;

    @Option(names = "--launchers", description = "Kernels, library calls and copies by call site.")
    private boolean launchers;

    @Option(names = "--top", paramLabel = "N", defaultValue = "20", description = "Rows of each table at most; default ${DEFAULT-VALUE}.")
    private int top;

    @Option(names = "--gc", description = "Have the JVM collect its garbage first, so that lost owners are known.")
    private boolean gc;

    @Option(names = "--record", paramLabel = "MODE", description = "Switch the recording: on, off or sampled:N.")
    private String record;

    @Option(names = "--release", description = {"Free the device memory whose Java owner was collected.",
            "Not safe for a program that keeps addresses as numbers."})
    private boolean release;

    @Option(names = "--no-load", description = "Do not load the agent where it is absent.")
    private boolean noLoad;

    @Option(names = "--json", description = "JSON for scripts: an object, or without a pid an array of them.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    /** Creates the command in the given context. */
    public JvmCommand(CommandContext context) {
        this.context = context;
    }

    @Override
    public Integer call() throws Exception {
        if (top < 1) {
            throw new ParameterException(spec.commandLine(), "--top " + top + ": at least one row");
        }
        if (record != null && !record.matches("on|off|sampled:[1-9]\\d{0,8}")) {
            throw new ParameterException(spec.commandLine(), "--record " + record
                    + ": the recording is on, off or sampled:N with N from 1");
        }
        OptionalLong olderNs = Durations.parseNs(leaks == null ? "30s" : leaks);
        if (olderNs.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "--leaks=" + leaks + ": an age is " + Durations.ACCEPTED);
        }
        if (pid == null && (heap || leaks != null || launchers || gc || release || record != null)) {
            throw new ParameterException(spec.commandLine(), "which JVM? tessera jvm PID; `tessera jvm` lists them");
        }
        try {
            return pid == null ? list() : one(TimeUnit.NANOSECONDS.toMillis(olderNs.getAsLong()));
        } catch (JvmException e) {
            context.say(e.getMessage());
            return ExitCode.FAILURE.number();
        }
    }

    private int one(long olderMs) throws JvmException {
        JvmProcess process = JvmProcess.of(PROC, pid)
                .orElseThrow(() -> new JvmException("there is no process " + pid));
        if (process.uid() != context.uid()) {
            throw new JvmException("the process " + pid + " belongs to the user with the number " + process.uid()
                    + "; only that user can look into its JVM");
        }
        if (!process.jvm()) {
            throw new JvmException("the process " + pid + " (" + process.program() + ") is no JVM: no libjvm.so is"
                    + " loaded in it");
        }
        JvmReport report = BoundedCall.call("the JVM " + pid, () -> ask(process, olderMs));
        if (json) {
            context.out().println(JvmJson.of(report));
        } else {
            new JvmText(context.style()).of(report).forEach(context.out()::println);
        }
        return ExitCode.OK.number();
    }

    private JvmReport ask(JvmProcess process, long olderMs) throws JvmException, IOException {
        try (AgentConnection agent = AgentConnection.to(process, noLoad ? null : context.installation().agent())) {
            RemoteGpuBean bean = agent.bean();
            if (agent.loaded()) {
                context.say("the agent was not in " + pid + " and is loaded now: what was allocated"
                        + " before is unknown to it, and a CUDA driver that was loaded stays as it is");
            }
            if (record != null) {
                bean.setRecording(record);
            }
            if (gc) {
                bean.collectGarbage();
            }
            if (release) {
                context.say("released " + Sizes.format(bean.releaseUnreachable()));
            }
            boolean all = !heap && leaks == null && !launchers && record == null && !release;
            return new JvmReport(process, bean.summary(), all || heap ? bean.heap(top) : null,
                    all || leaks != null
                            ? LeakSite.of(bean.leaks(olderMs, LEAK_ROWS)).stream().limit(top).toList() : null,
                    olderMs, all || launchers ? bean.launchers(top) : null);
        }
    }

    private int list() throws JvmException, IOException {
        List<JvmReport> jvms = new ArrayList<>();
        int silent = 0;
        for (JvmProcess process : JvmProcess.withAgent(PROC, context.uid())) {
            try {
                jvms.add(BoundedCall.call("the JVM " + process.pid(), () -> summary(process)));
            } catch (JvmException e) {
                if (JvmProcess.of(PROC, process.pid()).isEmpty()) {
                    continue; // it has ended meanwhile
                }
                context.say(e.getMessage());
                silent++;
            }
        }
        if (json) {
            JsonArray array = new JsonArray();
            jvms.forEach(jvm -> array.add(JvmJson.of(jvm)));
            context.out().println(array);
        } else if (jvms.isEmpty() && silent == 0) {
            context.say("no JVM of this user has the agent; java -javaagent:" + JvmProcess.AGENT_JAR
                    + " starts one with it, tessera jvm PID loads it into one that runs");
        } else {
            new JvmText(context.style()).list(jvms).forEach(context.out()::println);
        }
        return silent == 0 ? ExitCode.OK.number() : ExitCode.FAILURE.number();
    }

    /**
     * Returns a report without scalar attributes if the program has not used CUDA yet: another load of the agent would be visible in it.
     */
    private static JvmReport summary(JvmProcess process) throws JvmException, IOException {
        try (AgentConnection agent = AgentConnection.to(process, null)) {
            return new JvmReport(process, agent.bean().present() ? agent.bean().summary() : null, null, null, 0, null);
        }
    }
}
