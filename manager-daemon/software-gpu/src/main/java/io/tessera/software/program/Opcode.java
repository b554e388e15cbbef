package io.tessera.software.program;

/**
 * Operations of lowered instructions. Where PTX spells several operations with one first word (bar, cp.async,
 * mbarrier), each has its own constant.
 */
public enum Opcode {
    // Integer and float arithmetic.
    ADD, ADDC, SUB, SUBC, MUL, MAD, MADC, MUL24, MAD24, FMA, SAD, DIV, REM, ABS, NEG, MIN, MAX, RCP, SQRT, RSQRT, SIN, COS, LG2, EX2, TANH, TESTP, COPYSIGN,
    // Bits.
    AND, OR, XOR, NOT, CNOT, LOP3, SHL, SHR, SHF, POPC, CLZ, BFIND, FNS, BREV, BFE, BFI, BMSK, SZEXT, PRMT, DP4A, DP2A,
    // Video: scalars, 2 lanes of 16 bits, 4 of 8.
    VADD, VSUB, VABSDIFF, VMIN, VMAX, VSHL, VSHR, VMAD, VSET, VADD2, VSUB2, VAVRG2, VABSDIFF2, VMIN2, VMAX2, VSET2, VADD4, VSUB4, VAVRG4, VABSDIFF4, VMIN4, VMAX4, VSET4,
    // Comparison and selection.
    SET, SETP, SELP, SLCT,
    // Movement and conversion.
    MOV, CVT, CVT_PACK, CVTA, ISSPACEP, MAPA, GETCTARANK,
    // Memory.
    LD, LDU, ST, ATOM, RED, PREFETCH, PREFETCHU, APPLYPRIORITY, DISCARD, CREATEPOLICY, FENCE, CP_ASYNC, CP_ASYNC_BULK_TENSOR_LOAD, CP_ASYNC_BULK_TENSOR_STORE, CP_ASYNC_COMMIT, CP_ASYNC_WAIT, CP_ASYNC_MBARRIER_ARRIVE, MBARRIER_INIT, MBARRIER_INVAL, MBARRIER_ARRIVE, MBARRIER_ARRIVE_DROP, MBARRIER_EXPECT_TX, MBARRIER_COMPLETE_TX, MBARRIER_TEST_WAIT, MBARRIER_TRY_WAIT, MBARRIER_PENDING_COUNT, STACKSAVE, STACKRESTORE, ALLOCA,
    // Textures and surfaces.
    TEX, TLD4, TXQ, SULD, SUST, SURED, SUQ,
    // Control.
    BRA, BRX, CALL, CALL_INDIRECT, CALL_RUNTIME, RET, EXIT, TRAP, BRKPT, NANOSLEEP, PMEVENT, NOP,
    // Between threads.
    BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_RED, CLUSTER_ARRIVE, CLUSTER_WAIT, WARP_SYNC, SHFL, VOTE, MATCH, REDUX, ELECT, ACTIVEMASK,
    // Tensor cores.
    MMA, LDMATRIX, STMATRIX, MOVMATRIX;

    /** Returns whether control may go elsewhere than to the next instruction, so that this ends a basic block. */
    public boolean endsBlock() {
        return switch (this) {
            case BRA, BRX, RET, EXIT, TRAP -> true;
            default -> false;
        };
    }

    /** Returns whether this is a video instruction, whose operands have selectors. */
    public boolean isVideo() {
        return compareTo(VADD) >= 0 && compareTo(VSET4) <= 0;
    }

    /** Lanes of a video instruction; 1 where it works on scalars. */
    public int videoLanes() {
        return name().endsWith("2") ? 2 : name().endsWith("4") ? 4 : 1;
    }

    /**
     * Returns whether the thread stops here until others arrive: the state must be complete in
     * {@code ThreadState} at such an instruction.
     */
    public boolean waitsForOthers() {
        return switch (this) {
            case BARRIER_SYNC, BARRIER_RED, CLUSTER_WAIT, WARP_SYNC, SHFL, VOTE, MATCH, REDUX, ELECT, MMA, LDMATRIX, STMATRIX,
                    MOVMATRIX ->
                true;
            default -> false;
        };
    }
}
