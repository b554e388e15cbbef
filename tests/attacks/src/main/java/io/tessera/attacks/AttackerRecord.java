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
 * What an attacker did and got.
 *
 * @param answers what its calls were answered, in order
 * @param loot    all bytes that it got, and all it printed
 * @param unable  why it could not even begin; empty: it could
 * @param exit    its exit code; -1: it did not end within its time
 * @param tookMs  how long it took
 */
record AttackerRecord(List<Answer> answers, byte[] loot, String unable, int exit, long tookMs) {
    /**
     * What a call was answered.
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

    /** From its last line to its end. */
    private static final long LAST_NS = 10_000_000_000L;
    /** Of what may happen to a kernel, the result with the lowest number. */
    private static final int FIRST_FAULT = CudaResult.ILLEGAL_ADDRESS;
    /** What a shell and Java add to the number of the signal by which a process died. */
    private static final int SIGNAL = 128;

    /** Whether it ended within its time. */
    boolean ended() {
        return exit >= 0;
    }

    /** Whether something that it set going may still run: it was to, it was ended, or one of its calls failed behind a launch. */
    boolean mayLeaveWork(Attack attack) {
        return attack.must() == Attack.Must.ENDS || attack.late() || !ended() || signal() != 0
                || answers.stream().anyMatch(answer -> answer.code() >= FIRST_FAULT);
    }

    /** The signal by which it died; 0: none. */
    int signal() {
        return Math.max(0, exit - SIGNAL);
    }

    /** Runs an attacker to its end or the end of its time. */
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
            unable = "unable, exit code " + exit; // no device, for example: an attack before it has left none
        }
        return new AttackerRecord(answers, loot.toByteArray(), unable, exit, tookMs);
    }
}
