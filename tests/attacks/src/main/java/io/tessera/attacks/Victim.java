package io.tessera.attacks;

import io.tessera.clock.NanoClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The victim's process. One owner thread. */
final class Victim implements AutoCloseable {
    private static final long READY_NS = 60_000_000_000L;
    private static final long END_NS = 15_000_000_000L;

    private final LineProcess program;

    /**
     * Findings of a check, since the previous one.
     *
     * @param rounds    number of computations so far
     * @param wrong     computations whose result was not exact to the last bit
     * @param changed   words of its memory that were overwritten
     * @param errors    calls that failed
     * @param longestMs the longest computation
     * @param lost      why it ended or did not answer; empty: it still runs
     */
    record Finding(long rounds, long wrong, long changed, long errors, long longestMs, String lost) {
        static Finding lost(String why) {
            return new Finding(0, 0, 0, 0, 0, why);
        }

        boolean alive() {
            return lost.isEmpty();
        }
    }

    /** Starts it, and writes its description of itself to a file for attackers. */
    Victim(AttackInstallation place, Path runtime, long seed, Path facts, NanoClock clock) throws IOException, InterruptedException {
        program = new LineProcess(List.of(place.programs().resolve("victim").toString(), Long.toUnsignedString(seed)),
                place.environment(runtime, "victim"), runtime, clock);
        List<String> lines = program.linesUntil("ready", READY_NS);
        if (lines == null) {
            program.close();
            throw new IOException("the victim does not start: " + program.errors());
        }
        Files.write(facts, lines);
    }

    /** Runs another client with the same secret that fills its memory and ends; returns whether it succeeded. */
    static boolean goesBefore(AttackInstallation place, Path runtime, long seed, NanoClock clock)
            throws IOException, InterruptedException {
        Map<String, String> environment = place.environment(runtime, "predecessor");
        try (LineProcess program = new LineProcess(List.of(place.programs().resolve("victim").toString(),
                Long.toUnsignedString(seed), "leave"), environment, runtime, clock)) {
            return program.linesUntil("left", READY_NS) != null && program.exit(END_NS) == 0;
        }
    }

    /** Makes it check all its memory. */
    Finding check(long patienceNs) throws InterruptedException {
        try {
            program.tell("check");
        } catch (IOException e) {
            return Finding.lost("ended, " + last(program.errors()));
        }
        while (true) {
            String line = program.line(patienceNs);
            if (line == null) {
                return Finding.lost((program.alive() ? "does not answer, " : "ended, ") + last(program.errors()));
            }
            String[] words = line.split(" ");
            if (words[0].equals("checked")) {
                return new Finding(Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]),
                        Long.parseLong(words[4]), Long.parseLong(words[5]), "");
            }
            if (words[0].equals("lost")) {
                return Finding.lost(line);
            }
        }
    }

    private static String last(List<String> lines) {
        return lines.isEmpty() ? "said nothing" : lines.getLast();
    }

    /** Returns its lines on standard error. */
    List<String> errors() {
        return program.errors();
    }

    @Override
    public void close() {
        try {
            program.tell("stop");
            program.exit(END_NS);
        } catch (IOException e) {
            program.exit(1); // it has already ended
        }
        program.close();
    }
}
