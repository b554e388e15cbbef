package io.tessera.guardian.machine.code;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * When the result of an instruction is in its registers. Some instructions take a number of cycles that the compiler knows; others release a
 * scoreboard. Of a sequence of the latter that a unit executes in order, compilers let only the last one release it. These facts were counted in the
 * libraries of CUDA 13 for each architecture: an instruction has a fixed latency if none of its occurrences has a scoreboard for writes. Immutable.
 */
public enum ResultTiming {
    /** The latency of arithmetic; results are written in the order of the instructions but for some cycles. */
    SHORT,
    /** As above, for numbers of 64 bits. */
    MEDIUM,
    /** Matrices: fixed, but long. */
    LONG,
    /** Loads of shared memory. */
    SHARED,
    /** Shuffles. */
    SHUFFLE,
    /** The unit for functions and conversions. */
    FUNCTION,
    /** Loads of constants. */
    CONSTANT,
    /** Arithmetic on 64-bit numbers before sm_90. */
    DOUBLE,
    /** Matrices of 64-bit numbers. */
    DOUBLE_MATRIX,
    /** Matrices by descriptors: no scoreboard at all, {@code WARPGROUP.DEPBAR} waits for them. */
    GROUP,
    /** Needs a scoreboard each time. */
    ALONE;

    /** Cycles after which the result of {@link #SHORT} is there. ptxas leaves four to six. */
    public static final int SHORT_CYCLES = 6;
    /** As above, for {@link #MEDIUM}: ptxas leaves eight to twelve. */
    public static final int MEDIUM_CYCLES = 16;
    /** Cycles after which a predicate is there. ptxas leaves thirteen before an instruction that is under it. */
    public static final int PREDICATE_CYCLES = 13;
    /** Above the latency of everything that has a fixed one; that of a large {@code HMMA} is some 35. */
    public static final int LONG_CYCLES = 64;

    /** Cycles from the issue of arithmetic to its result at least: what was issued before and ends by then, ends before. */
    public static final int LEAST_LATENCY = 4;

    private static final int ALL_PREDICATES = 0x7f;
    private static final Map<String, ResultTiming> BY_NAME = new HashMap<>();
    private static final int KEYS = 1 << 13;
    private static final ResultTiming[][] BY_KEY = new ResultTiming[Architecture.values().length][KEYS];
    private static final byte[] PREDICATES = new byte[KEYS];
    private static final byte[] WIDTHS = new byte[KEYS];
    private static final Set<String> DOUBLES = Set.of("DMUL", "DADD", "DFMA", "DSETP");
    private static final byte OF_CHOICE = 4;
    private static final byte LOAD = 1;
    private static final byte MATRICES = 2;
    private static final byte NARROW = 3;
    private static final Set<String> LOADS = Set.of("LDG", "LD", "LDS", "LDL", "LDC");
    private static final int SIZE_OF_64_BITS = 5;
    private static final Set<String> WITH_TWO_PREDICATES = Set.of("FSETP", "ISETP", "DSETP", "HSETP2", "IADD3", "PLOP3", "VIMNMX");
    private static final Set<String> WITH_PREDICATE = Set.of("LEA", "LOP3", "IMAD", "IMAD.WIDE", "IMAD.HI", "VOTE", "R2UR", "ELECT", "FLO", "FCHK",
            "B2R", "SHFL", "ATOM", "ATOMG", "QSPC", "LDG", "MATCH", "TLD");
    /** {@code SYNCS.PHASECHK}; the other SYNCS have no result. */
    private static final int PHASE_CHECK = 0x15a7;

    static {
        put(SHORT,
                "MOV SEL FSEL FMNMX FSET FSETP ISETP VIMNMX3 IADD3 LEA LOP3 IABS PRMT SHF SGXT BMSK PLOP3 FMUL FADD FFMA IMAD IMAD.WIDE IDP IMAD.HI HADD2 HFMA2 HMUL2 "
                        + "HSET2 HSETP2 VIADD F2FP F2IP HMNMX2 I2FP VIADDMNMX VIMNMX IMNMX I2IP P2R R2P CS2R VOTE LEPC");
        put(MEDIUM, "DMUL DADD DFMA DSETP R2UR ELECT");
        put(LONG, "HMMA IMMA QMMA");
        put(SHARED, "LDS LDSM");
        put(SHUFFLE, "SHFL");
        put(FUNCTION, "BREV FCHK FLO FRND F2F F2I I2F MUFU POPC");
        put(CONSTANT, "LDC");
        put(DOUBLE_MATRIX, "DMMA");
        put(GROUP, "HGMMA IGMMA QGMMA");
        for (Architecture architecture : Architecture.values()) {
            ResultTiming[] timings = BY_KEY[architecture.ordinal()];
            Arrays.fill(timings, ALONE);
            for (int key = 0; key < KEYS; key++) {
                MachineOpcode operation = MachineOpcodes.find(architecture, key & 0xfff, (long) (key >>> 12) << 27);
                if (operation != null) {
                    timings[key] = timing(architecture, operation.name());
                    WIDTHS[key] = widthOf(key, operation, timings[key]);
                    PREDICATES[key] = predicateFields(key, operation);
                }
            }
        }
    }

