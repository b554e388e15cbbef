package io.tessera.guardian.ptx.parse;

import java.nio.charset.StandardCharsets;

/**
 * Gives one string for all occurrences of a name in a text. Registers and opcodes recur thousands of times; a string for
 * each would cost more than the rest of the parser. Open addressing, linear probing. Not thread-safe.
 */
final class NameTable {
    private static final int FIRST_CAPACITY = 1024;

    private String[] names = new String[FIRST_CAPACITY];
    private int[] hashes = new int[FIRST_CAPACITY];
    private int count;

    /**
     * The string of ASCII bytes.
     *
     * @param hash of these bytes, always computed the same way; only its quality matters
     */
    String name(byte[] text, int from, int to, int hash) {
        int mask = names.length - 1;
        int slot = spread(hash) & mask;
        while (names[slot] != null) {
            if (hashes[slot] == hash && same(names[slot], text, from, to)) {
                return names[slot];
            }
            slot = slot + 1 & mask;
        }
        String name = new String(text, from, to - from, StandardCharsets.ISO_8859_1);
        names[slot] = name;
        hashes[slot] = hash;
        if (++count > names.length / 2) {
            grow();
        }
        return name;
    }

    private static int spread(int hash) {
        return hash * 0x9E3779B9 >>> 12 ^ hash;
    }

    private static boolean same(String name, byte[] text, int from, int to) {
        int length = to - from;
        if (name.length() != length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (name.charAt(i) != text[from + i]) {
                return false;
            }
        }
        return true;
    }

    private void grow() {
        String[] oldNames = names;
        int[] oldHashes = hashes;
        names = new String[oldNames.length * 2];
        hashes = new int[oldNames.length * 2];
        int mask = names.length - 1;
        for (int i = 0; i < oldNames.length; i++) {
            if (oldNames[i] != null) {
                int slot = spread(oldHashes[i]) & mask;
                while (names[slot] != null) {
                    slot = slot + 1 & mask;
                }
                names[slot] = oldNames[i];
                hashes[slot] = oldHashes[i];
            }
        }
    }
}
