package io.tessera.guardian.machine.code;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/**
 * The known instructions, by {@link InstructionWord#key}. A kernel with any other instruction is refused. The table was determined from the output of
 * ptxas and the libraries of CUDA 13 for each {@link Architecture}, with nvdisasm as the reference for names and operands. Immutable.
 */
public final class MachineOpcodes {
    /**
     * A line: a name, what it writes, its keys. What it writes is a number of general registers, {@code *} for any, or {@code u} and a
     * number of uniform ones. The least number that covers all widths of the instruction is given: two for conversions from or to 64 bits, four for loads.
     */
    private static final String PLAIN = """
            MOV 1 202 802 1c02
            P2R 1 803
            R2P 0 804
            CS2R 2 805
            VOTE 1 806
            SEL 1 207 807 1c07
            FSEL 1 208 808 1c08
            FMNMX 1 209 809 1c09
            FSET 1 20a 80a
            FSETP 0 20b 80b 1c0b
            ISETP 0 20c 80c 1c0c
            IADD3 1 210 810 1c10
            LEA 1 211 411 811 1c11
            LOP3 1 212 812 1c12
            IABS 1 213 1c13
            PRMT 1 216 816 1e16
            SHF 1 219 419 819 1c19
            SGXT 1 21a 81a 1c1a
            BMSK 1 21b 81b 1c1b
            PLOP3 0 81c
            FMUL 1 220 820 1c20
            FADD 1 221 421 1e21
            FFMA 1 223 423 823 1c23 1e23
            IMAD 1 224 424 824 1c24 1e24
            IMAD.WIDE 2 225 825 1c25 1e25
            IDP 1 226 1c26
            IMAD.HI 1 227 827 1c27
            DMUL 2 228 828 1c28
            DADD 2 229 429 1e29
            DSETP 0 22a 42a 1e2a
            DFMA 2 22b 42b 82b 1c2b 1e2b
            HADD2 1 230 430
            HFMA2 1 231 831 1c31 235 435 835
            HMUL2 1 232 1c32
            HSET2 1 233 433
            HSETP2 0 234 434 1e34
            IMMA 4 237
            MOVM 1 23a
            HMMA 4 23c
            F2FP 1 23e 83e 1c3e
            DMMA 8 23f
            HMNMX2 1 240 1c40
            UMOV u1 882 1c82
            UP2UR u1 1883
            VOTEU u1 886
            USEL u1 1287 1887
            UISETP 0 128c 188c
            UIADD3 u1 1290 1890
            ULEA u1 1291 1891
            ULOP3 u1 1292 1892
            UPRMT u1 1896
            USHF u1 1299 1499 1899
            USGXT u1 129a 189a
            UBMSK u1 129b 189b
            UPLOP3 0 89c
            UIMAD u1 12a4 14a4 18a4
            UIMAD.WIDE u2 12a5 18a5
            UFLO u1 12bd
            UPOPC u1 12bf
            FLO 1 300 1d00
            BREV 1 301
            FCHK 0 302 902 1d02
            F2F 2 304 310 1d04 1d10
            F2I 2 305 311 1d05 1d11
            I2F 2 306 312 906 912 1d06 1d12
            FRND 2 307 313 1d07 1d13
            MUFU 1 308 908 1d08
            POPC 1 309 1d09
            NOP 0 918
            S2R 1 919
            DEPBAR 0 91a
            B2R 1 31c
            BAR 0 31d 51d 91d b1d
            YIELD 0 946
            BMOV 1 355
            BMOV 0 356
            NANOSLEEP 0 35d 95d
            SHFL 1 389 589 989 f89
            MEMBAR 0 992
            MATCH 1 3a1
            ERRBAR 0 9ab
            LDGDEPBAR 0 9af
            S2UR u1 9c3
            REDUX u1 3c4
            """;
    private static final String ON_CHIP = """
            LDSM 4 83b 183b
            ULDC u2 ab9 1abb abb
            LDC 2 b82
            LDL 4 983 1983
            LDS 4 984 1984
            STL 0 387 988 1987
            STS 0 388 1988
            ATOMS 4 38c 38d 198c 1f8c
            """;
    private static final String GLOBAL = """
            LD 4 1980
            LDG 4 1981
            ST 0 1985
            STG 0 1986
            ATOM 4 198a
            REDG 0 198e
            ATOMG 4 19a8
            LDGSTS 0 1fae
            """;
    private static final String GLOBAL_REGISTER = """
            LDG 4 381
            LD 4 980
            ST 0 385
            STG 0 386
            ATOM 4 38b
            ATOMG 4 3a8 3a9
            LDGSTS 0 1dae
            """;
    /** As above, from sm_90 on. */
    private static final String PLAIN_SINCE_90 = """
            VIMNMX3 1 20f 80f 1c0f
            PREEXIT 0 82d
            ACQBULK 0 82e
            ELECT u1 82f
            VIADD 1 836 1c36
            VIADDMNMX 1 246 446 846 1c46 1e46
            VIMNMX 1 248 848 1c48
            UIADD3.64 u2 1297 1897
            R2UR u1 2ca
            CGAERRBAR 0 5ab
            UTMACMDFLUSH 0 9b7
            WARPGROUP 0 9c5
            FENCE 0 3c6
            UCGABAR 0 19c7 1dc7
            USETSHMSZ 0 19c9
            """;
    private static final String ON_CHIP_SINCE_90 = """
            STSM 0 844 1844
            SYNCS 2 15a7 19a7
            SYNCS u2 15b2
            SYNCS 0 19b1
            ARRIVES 0 19b0
            STAS 0 1dbd
            """;
    private static final String GLOBAL_SINCE_90 = """
            ATOM 4 19a2
            REDG 0 19a6
            ATOMG 4 19a3
            """;
    /** As above, before sm_90. */
    private static final String PLAIN_BEFORE_90 = """
            IMNMX 1 217 817 1c17
            I2IP 1 239
            LEPC 2 34e
            R2UR u1 3c2
            FCHK 0 b02
            I2F 2 b06 b12
            MUFU 1 b08
            F2F 2 b10
            F2I 2 b11
            FRND 2 b13
            """;
    /** Convergence barriers B0 to B15. */
    private static final int BARRIERS = 16;
    private static final int FIRST_ARITHMETIC = 0x02;
    private static final int LAST_ARITHMETIC = 0x48;
    private static final MachineOpcode[][] TABLES = new MachineOpcode[Architecture.values().length][1 << 13];

