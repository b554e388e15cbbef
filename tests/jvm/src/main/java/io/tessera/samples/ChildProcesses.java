package io.tessera.samples;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Works on the GPU, starts a shell and a JVM with its own options, and continues to work. It prints the JVM's last line, which shows that
 * the JVM has computed, too.
 */
public final class ChildProcesses {
    private static final long BOUND_SECONDS = 60;
    private static final int SHELL_EXIT = 7;

    private ChildProcesses() {
    }

    /** Runs the program; no arguments. Ends with 0 if children and parent computed what they should. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (ScoringModel model = new ScoringModel(13)) {
            boolean before = right(model, 1);
            String shell = run(List.of("/bin/sh", "-c", "echo from a shell; exit " + SHELL_EXIT), SHELL_EXIT);
            String java = run(sameJava(VectorAdd.class), 0);
            boolean after = right(model, 2);
            System.out.println(shell);
            System.out.println(java);
            ResultLine.print("child processes", "before and after", before && after);
        }
    }

    private static boolean right(ScoringModel model, long seed) {
        float[] features = ScoringModel.features(seed);
        return Arrays.equals(model.score(features), model.expected(features));
    }

    /** Returns the command of this JVM with its options, for another class. */
    private static List<String> sameJava(Class<?> main) {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        return command;
    }

    private static String run(List<String> command, int expected) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS) || process.exitValue() != expected) {
            throw new IOException(command + " did not end with " + expected + " but said " + said);
        }
        return said;
    }
}
