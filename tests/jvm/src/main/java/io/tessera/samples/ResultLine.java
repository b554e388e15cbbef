package io.tessera.samples;

import java.util.Locale;
import java.util.zip.CRC32;

/** Reports what a program has computed: one line, the same on every device, and an exit code. Stateless. */
final class ResultLine {
    private ResultLine() {
    }

    /** Prints the line and ends the program: 0 if the result is as expected, otherwise 1. */
    static void end(String program, String detail, boolean correct) {
        print(program, detail, correct);
        System.exit(correct ? 0 : 1);
    }

    /** Prints {@code program: detail: correct} or {@code WRONG}. */
    static void print(String program, String detail, boolean correct) {
        System.out.println(program + ": " + detail + ": " + (correct ? "correct" : "WRONG"));
    }

    /** Returns a number that depends on each bit and on the order, in hexadecimal. */
    static String digest(float[] numbers) {
        CRC32 crc = new CRC32();
        for (float number : numbers) {
            int bits = Float.floatToIntBits(number);
            for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
                crc.update(bits >>> shift);
            }
        }
        return String.format(Locale.ROOT, "%08x", crc.getValue());
    }
}
