package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.code.InstructionWord;

/**
 * Facts about registers inside one block: fences under a predicate, and those of sums. A short list; when it is full, the oldest entry is dropped.
 * One owner thread.
 */
final class LocalFences {
    /** Kind of fact about a register. */
    enum What {
        /** OR was executed; AND must follow. */
        BASED,
        /** A high word in the window. */
        FENCED,
        /** At least the lower bound for a uniform register. */
        RAISED,
        /** Between both bounds for a uniform register. */
        LIMITED
    }

    private static final int MOST = 16;

    private final int[] registers = new int[MOST];
    private final int[] predicates = new int[MOST];
    private final int[] added = new int[MOST];
    private final What[] what = new What[MOST];
    private final int[] since = new int[MOST];
    private int count;

    /** Records that a fact holds for a register from a time on, under a predicate. Replaces an earlier record of the same fact. */
    void learn(What now, int register, int predicate, int uniform, int time) {
        int at = find(now, register, predicate, uniform);
        if (at >= 0) {
            remove(at);
        } else if (count == MOST) {
            remove(0);
        }
        registers[count] = register;
        predicates[count] = predicate;
        added[count] = uniform;
        what[count] = now;
        since[count++] = time;
    }

    /** Returns whether a fact holds for a register, for an instruction under a predicate, at a time. */
    boolean is(What asked, int register, int predicate, int uniform, int time) {
        for (int i = 0; i < count; i++) {
            boolean holds = predicates[i] == predicate || predicates[i] == InstructionWord.ALWAYS;
            if (registers[i] == register && what[i] == asked && added[i] == uniform && holds && since[i] <= time) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether a fact about a register was added at a time or later. */
    boolean isSince(int register, int time) {
        for (int i = 0; i < count; i++) {
            if (registers[i] == register && since[i] >= time) {
                return true;
            }
        }
        return false;
    }

    private int find(What asked, int register, int predicate, int uniform) {
        for (int i = 0; i < count; i++) {
            if (registers[i] == register && what[i] == asked && added[i] == uniform && predicates[i] == predicate) {
                return i;
            }
        }
        return -1;
    }

    private void remove(int at) {
        count--;
        for (int i = at; i < count; i++) {
            registers[i] = registers[i + 1];
            predicates[i] = predicates[i + 1];
            added[i] = added[i + 1];
            what[i] = what[i + 1];
            since[i] = since[i + 1];
        }
    }

    /** Records that a register may hold anything. */
    void forget(int register) {
        for (int i = count - 1; i >= 0; i--) {
            if (registers[i] == register) {
                remove(i);
            }
        }
    }

    /** Records that predicates may have changed. */
    void forgetUnder(int written) {
        for (int i = count - 1; i >= 0; i--) {
            int predicate = predicates[i] & 7;
            if (predicate < 7 && (written >>> predicate & 1) != 0) {
                remove(i);
            }
        }
    }

    /** Records that a uniform register may have changed. */
    void forgetAdded(int uniform) {
        for (int i = count - 1; i >= 0; i--) {
            if (added[i] == uniform) {
                remove(i);
            }
        }
    }

    void clear() {
        count = 0;
    }

    boolean isEmpty() {
        return count == 0;
    }
}
