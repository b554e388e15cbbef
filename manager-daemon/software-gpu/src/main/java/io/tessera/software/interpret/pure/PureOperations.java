package io.tessera.software.interpret.pure;

import io.tessera.software.program.LoweredInstruction;

/** Instructions that turn argument values into one result, sorted by type. Stateless. */
public final class PureOperations {
    private PureOperations() {
    }

    /**
     * Returns the result.
     *
     * @param a arguments: raw bits, zero-extended from their register's width
     * @return raw bits; signed results may be sign-extended, the register cuts them
     * @throws UnsupportedOperationException if the software GPU lacks the instruction; {@code InstructionCheck} refuses a kernel with it before it runs
     */
    public static long compute(LoweredInstruction i, long[] a) {
        return switch (i.opcode()) {
            case CVT -> ConvertOperations.convert(i, a);
            case CVT_PACK -> ConvertOperations.pack(i, a);
            case SET -> CompareOperations.set(i, a);
            case SELP -> a[2] != 0 ? a[0] : a[1];
            case SLCT -> CompareOperations.select(i, a);
            case TESTP -> CompareOperations.test(i, a);
            case AND, OR, XOR, NOT, CNOT, SHL, SHR, SHF, POPC, CLZ, BFIND, FNS, BREV, BFE, BFI, BMSK, SZEXT, PRMT,
                    DP4A, DP2A ->
                BitFieldOperations.compute(i, a);
            case VADD, VSUB, VABSDIFF, VMIN, VMAX, VSHL, VSHR, VMAD, VSET -> VideoOperations.scalar(i, a);
            case VADD2, VSUB2, VAVRG2, VABSDIFF2, VMIN2, VMAX2, VSET2, VADD4, VSUB4, VAVRG4, VABSDIFF4, VMIN4, VMAX4,
                    VSET4 ->
                VideoOperations.lanes(i, a);
            default -> switch (i.type()) {
                case F32 -> SingleOperations.compute(i, a);
                case F64 -> DoubleOperations.compute(i, a);
                case F16, BF16 -> HalfOperations.compute(i, a);
                case F16X2, BF16X2 -> HalfOperations.packed(i, a);
                case U16X2, S16X2 -> IntegerOperations.packed(i, a);
                default -> {
                    if (i.type().isFloat()) {
                        throw new UnsupportedOperationException(i.spelling());
                    }
                    yield IntegerOperations.compute(i, a);
                }
            };
        };
    }
}
