package io.tessera.guardian.state;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;

/** The process that {@link KillTest} kills: writes 1, 2, 3 … under a few keys in turn and says each after it is written. */
final class EndlessWriter {
    static final int KEYS = 5;
    private static final int COPIES = 500;

    private EndlessWriter() {
    }

    public static void main(String[] arguments) throws StateException {
        try (StateStore store = FileStateStore.open(Path.of(arguments[0]))) {
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

    /** What a line of the process says; the last one may be cut off. */
    static int numberOf(String line) {
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
    static int requireWhole(Optional<StateRecord> value) {
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
