package io.tessera.guardian.machine;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The instructions of fenced code that contain a part of the window's address, by the offset in bytes at which each begins. Everything else in the
 * code is the same for every window of that size. Immutable.
 */
public final class WindowPlaces {
    /** None. */
    public static final WindowPlaces NONE = new WindowPlaces(Map.of());

    /** The immediate of 32 bits in such an instruction. */
    public enum Value {
        /** The upper half of the window's first address: {@link MachineFence#baseHigh}. */
        BASE,
        /** The upper half of the window's last address. */
        LAST,
        /** One less than {@link #BASE}. */
        BELOW;

        /** Returns the value for a fence. */
        public int of(MachineFence fence) {
            return switch (this) {
                case BASE -> fence.baseHigh();
                case LAST -> fence.baseHigh() | fence.mask();
                case BELOW -> fence.baseHigh() - 1;
            };
        }
    }

    private final Map<Value, int[]> byValue;
    private final int[] all;

    /**
     * Creates the places.
     *
     * @param places in any order; not changed. A missing value has no places
     */
    public WindowPlaces(Map<Value, int[]> places) {
        byValue = new EnumMap<>(Value.class);
        for (Value value : Value.values()) {
            byValue.put(value, IntStream.of(places.getOrDefault(value, new int[0])).sorted().toArray());
        }
        all = byValue.values().stream().flatMapToInt(IntStream::of).sorted().toArray();
    }

    /** All of several. */
    public static WindowPlaces join(List<WindowPlaces> several) {
        Map<Value, int[]> joined = new EnumMap<>(Value.class);
        for (Value value : Value.values()) {
            joined.put(value, several.stream().flatMapToInt(each -> each.of(value)).toArray());
        }
        return new WindowPlaces(joined);
    }

    /** Returns the places in a file in which the code begins at an offset. */
    public WindowPlaces behind(int offset) {
        Map<Value, int[]> moved = new EnumMap<>(Value.class);
        byValue.forEach((value, places) -> moved.put(value, IntStream.of(places).map(place -> Math.addExact(place, offset)).toArray()));
        return new WindowPlaces(moved);
    }

    /** Those of a value, ascending. */
    public IntStream of(Value value) {
        return IntStream.of(byValue.get(value));
    }

    /** Returns the number of places. */
    public int count() {
        return all.length;
    }

    /** Returns whether an offset is one of the places. */
    public boolean contains(int place) {
        return Arrays.binarySearch(all, place) >= 0;
    }
}
