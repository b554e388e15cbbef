package io.tessera.attacks;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Record of an attacker's actions and what it obtained.
 *
 * @param answers results of its calls, in order
 * @param loot    all bytes that it obtained or printed
 * @param unable  why it could not begin; empty: it could
 * @param exit    its exit code; -1: it did not end within its time limit
 * @param tookMs  its duration
 */
record AttackerRecord(List<Answer> answers, byte[] loot, String unable, int exit, long tookMs) {
    /**
     * Result of a call.
     *
     * @param code  the CUresult
     * @param where the call
     */
    record Answer(int code, String where) {
        @Override
        public String toString() {
            return code + " at " + where;
        }
    }

    /** Time limit from its last line to its end. */
    private static final long LAST_NS = 10_000_000_000L;
    /** The lowest result code of a kernel's faults. */
    private static final int FIRST_FAULT = CudaResult.ILLEGAL_ADDRESS;
    /** Offset that a shell and Java add to the number of the signal that ended a process. */
    private static final int SIGNAL = 128;

    /** Returns whether it ended within its time limit. */
    boolean ended() {
        return exit >= 0;
    }

    /** Returns whether work that it started may still run: this was intended, it was ended, or one of its calls failed after a launch. */
    boolean mayLeaveWork(Attack attack) {
        return attack.must() == Attack.Must.ENDS || attack.late() || !ended() || signal() != 0
                || answers.stream().anyMatch(answer -> answer.code() >= FIRST_FAULT);
    }

    /** Returns the signal that ended it; 0: none. */
    int signal() {
        return Math.max(0, exit - SIGNAL);
    }

    /** Runs an attacker until it ends or its time is over. */
    static AttackerRecord of(Attack attack, Map<String, String> environment, java.nio.file.Path directory, long patienceNs,
            NanoClock clock) throws IOException, InterruptedException {
        long beginNs = clock.nanoTime();
        try (LineProcess program = new LineProcess(attack.command(), environment, directory, clock)) {
            List<String> lines = program.linesUntilEnd(patienceNs);
            return read(lines, program.exit(Math.min(patienceNs, LAST_NS)), (clock.nanoTime() - beginNs) / 1_000_000);
        }
    }

    static AttackerRecord read(List<String> lines, int exit, long tookMs) {
        List<Answer> answers = new ArrayList<>();
        ByteArrayOutputStream loot = new ByteArrayOutputStream();
        String unable = "";
        for (String line : lines) {
            String[] words = line.split(" ", 3);
            if (words[0].equals("answer") && words.length == 3) {
                answers.add(new Answer(Integer.parseInt(words[1]), words[2]));
            } else if (words[0].equals("loot") && words.length == 2 && words[1].matches("([0-9a-f]{2})*")) {
                loot.writeBytes(HexFormat.of().parseHex(words[1]));
            } else if (words[0].equals("unable")) {
                unable = line;
            } else {
                loot.writeBytes(line.getBytes(StandardCharsets.ISO_8859_1)); // a device's printf
            }
        }
        if (unable.isEmpty() && exit > 0 && exit < SIGNAL) {
            unable = "unable, exit code " + exit; // for example no device, because an earlier attack has left none
        }
        return new AttackerRecord(answers, loot.toByteArray(), unable, exit, tookMs);
    }
}
