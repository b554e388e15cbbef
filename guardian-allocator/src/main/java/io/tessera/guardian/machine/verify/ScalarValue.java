package io.tessera.guardian.machine.verify;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;

/**
 * Known facts about a register of 32 bits. Immutable.
 *
 * @param kind    kind of its contents
 * @param numbers possible numbers, or possible distances in bytes of its address from the start of the parameters; sorted
 */
record ScalarValue(Kind kind, List<Integer> numbers) {
    /** Kind of a register's contents. */
    enum Kind {
        /** Anything. */
        UNKNOWN,
        /** One of the numbers. */
        NUMBER,
        /** The low word of an address in the kernel's parameters. */
        LOW_WORD,
        /**
         * The low word of the address of one of the tensor maps that lie side by side in the kernel's parameters; the numbers are positions of the
         * first map.
         */
        MAP_OF_MANY,
        /** The exclusive or of {@link #LOW_WORD} and {@link #HIGH_WORD}: the intermediate value while two registers are exchanged. */
        BOTH_WORDS,
        /** The high word of every address in the kernel's parameters. The parameters have at most some KiB, and do not cross a multiple of 4 GiB. */
        HIGH_WORD
    }

    static final ScalarValue UNKNOWN = new ScalarValue(Kind.UNKNOWN, List.of());
    static final ScalarValue PARAMETERS_LOW = new ScalarValue(Kind.LOW_WORD, List.of(0));
    /** Start of the parameters in their bank of constants, in bytes (sm_90). */
    static final int PARAMETERS_IN_BANK = 0x210;
    static final ScalarValue BANK_LOW = new ScalarValue(Kind.LOW_WORD, List.of(-PARAMETERS_IN_BANK));
    static final ScalarValue PARAMETERS_HIGH = new ScalarValue(Kind.HIGH_WORD, List.of());
    /** Maximum number of possible addresses: more than a kernel has tensor maps. Fewer plain numbers are kept, since a loop counter soon has any value. */
    private static final int MOST_ADDRESSES = 32;
    private static final int MOST_NUMBERS = 4;
    /** More bytes than a kernel may have parameters: 32,764 (CUDA programming guide, table of compute capabilities). */
    private static final int MOST_BYTES = 1 << 15;

    static ScalarValue number(int number) {
        return new ScalarValue(Kind.NUMBER, List.of(number));
    }

    /** Returns the value of a register that holds one or the other. */
    ScalarValue or(ScalarValue other) {
        if (equals(other)) {
            return numbers == other.numbers || numbers.size() <= 1 ? this : new ScalarValue(kind, another());
        }
        return kind != other.kind ? UNKNOWN : merged(numbers, other.numbers);
    }

    /** Returns the numbers as a new object, which means that the actual number need not be the same, see {@link #exclusiveOr}. */
    private List<Integer> another() {
        return Collections.unmodifiableList(new ArrayList<>(numbers));
    }

    private int most() {
        return kind == Kind.NUMBER ? MOST_NUMBERS : MOST_ADDRESSES;
    }

    private ScalarValue merged(List<Integer> first, List<Integer> second) {
        TreeSet<Integer> all = new TreeSet<>(first);
        all.addAll(second);
        return all.size() > most() ? UNKNOWN : new ScalarValue(kind, List.copyOf(all));
    }

    /** Returns the sum, without its carry. The low word of an address never carries, since distances are small and not negative. */
    ScalarValue plus(ScalarValue other) {
        if (other.kind != Kind.NUMBER) {
            return kind == Kind.NUMBER && other.kind != Kind.UNKNOWN ? other.plus(this) : UNKNOWN;
        }
        return switch (kind) {
            case UNKNOWN -> UNKNOWN;
            case BOTH_WORDS -> UNKNOWN;
            case HIGH_WORD -> other.numbers.equals(List.of(0)) ? this : UNKNOWN;
            case NUMBER, LOW_WORD, MAP_OF_MANY -> {
                TreeSet<Integer> sums = new TreeSet<>();
                numbers.forEach(one -> other.numbers.forEach(two -> sums.add(one + two)));
                boolean bounded = kind == Kind.NUMBER || sums.stream().allMatch(sum -> sum >= BANK_LOW.numbers.getFirst() && sum < MOST_BYTES);
                yield sums.size() > most() || !bounded ? UNKNOWN : new ScalarValue(kind, List.copyOf(sums));
            }
        };
    }

    /**
     * Returns the exclusive or. {@link Kind#BOTH_WORDS} combined with one of the words gives the other word. There is only one high word. A low word that
     * is restored in this way has the same list object as the value it came from, so it is the same number even if several are possible.
     */
    ScalarValue exclusiveOr(ScalarValue other) {
        if (kind == Kind.HIGH_WORD && other.kind != Kind.HIGH_WORD || kind == Kind.LOW_WORD && other.kind == Kind.BOTH_WORDS) {
            return other.exclusiveOr(this);
        }
        return switch (kind) {
            case LOW_WORD -> other.kind == Kind.HIGH_WORD ? new ScalarValue(Kind.BOTH_WORDS, another()) : UNKNOWN;
            case BOTH_WORDS -> other.kind == Kind.HIGH_WORD ? new ScalarValue(Kind.LOW_WORD, numbers)
                    : other.kind == Kind.LOW_WORD && other.numbers == numbers ? PARAMETERS_HIGH : UNKNOWN;
            case UNKNOWN, NUMBER, MAP_OF_MANY, HIGH_WORD -> UNKNOWN;
        };
    }

    /** Returns whether it is the low word of an address, so that adding a distance to it does not carry. */
    boolean isLowWord() {
        return kind == Kind.LOW_WORD || kind == Kind.MAP_OF_MANY;
    }

    /** Returns whether it is a word of an address in the parameters. */
    boolean isAddress() {
        return isLowWord() || kind == Kind.HIGH_WORD;
    }

    /** Returns the address plus an index of tensor maps. It is not verified that the index is in range. */
    ScalarValue indexed() {
        return isLowWord() ? new ScalarValue(Kind.MAP_OF_MANY, numbers) : UNKNOWN;
    }

    /** Returns whether adding it to an address in the parameters, or to a part of one, does not carry. */
    boolean isDistance() {
        return kind == Kind.NUMBER && numbers.stream().allMatch(number -> number >= 0 && number < MOST_BYTES);
    }
}
