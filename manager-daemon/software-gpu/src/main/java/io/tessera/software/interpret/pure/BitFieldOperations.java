package io.tessera.software.interpret.pure;

import io.tessera.software.arithmetic.BitOperations;
import io.tessera.software.arithmetic.DotProducts;
import io.tessera.software.arithmetic.Permutation;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.ValueType;

/** Logic, shifts, bit fields, permutations and dot products. Stateless. */
final class BitFieldOperations {
    private BitFieldOperations() {
    }

    static long compute(LoweredInstruction i, long[] a) {
        ValueType type = i.type();
        int bits = type.bits();
        return switch (i.opcode()) {
            case AND -> a[0] & a[1];
            case OR -> a[0] | a[1];
            case XOR -> a[0] ^ a[1];
            case NOT -> type == ValueType.PRED ? a[0] ^ 1 : ~a[0];
            case CNOT -> a[0] == 0 ? 1 : 0;
            case SHL -> shiftLeft(bits, a[0], (int) a[1]);
            case SHR -> shiftRight(type, a[0], (int) a[1]);
            case SHF -> funnel(i, (int) a[0], (int) a[1], (int) a[2]);
            case POPC -> Long.bitCount(a[0]);
            case CLZ -> Long.numberOfLeadingZeros(a[0]) - (64 - bits);
            case BFIND -> find(i, type, a[0]);
            case FNS -> BitOperations.findNthSet((int) a[0], (int) a[1], (int) a[2]);
            case BREV -> Long.reverse(a[0]) >>> 64 - bits;
            case BFE -> extract(type, a[0], (int) a[1], (int) a[2]);
            case BFI -> bits == 64 ? BitOperations.insert64(a[0], a[1], (int) a[2], (int) a[3])
                    : BitOperations.insert32((int) a[0], (int) a[1], (int) a[2], (int) a[3]);
            case BMSK -> i.has(Modifier.WRAP) ? BitOperations.maskWrap((int) a[0], (int) a[1])
                    : BitOperations.maskClamp((int) a[0], (int) a[1]);
            case SZEXT -> extendBits(i, type.isSigned(), (int) a[0], (int) a[1]);
            case PRMT -> permute(i, (int) a[0], (int) a[1], (int) a[2]);
            case DP4A -> DotProducts.dp4a((int) a[0], (int) a[1], (int) a[2], i.types().get(0).isSigned(),
                    i.types().get(1).isSigned());
            case DP2A -> DotProducts.dp2a((int) a[0], (int) a[1], (int) a[2], i.types().get(0).isSigned(),
                    i.types().get(1).isSigned(), i.has(Modifier.HI));
            default -> throw new UnsupportedOperationException(i.spelling());
        };
    }

    private static long shiftLeft(int bits, long a, int amount) {
        return switch (bits) {
            case 16 -> BitOperations.shl16((int) a, amount);
            case 32 -> BitOperations.shl32((int) a, amount);
            default -> BitOperations.shl64(a, amount);
        };
    }

    private static long shiftRight(ValueType type, long a, int amount) {
        return switch (type) {
            case S16 -> BitOperations.shrS16((int) a, amount);
            case S32 -> BitOperations.shrS32((int) a, amount);
            case S64 -> BitOperations.shrS64(a, amount);
            case U16, B16 -> BitOperations.shrU16((int) a, amount);
            case U32, B32 -> BitOperations.shrU32((int) a, amount);
            default -> BitOperations.shrU64(a, amount);
        };
    }

    private static int funnel(LoweredInstruction i, int low, int high, int amount) {
        boolean wrap = i.has(Modifier.WRAP);
        if (i.has(Modifier.L)) {
            return wrap ? BitOperations.funnelLeftWrap(low, high, amount)
                    : BitOperations.funnelLeftClamp(low, high, amount);
        }
        return wrap ? BitOperations.funnelRightWrap(low, high, amount)
                : BitOperations.funnelRightClamp(low, high, amount);
    }

    private static long find(LoweredInstruction i, ValueType type, long a) {
        int position = switch (type) {
            case S32 -> BitOperations.findS32((int) a);
            case S64 -> BitOperations.findS64(a);
            case U32 -> BitOperations.findU32((int) a);
            default -> BitOperations.findU64(a);
        };
        return i.has(Modifier.SHIFTAMT) ? BitOperations.shiftAmount(position, type.bits()) : position;
    }

    private static long extract(ValueType type, long a, int position, int length) {
        return switch (type) {
            case S32 -> BitOperations.extractS32((int) a, position, length);
            case S64 -> BitOperations.extractS64(a, position, length);
            case U32 -> BitOperations.extractU32((int) a, position, length);
            default -> BitOperations.extractU64(a, position, length);
        };
    }

    private static long extendBits(LoweredInstruction i, boolean signed, int a, int count) {
        if (i.has(Modifier.WRAP)) {
            return signed ? BitOperations.signExtendWrap(a, count) : BitOperations.zeroExtendWrap(a, count);
        }
        return signed ? BitOperations.signExtendClamp(a, count) : BitOperations.zeroExtendClamp(a, count);
    }

    private static long permute(LoweredInstruction i, int a, int b, int selector) {
        Modifier mode = i.firstOf(Modifier.F4E, Modifier.B4E, Modifier.RC8, Modifier.ECL, Modifier.ECR,
                Modifier.RC16);
        return switch (mode) {
            case null -> Permutation.index(a, b, selector);
            case F4E -> Permutation.forward(a, b, selector);
            case B4E -> Permutation.backward(a, b, selector);
            case RC8 -> Permutation.replicate8(a, b, selector);
            case ECL -> Permutation.edgeClampLeft(a, b, selector);
            case ECR -> Permutation.edgeClampRight(a, b, selector);
            default -> Permutation.replicate16(a, b, selector);
        };
    }
}