    private static ResultTiming timing(Architecture architecture, String name) {
        if (architecture.hasDoublesByScoreboard() && DOUBLES.contains(name)) {
            return DOUBLE;
        }
        if (architecture.hasDoublesByScoreboard() && "R2UR".equals(name)) {
            return ALONE;
        }
        return BY_NAME.getOrDefault(name, ALONE);
    }

    private static void put(ResultTiming timing, String names) {
        Arrays.stream(names.split(" ")).forEach(name -> BY_NAME.put(name, timing));
    }

    /** Returns the timing of an instruction. */
    public static ResultTiming of(Architecture architecture, long low, long high) {
        return BY_KEY[architecture.ordinal()][InstructionWord.key(low, high)];
    }

    /**
     * Predicates that an instruction writes, as bits: bits 81 to 83 of it name one, and of comparisons, sums and {@code VIMNMX} bits 84 to 86 another one.
     * {@code FMNMX.IS_A} and {@code HMNMX2.IS_A} (bit 65) say in one or two which number they chose: bits 66 to 68 and 69 to 71.
     */
    public static int predicates(long low, long high) {
        return switch (PREDICATES[InstructionWord.key(low, high)]) {
            case 0 -> 0;
            case 1 -> 1 << (high >>> 17 & 7) & ALL_PREDICATES;
            case 2 -> (1 << (high >>> 17 & 7) | 1 << (high >>> 20 & 7)) & ALL_PREDICATES;
            case OF_CHOICE -> (high >>> 1 & 1) == 0 ? 0 : (1 << (high >>> 2 & 7) | 1 << (high >>> 5 & 7)) & ALL_PREDICATES;
            default -> InstructionWord.immediate(low) & ALL_PREDICATES;
        };
    }

    /**
     * Returns the maximum number of registers that an instruction writes, as given by its width field: bits 73 to 75 for loads, bits 72 and 73 for
     * matrices from shared memory; conversions without a 64-bit form write one.
     */
    public static int width(long low, long high) {
        return switch (WIDTHS[InstructionWord.key(low, high)]) {
            case LOAD -> {
                int size = (int) (high >>> 9) & 7;
                yield size < SIZE_OF_64_BITS ? 1 : size == SIZE_OF_64_BITS ? 2 : 4;
            }
            case MATRICES -> 1 << (high >>> 8 & 3);
            case NARROW -> 1;
            default -> InstructionWord.ZERO_REGISTER;
        };
    }

    private static byte widthOf(int key, MachineOpcode operation, ResultTiming timing) {
        int opcode = key & 0x1ff;
        boolean narrow = opcode >= 0x104 && opcode <= 0x107 && timing == FUNCTION;
        return LOADS.contains(operation.name()) ? LOAD : operation.name().equals("LDSM") ? MATRICES : narrow ? NARROW : 0;
    }

    private static byte predicateFields(int key, MachineOpcode operation) {
        boolean uniformPath = operation.name().startsWith("U") || operation.name().equals("VOTEU");
        if (operation.name().equals("R2P")) {
            return 3; // the immediate says which
        }
        if (operation.name().equals("FMNMX") || operation.name().equals("HMNMX2")) {
            return OF_CHOICE;
        }
        if (uniformPath) {
            return 0;
        }
        if (key == PHASE_CHECK || WITH_PREDICATE.contains(operation.name())) {
            return 1;
        }
        return (byte) (WITH_TWO_PREDICATES.contains(operation.name()) ? 2 : 0);
    }

    /** After how many cycles the result is there, of one with a fixed latency. */
    public int cycles() {
        return switch (this) {
            case SHORT -> SHORT_CYCLES;
            case MEDIUM -> MEDIUM_CYCLES;
            default -> LONG_CYCLES;
        };
    }

    /** Returns whether the compiler counts cycles for it. */
    public boolean isFixed() {
        return this == SHORT || this == MEDIUM || this == LONG;
    }

    /** Returns whether an instruction without a scoreboard is complete when a later one with a scoreboard is. */
    public boolean isInOrder() {
        return switch (this) {
            case SHARED, SHUFFLE, FUNCTION, CONSTANT, DOUBLE, DOUBLE_MATRIX -> true;
            default -> false;
        };
    }
}
