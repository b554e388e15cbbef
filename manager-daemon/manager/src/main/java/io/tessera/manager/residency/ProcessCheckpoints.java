package io.tessera.manager.residency;

import com.google.gson.Gson;
import com.google.gson.JsonParseException;
import io.tessera.device.CudaResult;
import io.tessera.manager.conductor.ConductorProxy;
import io.tessera.os.LinuxException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checkpoints by the program {@code tessera-checkpoint}, one process for each checkpoint: the manager never loads the driver. A file beside the
 * manager's sockets lists the suspended processes.
 */
public final class ProcessCheckpoints implements Checkpoints {
    private static final Logger LOG = LoggerFactory.getLogger(ProcessCheckpoints.class);

    /** Longest time of the program: copying 140 GB of a context at 5 GB/s takes half of it. */
    private static final long PATIENCE_S = 60;
    private static final int LONGEST_ANSWER = 4096;
    /** The program's exit code if it finds no driver, or one without these calls. */
    private static final int EXIT_UNABLE = 3;
    private static final Gson GSON = new Gson();

    private record Answer(String step, int code) {
    }

    private final Path program;
    private final Path file;
    private final ConductorProxy proxy;

    /**
     * Creates the port for a program and a file, which need not exist.
     *
     * @param proxy the way back to the owner thread
     */
    public ProcessCheckpoints(Path program, Path file, ConductorProxy proxy) {
        this.program = program;
        this.file = file;
        this.proxy = proxy;
    }

    @Override
    public void begin(Action action, int pid, Outcome outcome) {
        Thread.ofPlatform().name("checkpoint-" + pid).daemon().start(() -> {
            Optional<String> failure = run(action, pid);
            try {
                if (!proxy.offer(nowNs -> outcome.ended(failure, nowNs))) {
                    LOG.info("process {}: {} ended after the manager", pid, action);
                }
            } catch (LinuxException e) {
                LOG.error("the conductor cannot be woken: {}", e.getMessage());
            }
        });
    }

    private Optional<String> run(Action action, int pid) {
        if (!Files.isExecutable(program)) {
            return Optional.of("there is no program " + program);
        }
        ProcessBuilder builder = new ProcessBuilder(program.toString(), action.name().toLowerCase(Locale.ROOT),
                Integer.toString(pid)).redirectErrorStream(true);
        builder.environment().remove("LD_PRELOAD");
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return Optional.of("the driver did not answer within " + PATIENCE_S + " s");
            }
            byte[] answer = process.getInputStream().readNBytes(LONGEST_ANSWER);
            return process.exitValue() == 0 ? Optional.empty()
                    : Optional.of(sentence(process.exitValue(), new String(answer, StandardCharsets.UTF_8).strip()));
        } catch (IOException e) {
            return Optional.of(e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of("interrupted");
        }
    }

    /** Returns the meaning of the program's answer, or the answer itself if it is not as expected. */
    static String sentence(int exitCode, String answer) {
        Answer said = null;
        try {
            said = GSON.fromJson(answer, Answer.class);
        } catch (JsonParseException e) {
            LOG.debug("{} answered {}", exitCode, answer, e);
        }
        if (said == null || said.step == null) {
            return "exit code " + exitCode + ", " + answer;
        }
        String where = " (" + said.step + ", error " + said.code + ")";
        if (exitCode == EXIT_UNABLE) {
            return "this driver does not take processes off the device, 570 and newer ones do" + where;
        }
        // Driver 580 gives this answer for a process with managed memory, which then continues.
        boolean managed = said.step.equals("checkpoint") && said.code == CudaResult.NOT_SUPPORTED;
        return "the driver refuses" + where + (managed ? ": it takes no managed memory, for one" : "");
    }

    @Override
    public void remember(Collection<Integer> pids) {
        try {
            if (pids.isEmpty()) {
                Files.deleteIfExists(file);
            } else {
                Files.writeString(file, String.join("\n", pids.stream().map(String::valueOf).toList()) + "\n");
            }
        } catch (IOException e) {
            LOG.error("{} cannot be written: should this manager be killed, suspended processes stay so: {}", file,
                    e.toString());
        }
    }

    @Override
    public List<Integer> remembered() {
        List<Integer> pids = new ArrayList<>();
        try {
            if (Files.exists(file)) {
                for (String line : Files.readAllLines(file)) {
                    if (line.matches("\\d{1,9}")) {
                        pids.add(Integer.parseInt(line));
                    }
                }
            }
        } catch (IOException e) {
            LOG.error("{} cannot be read: processes that were suspended before stay so: {}", file, e.toString());
        }
        return pids;
    }

    @Override
    public void restoreAll(Collection<Integer> pids) {
        for (int pid : pids) {
            run(Action.RESTORE, pid).ifPresent(why -> LOG.error("process {} stays suspended: {}", pid, why));
        }
    }
}
