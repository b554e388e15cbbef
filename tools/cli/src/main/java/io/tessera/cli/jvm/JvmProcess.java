package io.tessera.cli.jvm;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A process as /proc shows it. It is examined before anything is sent to it, because an attach begins with SIGQUIT, which ends a process
 * that is not a JVM.
 *
 * @param pid     process id
 * @param uid     its effective user
 * @param program main class, jar or command
 * @param jvm     whether a JVM is loaded in it
 * @param agent   whether the agent's jar is open in it or named on its command line
 * @param client  whether it is a client of a manager: it has called cuInit, and a segment is mapped in it
 */
record JvmProcess(long pid, int uid, String program, boolean jvm, boolean agent, boolean client) {
    /** File name of the agent's jar wherever it is installed. */
    static final String AGENT_JAR = "tessera-agent.jar";

    private static final Pattern SEGMENT = Pattern.compile(".*/client-\\d+\\.segment");

    /** Returns the process with this number below {@code proc}, usually /proc; empty if there is none. */
    static Optional<JvmProcess> of(Path proc, long pid) {
        Path folder = proc.resolve(Long.toString(pid));
        try {
            int uid = uid(folder);
            List<String> arguments = arguments(folder);
            List<String> maps = maps(folder);
            boolean jvm = maps.stream().anyMatch(line -> line.endsWith("/libjvm.so"));
            boolean agent = jvm && (CommandLineOfJava.namesAgent(arguments, AGENT_JAR) || opens(folder, AGENT_JAR));
            String program = jvm ? CommandLineOfJava.program(arguments) : CommandLineOfJava.command(arguments);
            return Optional.of(new JvmProcess(pid, uid, program, jvm, agent, maps.stream().anyMatch(line -> SEGMENT.matcher(line).matches())));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Returns all JVMs of this user below {@code proc} that have the agent, by number. */
    static List<JvmProcess> withAgent(Path proc, int uid) throws IOException {
        List<JvmProcess> found = new ArrayList<>();
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(proc, "[1-9]*")) {
            for (Path folder : folders) {
                String name = folder.getFileName().toString();
                if (name.chars().allMatch(Character::isDigit)) {
                    of(proc, Long.parseLong(name)).filter(p -> p.uid() == uid && p.agent()).ifPresent(found::add);
                }
            }
        }
        found.sort(Comparator.comparingLong(JvmProcess::pid));
        return found;
    }

    /** Returns the second number of the line {@code Uid:}, the effective user (proc(5)). */
    private static int uid(Path folder) throws IOException {
        for (String line : Files.readAllLines(folder.resolve("status"), StandardCharsets.ISO_8859_1)) {
            if (line.startsWith("Uid:")) {
                return Integer.parseUnsignedInt(line.split("\\s+")[2]);
            }
        }
        throw new IOException(folder + " says nothing about its user");
    }

    private static List<String> arguments(Path folder) throws IOException {
        String text = Files.readString(folder.resolve("cmdline"), StandardCharsets.ISO_8859_1);
        return text.isEmpty() ? List.of() : Arrays.asList(text.split("\0"));
    }

    /** Reads the mappings. Those of another user's process cannot be read; nothing is then known of it, and its user is reported. */
    private static List<String> maps(Path folder) {
        try {
            return Files.readAllLines(folder.resolve("maps"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return List.of();
        }
    }

    private static boolean opens(Path folder, String jar) {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(folder.resolve("fd"))) {
            for (Path descriptor : descriptors) {
                if (Files.isSymbolicLink(descriptor) && target(descriptor).endsWith("/" + jar)) {
                    return true;
                }
            }
        } catch (IOException e) {
            return false;
        }
        return false;
    }

    /** Returns the target of a descriptor; empty if it was closed meanwhile. */
    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return "";
        }
    }
}
