package io.tessera.guardian.machine.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.FencedCubin;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.NvccCubins;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.GlobalForm;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;
import io.tessera.guardian.machine.code.MachineOpcodes;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.container.CubinSymbols;
import io.tessera.guardian.machine.fence.CubinFencer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every bit of every fenced kernel is flipped alone. A bit that guards an address must not be flipped without a refusal:
 * <ul>
 * <li>of a fence, and of the instruction that loads the base: opcode, predicate, registers, immediate, function (bits 0 to 104), and cycles before the access;
 * <li>of an access: opcode, the form bits of descriptor and width, the uniform register, the address register where that is fenced;
 * <li>of the instruction that loads the driver's descriptor, where accesses take it: all but control bits.
 * </ul>
 * Other bits may be flipped, because none of them is part of an address that leaves the window: what an access loads or stores, and its width; its immediate, which reaches
 * 8 MiB and stays in the guard band; the address register of {@code [R.U32+UR]}, whose 32 bits are any offset of the window; operands of arithmetic, which an address is
 * made of before it is fenced. Control bits (105 to 125) order instructions; but for cycles the verifier does not look at them. Of the bits that guard, a flip is
 * harmless where the instruction has no address of global memory afterwards, is another access by the same address, or takes its address from another register
 * that the kernel fences: this is decided here by the fields of the word, not by what the verifier knows.
 */
@Tag("nvcc")
@Timeout(240)
class MutantTest {
    private static final int CONTROL = 105;
    private static final int LEAST_STALL = 5;
    private static final int EXTENDED = 72;
    @TempDir
    static Path folder;

    @BeforeAll
    static void findCompiler() {
        NvccCubins.require();
    }

    @ParameterizedTest
    @CsvSource({"loops, LOW_WORD", "loops, MASK", "compared, LOW_WORD", "compared, MASK", "called, LOW_WORD", "called, MASK", "switched, MASK",
            "copied, LOW_WORD", "copied, MASK", "vectors_moved, LOW_WORD", "vectors_moved, MASK", "divergent, MASK"})
    void noBitThatGuardsAnAddressMayFlip(String kernel, MachineFence.Kind kind) throws Exception {
        MachineFence fence = kind == MachineFence.Kind.MASK ? MachineFences.MASK : MachineFences.LOW_WORD;
        FencedCubin fenced = CubinFencer.fence(NvccCubins.compile(folder, "machine/forms", "sm_90"), fence);
        Cubin cubin = Cubin.read(fenced.bytes());
        CubinSection section = cubin.section(".text." + kernel);
        long[] words = CodeReader.words(section);
        BitSet entered = CodeReader.entered(cubin, section, CubinSymbols.of(cubin));
        assertTrue(accepts(words, entered, fence), "the kernel itself is accepted");
        List<String> escaped = new ArrayList<>();
        int guarded = 0;
        for (int i = 0; i < words.length / 2; i++) {
            for (int bit = 0; bit < 128; bit++) {
                if (!guards(words, i, bit, fence)) {
                    continue;
                }
                guarded++;
                long[] mutant = words.clone();
                mutant[2 * i + bit / 64] ^= 1L << bit % 64;
                if (accepts(mutant, entered, fence) && !isHarmless(mutant, words, i, fence)) {
                    escaped.add("bit " + bit + " of instruction 0x" + Integer.toHexString(16 * i) + " (" + Long.toHexString(words[2 * i]) + ")");
                }
            }
        }
        assertTrue(guarded > 100, guarded + " bits guard something");
        assertEquals(List.of(), escaped);
    }

    private static boolean accepts(long[] words, BitSet entered, MachineFence fence) {
        try {
            new SectionVerifier(SectionFlow.of(Architecture.SM_90, words, entered), fence, Set.of()).verify();
            return true;
        } catch (MachineCodeException refused) {
            return false;
        }
    }

    private static boolean guards(long[] words, int at, int bit, MachineFence fence) {
        long low = words[2 * at];
        long high = words[2 * at + 1];
        if (isFence(low, high, fence)) {
            return bit < CONTROL || isStall(words, at, bit, fence);
        }
        MachineOpcode operation = MachineOpcodes.find(Architecture.SM_90, low, high);
        if (isDescriptorLoad(low) && takesDescriptor(words, InstructionWord.uniformDestination(low))) {
            return bit < CONTROL;
        }
        if (!operation.isGlobal() || operation.name().equals("CCTL")) {
            return false;
        }
        boolean address = bit >= 24 && bit < 32;
        if (bit < 12 || bit == 91) {
            return true;
        }
        if (operation.kind() == Kind.GLOBAL && (isFormBit(low, high, bit) || isUniformBit(low, high, bit))) {
            return true;
        }
        if (operation.kind() == Kind.GLOBAL && fence.kind() == MachineFence.Kind.LOW_WORD) {
            return false;
        }
        return address || bit == EXTENDED && !operation.name().equals("LDGSTS");
    }

    /**
     * Returns whether the access, or the step, that uses the result of a fence would come before the result is ready; at the end of a block it must
     * be ready.
     */
    private static boolean isStall(long[] words, int at, int bit, MachineFence fence) {
        int key = InstructionWord.key(words[2 * at], words[2 * at + 1]);
        boolean computes = key == 0x812 || key == 0x802 && fence.mask() == 0;
        if (!computes || bit >= CONTROL + 4) {
            return false;
        }
        int register = InstructionWord.destination(words[2 * at]);
        int cycles = InstructionWord.cycles(words[2 * at + 1] ^ 1L << bit - 64);
        for (int i = at + 1;; i++) {
            MachineOpcode operation = MachineOpcodes.find(Architecture.SM_90, words[2 * i], words[2 * i + 1]);
            int source = InstructionWord.source(words[2 * i]);
            boolean takes = operation.isGlobal() ? source + 1 == register
                    : InstructionWord.key(words[2 * i], words[2 * i + 1]) == 0x812 && source == register;
            if (takes) {
                return cycles < LEAST_STALL;
            }
            cycles += InstructionWord.cycles(words[2 * i + 1]);
            if (SectionFlow.endsBlock(operation.kind())) {
                return cycles < LEAST_STALL;
            }
        }
    }

