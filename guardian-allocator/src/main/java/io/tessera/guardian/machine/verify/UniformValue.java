package io.tessera.guardian.machine.verify;

import java.util.List;
import java.util.TreeSet;

/**
 * What is known of a uniform register of 32 bits. Immutable.
 *
 * @param kind    what it holds
 * @param numbers which numbers it may hold, or which distances in bytes from the start of the parameters its address may have; sorted
 */
record UniformValue(Kind kind, List<Integer> numbers) {
    /** What a register holds. */
    enum Kind {
        /** Anything. */
        UNKNOWN,
        /** One of the numbers. */
        NUMBER,
        /** The low word of an address in the kernel's parameters. */
        LOW_WORD,
        /** The high word of every address in the kernel's parameters. They are some KiB at most, and do not lie across a multiple of 4 GiB. */
        HIGH_WORD
    }

    static final UniformValue UNKNOWN = new UniformValue(Kind.UNKNOWN, List.of());
    static final UniformValue PARAMETERS_LOW = new UniformValue(Kind.LOW_WORD, List.of(0));
    /** Of the bank of constants that holds the parameters, which begin at 0x210 in it (sm_90). */
    static final UniformValue BANK_LOW = new UniformValue(Kind.LOW_WORD, List.of(-0x210));
    static final UniformValue PARAMETERS_HIGH = new UniformValue(Kind.HIGH_WORD, List.of());
    /** More numbers than a kernel has tensor maps. */
    private static final int MOST_NUMBERS = 32;
    /** More bytes than a kernel may have parameters: 32,764 (CUDA programming guide, table of compute capabilities). */
    private static final int MOST_BYTES = 1 << 15;

    static UniformValue number(int number) {
        return new UniformValue(Kind.NUMBER, List.of(number));
    }

    /** What is known where a register holds this or that. */
    UniformValue or(UniformValue other) {
        return equals(other) ? this : kind != other.kind ? UNKNOWN : merged(numbers, other.numbers);
    }

    private UniformValue merged(List<Integer> first, List<Integer> second) {
        TreeSet<Integer> all = new TreeSet<>(first);
        all.addAll(second);
        return all.size() > MOST_NUMBERS ? UNKNOWN : new UniformValue(kind, List.copyOf(all));
    }

    /** The sum, without what it carries: of an address there is none, since distances are small and not negative. */
    UniformValue plus(UniformValue other) {
        if (other.kind != Kind.NUMBER) {
            return kind == Kind.NUMBER && other.kind != Kind.UNKNOWN ? other.plus(this) : UNKNOWN;
        }
        return switch (kind) {
            case UNKNOWN -> UNKNOWN;
            case HIGH_WORD -> other.numbers.equals(List.of(0)) ? this : UNKNOWN;
            case NUMBER, LOW_WORD -> {
                TreeSet<Integer> sums = new TreeSet<>();
                numbers.forEach(one -> other.numbers.forEach(two -> sums.add(one + two)));
                boolean bounded = kind == Kind.NUMBER || sums.stream().allMatch(sum -> sum >= BANK_LOW.numbers.getFirst() && sum < MOST_BYTES);
                yield sums.size() > MOST_NUMBERS || !bounded ? UNKNOWN : new UniformValue(kind, List.copyOf(sums));
            }
        };
    }

    /** Whether adding it to an address in the parameters, or to a part of one, carries nothing. */
    boolean isDistance() {
        return kind == Kind.NUMBER && numbers.stream().allMatch(number -> number >= 0 && number < MOST_BYTES);
    }
}
