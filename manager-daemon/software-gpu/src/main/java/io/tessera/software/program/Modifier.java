package io.tessera.software.program;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Words after an opcode that are neither type nor state space. Constants carry PTX's spelling. */
public enum Modifier {
    // Rounding.
    RN, RZ, RM, RP, RNA, RNI, RZI, RMI, RPI, RS,
    // Float behaviour.
    FTZ, SAT, SATFINITE, RELU, NAN, ABS, XORSIGN("xorsign"), APPROX, FULL, NOFTZ, OOB,
    // Integer behaviour.
    CC, HI, LO, WIDE, WRAP, CLAMP, SHIFTAMT, L, R,
    // Comparisons; the unsigned forms lo, ls, hs share LO and HI with multiplication.
    EQ, NE, LT, LE, GT, GE, LS, HS, EQU, NEU, LTU, LEU, GTU, GEU, NUM,
    // Combination, atomic operations.
    AND, OR, XOR, ADD, SUB, INC, DEC, MIN, MAX, EXCH, CAS, POPC,
    // prmt.
    F4E, B4E, RC8, ECL, ECR, RC16,
    // testp.
    FINITE, INFINITE, NUMBER, NOTANUMBER, NORMAL, SUBNORMAL,
    // Warp operations.
    SYNC, UP, DOWN, BFLY, IDX, ALL, ANY, UNI, BALLOT, ARRIVE, RED, ALIGNED, WAIT,
    // Memory order, scope, proxy.
    VOLATILE, RELAXED, ACQUIRE, RELEASE, ACQ_REL, SC, WEAK, MMIO, CTA, CLUSTER, GPU, SYS, GL, PROXY, ALIAS, ASYNC,
    // Cache behaviour: hints without effect on results.
    NC, CA, CG, CS, CV, LU, WB, WT, L1, L2, CACHE_HINT, HINT, UNIFIED,
    // Vectors, conversions of addresses.
    V2, V4, V8, TO, EXPLICITCLUSTER, ISPTR,
    // Mbarrier and asynchronous copies.
    NOCOMPLETE, PARITY, NOINC, EXPECT_TX, SHARED_MBARRIER, DROP,
    // Textures and surfaces.
    GEOM_1D("1d"), GEOM_2D("2d"), GEOM_3D("3d"), GEOM_4D("4d"), GEOM_5D("5d"), GEOM_A1D("a1d"), GEOM_A2D("a2d"), GEOM_CUBE("cube"), GEOM_ACUBE(
            "acube"), LEVEL, GRAD, BASE, TRAP, ZERO, WIDTH, HEIGHT, DEPTH, CHANNEL_DATA_TYPE, CHANNEL_ORDER, ARRAY_SIZE, NUM_MIPMAP_LEVELS, NUM_SAMPLES, B, P, GATHER_R(
                    "r"), GATHER_G("g"), GATHER_B("b"), GATHER_A("a"),
    // Matrices: layouts, how many there are, extents.
    ROW, COL, X1, X2, X4, TRANS, M8N8, M8N8K4, M8N8K16, M8N8K32, M8N8K128, M16N8K4, M16N8K8, M16N8K16, M16N8K32, M16N8K64, M16N8K128, M16N8K256,
    // Dot products and video.
    H0, H1, B0, B1, B2, B3, PO, SHR7, SHR15,
    // Misordered words of single instructions.
    LAUNCH_DEPENDENTS, EVICT_LAST, EVICT_NORMAL, EVICT_FIRST, EVICT_UNCHANGED, FRACTIONAL, RANGE, NOALLOC, U, M;

    private static final Map<String, Modifier> BY_TOKEN = new HashMap<>();

    static {
        for (Modifier modifier : values()) {
            BY_TOKEN.putIfAbsent(modifier.token, modifier);
        }
    }

    private final String token;

    Modifier() {
        this.token = name().toLowerCase(Locale.ROOT);
    }

    Modifier(String token) {
        this.token = token;
    }

    /** PTX's spelling, without the dot. */
    public String token() {
        return token;
    }

    /** Returns the modifier of this spelling, or null. */
    public static Modifier ofToken(String token) {
        return BY_TOKEN.get(token);
    }
}
