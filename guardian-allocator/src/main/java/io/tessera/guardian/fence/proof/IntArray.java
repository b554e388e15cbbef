package io.tessera.guardian.fence.proof;

import java.util.Arrays;

/** Growing list of integers. Not thread-safe. */
final class IntArray {
    private int[] elements = new int[8];
    private int size;

    void add(int element) {
        if (size == elements.length) {
            elements = Arrays.copyOf(elements, size * 2);
        }
        elements[size++] = element;
    }

    /** Adds what is not negative and not in it; for short lists. */
    void addIfNew(int element) {
        if (element < 0) {
            return;
        }
        for (int i = 0; i < size; i++) {
            if (elements[i] == element) {
                return;
            }
        }
        add(element);
    }

    int get(int index) {
        return elements[index];
    }

    void set(int index, int element) {
        elements[index] = element;
    }

    int removeLast() {
        return elements[--size];
    }

    void clear() {
        size = 0;
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    int[] toArray() {
        return Arrays.copyOf(elements, size);
    }
}
