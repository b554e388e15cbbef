package io.tessera.manager.memory;

import java.util.Map;
import java.util.TreeMap;

/** Numbers of open objects; as in the kernel, the lowest free number is assigned. */
final class Descriptors {
    private final Map<Integer, Object> open = new TreeMap<>();

    int add(Object thing) {
        int number = 3;
        while (open.containsKey(number)) {
            number++;
        }
        open.put(number, thing);
        return number;
    }

    Object get(int descriptor) {
        Object thing = open.get(descriptor);
        if (thing == null) {
            throw new AssertionError("descriptor " + descriptor + " is not open");
        }
        return thing;
    }

    boolean isOpen(int descriptor) {
        return open.containsKey(descriptor);
    }

    void remove(int descriptor) {
        get(descriptor);
        open.remove(descriptor);
    }

    int count() {
        return open.size();
    }
}
