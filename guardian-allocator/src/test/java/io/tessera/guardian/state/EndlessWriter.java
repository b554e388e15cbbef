package io.tessera.guardian.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A process that writes 1, 2, 3 … under a few keys in turn, says each after it is written, and ends when it is killed; and
 * what its store may then hold: of every key, the record that it said last or the one after it, whole.
 */
public final class EndlessWriter {
    /** Number of keys. */
    public static final int KEYS = 5;
    private static final int COPIES = 500;

    private EndlessWriter() {
    }

    /** Writes to the plain file that the argument names. */
    public static void main(String[] arguments) throws StateException {
        write(FileStateStore.open(Path.of(arguments[0])));
    }

    /** Writes to a store until the process is killed. */
    public static void write(StateStore store) throws StateException {
        try (store) {
            int last = 0;
            for (int key = 0; key < KEYS; key++) {
                last = Math.max(last, requireWhole(store.get("key" + key)));
            }
            System.out.println("writing");
            for (int number = last + 1;; number++) {
                store.put("key" + (number - 1) % KEYS, record(number));
                System.out.println("#" + number + ".");
            }
        }
    }

    /** Kills a process that writes, a while after its first record; notes in {@code known} what it said to have written. */
    public static void kill(Process writer, int millis, int[] known) throws IOException, InterruptedException {
        try (BufferedReader said = writer.inputReader()) {
            assertEquals("writing", said.readLine());
            boolean ending = false;
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                int number = numberOf(line);
                if (number > 0) {
                    known[(number - 1) % KEYS] = number;
                    if (!ending) { // counted from the first record: a slow machine writes one, too
                        ending = true;
                        CompletableFuture.runAsync(() -> writer.toHandle().destroyForcibly(),
                                CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS));
                    }
                }
            }
            assertTrue(writer.waitFor(10, TimeUnit.SECONDS));
        } finally {
            writer.destroyForcibly();
        }
    }

    /** Checks the store of a process that was killed against what it had said, and notes in {@code known} what is there. */
    public static void check(StateStore store, int[] known, String round) throws StateException {
        for (int key = 0; key < KEYS; key++) {
            int from = known[key];
            int found = requireWhole(store.get("key" + key));
            // The writer says a number after its record is written: it may have written one more.
            assertTrue(found == from || found == from + KEYS || from == 0 && found == key + 1,
                    round + ", key " + key + ": " + from + " then " + found);
            known[key] = found;
        }
    }

    /** Returns the number in a line of the process; the last line may be cut off. */
    private static int numberOf(String line) {
        return line.startsWith("#") && line.endsWith(".") ? Integer.parseInt(line.substring(1, line.length() - 1)) : 0;
    }

    private static StateRecord record(int number) {
        ByteBuffer bytes = ByteBuffer.allocate(COPIES * Integer.BYTES);
        while (bytes.hasRemaining()) {
            bytes.putInt(number);
        }
        return new StateRecord(number, bytes.array());
    }

    /** The number in a record, 0 without one; a record with two numbers in it is torn. */
    private static int requireWhole(Optional<StateRecord> value) {
        if (value.isEmpty()) {
            return 0;
        }
        ByteBuffer bytes = ByteBuffer.wrap(value.get().bytes());
        int number = value.get().version();
        int copies = 0;
        while (bytes.hasRemaining()) {
            copies++;
            if (bytes.getInt() != number) {
                throw new AssertionError("a torn record: " + number);
            }
        }
        if (copies != COPIES) {
            throw new AssertionError("a record of " + copies + " numbers");
        }
        return number;
    }
}
