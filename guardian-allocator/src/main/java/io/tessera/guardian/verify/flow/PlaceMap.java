package io.tessera.guardian.verify.flow;

import java.util.Arrays;

/**
 * Map from a register in a block to a fact. Keys are mixed before they are hashed: in an ordinary hash table, those of neighbouring registers and
 * blocks would collide, and a tenant could make chains of any length. Used by one thread.
 *
 * @param <T> type of the facts
 */
public final class PlaceMap<T> {
    private static final int FIRST_SIZE = 1 << 6;
    private static final long EMPTY = -1;
    private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

    private long[] keys = new long[FIRST_SIZE];
    private Object[] values = new Object[FIRST_SIZE];
    private int size;

    /** Holds nothing yet. */
    public PlaceMap() {
        Arrays.fill(keys, EMPTY);
    }

    private int index(long key) {
        long mixed = (key ^ key >>> 29) * MIX;
        int index = (int) (mixed ^ mixed >>> 32) & keys.length - 1;
        while (keys[index] != EMPTY && keys[index] != key) {
            index = index + 1 & keys.length - 1;
        }
        return index;
    }

    private static long key(int register, int block) {
        return (long) register << 32 | block;
    }

    /** Returns the fact about a register in a block, or null. */
    @SuppressWarnings("unchecked")
    public T get(int register, int block) {
        return (T) values[index(key(register, block))];
    }

    /** Keeps what is known of a register in a block. */
    public void put(int register, int block, T value) {
        long key = key(register, block);
        int index = index(key);
        if (keys[index] == EMPTY && 2 * ++size > keys.length) {
            grow();
            index = index(key);
        }
        keys[index] = key;
        values[index] = value;
    }

    private void grow() {
        long[] oldKeys = keys;
        Object[] oldValues = values;
        keys = new long[2 * oldKeys.length];
        values = new Object[keys.length];
        Arrays.fill(keys, EMPTY);
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldKeys[i] != EMPTY) {
                int index = index(oldKeys[i]);
                keys[index] = oldKeys[i];
                values[index] = oldValues[i];
            }
        }
    }
}