    static {
        addCommon(EnumSet.allOf(Architecture.class));
        addSince90(EnumSet.of(Architecture.SM_90));
        EnumSet<Architecture> before = EnumSet.complementOf(EnumSet.of(Architecture.SM_90));
        add(before, Kind.PLAIN, PLAIN_BEFORE_90);
        add(before, Kind.TEXTURE, "TLD * b66");
        add(EnumSet.complementOf(EnumSet.of(Architecture.SM_80)), Kind.PLAIN, "F2IP 1 243\nI2FP 1 245 1c45");
        add(EnumSet.of(Architecture.SM_89), Kind.PLAIN, "QMMA 4 27a");
    }

    private MachineOpcodes() {
    }

    private static void addCommon(Set<Architecture> all) {
        add(all, Kind.PLAIN, PLAIN);
        add(all, Kind.ON_CHIP, ON_CHIP);
        add(all, Kind.GLOBAL, GLOBAL);
        add(all, Kind.GLOBAL_REGISTER, GLOBAL_REGISTER);
        add(all, Kind.SPACE_TEST, "QSPC 1 3aa");
        add(all, Kind.TEXTURE, "TLD * 1f66");
        add(all, Kind.BRANCH, "BRA 0 947 1947 547 1547");
        add(all, Kind.INDIRECT_BRANCH, "BRX 0 949\nBRXU 0 1958");
        add(all, Kind.CALL, "CALL * 944");
        add(all, Kind.CALL_SYMBOL, "CALL * 943");
        add(all, Kind.CALL_REGISTER, "CALL * 343");
        add(all, Kind.RETURN, "RET 0 950");
        add(all, Kind.EXIT, "EXIT 0 94d");
        add(all, Kind.TRAP, "BPT 0 95c");
        add(all, Kind.MEETING, "BSSY 0 945");
        add(all, Kind.MEET, "BSYNC 0 941");
        add(all, Kind.PLAIN, "BREAK 0 942");
    }

    private static void addSince90(Set<Architecture> some) {
        add(some, Kind.PLAIN, PLAIN_SINCE_90);
        add(some, Kind.ON_CHIP, ON_CHIP_SINCE_90);
        add(some, Kind.GLOBAL, GLOBAL_SINCE_90);
        add(some, Kind.TENSOR, "UTMALDG 0 13b4 15b4\nUTMASTG 0 13b5\nUTMAREDG 0 13b6\nUTMAPF 0 15b8\nUTMACCTL 0 19b9");
        add(some, Kind.MATRIX, "HGMMA * 19f0 1df0\nIGMMA * 19f1 1df1\nQGMMA * 19f3 1df3");
        add(some, Kind.PLAIN, "LEPC 2 94e\nENDCOLLECTIVE * 91b");
        add(some, Kind.COLLECTIVE, "WARPSYNC * 348 948");
        add(some, Kind.REGISTER_COUNT, "USETMAXREG * 19c8");
    }

