package io.tessera.guardian.fence.proof.graph;

import java.util.Arrays;

/** Growing list of integers. Not thread-safe. */
public final class IntArray {
    private int[] elements = new int[8];
    private int size;

    /** Appends a number. */
    public void add(int element) {
        if (size == elements.length) {
            elements = Arrays.copyOf(elements, size * 2);
        }
        elements[size++] = element;
    }

    /** Adds what is not negative and not in it; for short lists. */
    public void addIfNew(int element) {
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

    /** The number at that index. */
    public int get(int index) {
        return elements[index];
    }

    void set(int index, int element) {
        elements[index] = element;
    }

    /** Takes the last number off. */
    public int removeLast() {
        return elements[--size];
    }

    void clear() {
        size = 0;
    }

    /** Returns the number of elements. */
    public int size() {
        return size;
    }

    /** Returns whether there are no elements. */
    public boolean isEmpty() {
        return size == 0;
    }

    /** A copy. */
    public int[] toArray() {
        return Arrays.copyOf(elements, size);
    }
}