    /** {@code ULDC.64 UR, c[0x0][0x208]}. */
    private static boolean isDescriptorLoad(long low) {
        return (low & ~(0x3fL << 16)) == 0x0000820000007ab9L;
    }

    private static boolean takesDescriptor(long[] words, int uniform) {
        boolean any = false;
        for (int i = 0; i < words.length; i += 2) {
            MachineOpcode operation = MachineOpcodes.find(Architecture.SM_90, words[i], words[i + 1]);
            GlobalForm form = operation.kind() == Kind.GLOBAL ? GlobalForm.of(InstructionWord.key(words[i], words[i + 1])) : null;
            any |= form != null && form.hasDescriptor(words[i + 1]) && form.uniform(words[i], words[i + 1]) == uniform;
        }
        return any;
    }

    private static boolean isWideBit(long low, long high, int bit) {
        GlobalForm form = GlobalForm.of(InstructionWord.key(low, high));
        return bit >= 64 && form.isWide(high) != form.isWide(high ^ 1L << bit - 64);
    }

    private static boolean isFormBit(long low, long high, int bit) {
        GlobalForm form = GlobalForm.of(InstructionWord.key(low, high));
        return isWideBit(low, high, bit) || bit >= 64 && form.hasDescriptor(high) != form.hasDescriptor(high ^ 1L << bit - 64);
    }

    private static boolean isUniformBit(long low, long high, int bit) {
        GlobalForm form = GlobalForm.of(InstructionWord.key(low, high));
        long flippedLow = bit < 64 ? low ^ 1L << bit : low;
        long flippedHigh = bit < 64 ? high : high ^ 1L << bit - 64;
        return form.uniform(low, high) != form.uniform(flippedLow, flippedHigh);
    }

    /**
     * Returns whether the rewriter inserts such instructions: constants of the window, masks of registers. The zero of a pair, {@code UMOV UR, 0}, is
     * excluded, since any low half will do.
     */
    private static boolean isFence(long low, long high, MachineFence fence) {
        int immediate = InstructionWord.immediate(low);
        return switch (InstructionWord.key(low, high)) {
            case 0x882, 0x802 -> immediate == fence.baseHigh() && !isSecondBase(low);
            case 0x812 -> fence.mask() != 0 && InstructionWord.source(low) == InstructionWord.destination(low)
                    && (immediate == fence.mask() && (high >>> 8 & 0xff) == 0xea || immediate == fence.baseHigh()
                            || immediate == (fence.baseHigh() | fence.mask()));
            default -> false;
        };
    }

    /** The base of the pair for accesses that add a uniform register: the sample has none, so nothing depends on it. */
    private static boolean isSecondBase(long low) {
        return (low & 0xfff) == 0x882 && (InstructionWord.uniformDestination(low) & 3) == 1;
    }

    private static boolean isHarmless(long[] mutant, long[] words, int at, MachineFence fence) {
        long low = mutant[2 * at];
        long high = mutant[2 * at + 1];
        MachineOpcode operation = MachineOpcodes.find(Architecture.SM_90, low, high);
        if (!MachineOpcodes.find(Architecture.SM_90, words[2 * at], words[2 * at + 1]).isGlobal()) {
            return false;
        }
        if (!operation.isGlobal()) {
            return true;
        }
        int key = InstructionWord.key(low, high);
        if (operation.kind() == Kind.GLOBAL && fence.kind() == MachineFence.Kind.LOW_WORD) {
            GlobalForm form = GlobalForm.of(key);
            GlobalForm before = GlobalForm.of(InstructionWord.key(words[2 * at], words[2 * at + 1]));
            return !form.hasDescriptor(high) && !form.isWide(high) && form.uniform(low, high) == before.uniform(words[2 * at], words[2 * at + 1]);
        }
        boolean wide = operation.kind() == Kind.GLOBAL ? GlobalForm.of(key).isPlain(low, high) : GlobalForm.isRegisterWide(key, high);
        if (operation.kind() == Kind.GLOBAL && GlobalForm.of(key).hasDescriptor(high)) {
            wide &= isLoaded(words, GlobalForm.of(key).uniform(low, high));
        }
        int register = InstructionWord.source(low);
        return wide && register % 2 == 0 && hasFence(words, register + 1, fence);
    }

    /** Returns whether a pair holds the driver's descriptor in the code without the flip. */
    private static boolean isLoaded(long[] words, int uniform) {
        boolean any = false;
        for (int i = 0; i < words.length; i += 2) {
            any |= isDescriptorLoad(words[i]) && InstructionWord.uniformDestination(words[i]) == uniform;
        }
        return any;
    }

    private static boolean hasFence(long[] words, int register, MachineFence fence) {
        for (int i = 0; i < words.length; i += 2) {
            if (isFence(words[i], words[i + 1], fence) && InstructionWord.key(words[i], words[i + 1]) != 0x882
                    && InstructionWord.destination(words[i]) == register) {
                return true;
            }
        }
        return false;
    }
}