    private static void add(Set<Architecture> architectures, Kind kind, String lines) {
        for (String line : lines.strip().split("\n")) {
            String[] words = line.strip().split(" ");
            boolean uniform = words[1].startsWith("u");
            int count = "*".equals(words[1]) ? MachineOpcode.MANY : Integer.parseInt(uniform ? words[1].substring(1) : words[1]);
            MachineOpcode operation = new MachineOpcode(words[0], kind, uniform ? 0 : count, uniform ? count : 0);
            for (String key : Arrays.asList(words).subList(2, words.length)) {
                for (Architecture architecture : architectures) {
                    TABLES[architecture.ordinal()][Integer.parseInt(key, 16)] = operation;
                    addForms(TABLES[architecture.ordinal()], Integer.parseInt(key, 16), operation);
                }
            }
        }
    }

    /**
     * Arithmetic on two or three operands exists with each kind of operand in place of the second or third: a register (2), an immediate (4, 8), a constant (6, a) or, with
     * bit 12, a uniform register (c, e).
     */
    private static void addForms(MachineOpcode[] table, int key, MachineOpcode operation) {
        int opcode = key & 0x1ff;
        if (opcode >= FIRST_ARITHMETIC && opcode <= LAST_ARITHMETIC && operation.kind() == Kind.PLAIN && operation.uniforms() == 0
                && (key & 0x1fff) >>> 9 == 1) {
            for (int form : new int[] {0x400, 0x600, 0x800, 0xa00, 0x1c00, 0x1e00}) {
                table[form | opcode] = operation;
            }
        }
    }

    /** Returns the known facts about an instruction; null if there are none. */
    public static MachineOpcode find(Architecture architecture, long low, long high) {
        int key = InstructionWord.key(low, high);
        if (key == 0x98f) {
            return cacheControl(high);
        }
        if (isConstantLoad(key) && (high >>> 9 & 7) > WIDEST_CONSTANT) {
            return null; // Not in any compiled code: it might write more registers than the table says.
        }
        if (key == 0x356 && (low >>> 24 & 0x3f) >= BARRIERS) {
            return null; // special registers, among them where a thread goes on after its exit
        }
        boolean mayLead = architecture == Architecture.SM_90; // before, the operand is a mask of threads and no WARPSYNC has a target
        if ((key == 0x348 || key == 0x948) && (high & WITHOUT_CONTROL) == NO_OPERANDS && (!mayLead || (low & 0xffffffff00ff0000L) == 0)) {
            return WAIT_FOR_WARP;
        }
        return TABLES[architecture.ordinal()][key];
    }

    private static boolean isConstantLoad(int key) {
        int opcode = key & 0xfff;
        return opcode == 0xb82 || opcode == 0xab9 || opcode == 0xabb;
    }

    /**
     * {@code CCTL} has an address of 64 bits ({@code .E}, bit 72); {@code CCTL.IVALL} has none. Forms with an address of 32 bits do not occur in
     * compiled code.
     */
    private static MachineOpcode cacheControl(long high) {
        return (high >>> 8 & 1) != 0 ? PREFETCH : (high >>> 23 & 0xf) == ALL_LINES ? INVALIDATE : null;
    }

    /** Bits 73 to 75 of {@code LDC} and {@code ULDC}: 64 bits. */
    private static final int WIDEST_CONSTANT = 5;
    private static final long WITHOUT_CONTROL = (1L << 41) - 1;
    /** The second word of an instruction whose only operand is the predicate that is always true. */
    private static final long NO_OPERANDS = 7L << 23;
    /** Goes on at the next instruction; {@code WARPSYNC.COLLECTIVE} (bit 86) at another, behind what the threads do together. */
    private static final MachineOpcode WAIT_FOR_WARP = new MachineOpcode("WARPSYNC", Kind.PLAIN, 0, 0);
    private static final MachineOpcode PREFETCH = new MachineOpcode("CCTL", Kind.GLOBAL_REGISTER, 0, 0);
    /** {@code .IVALL} in bits 87 to 90. */
    private static final int ALL_LINES = 4;
    private static final MachineOpcode INVALIDATE = new MachineOpcode("CCTL", Kind.PLAIN, 0, 0);
}
