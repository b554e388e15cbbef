package io.tessera.guardian.machine;

import io.tessera.guardian.machine.code.Architecture;

/** Cubins for tests that need one with all its parts. */
public final class SampleCubins {
    private SampleCubins() {
    }

    /** As above, for sm_90. */
    public static byte[] full(int variant) {
        return full(variant, Architecture.SM_90);
    }

    /** Two kernels, a function, attributes with offsets, a branch table, a relocation, global variables. */
    public static byte[] full(int variant, Architecture architecture) {
        CodeWords branches = new CodeWords(architecture).load(0, 2).compare(0, 0, 5).branch(6).under(0).store(2, 0).branchByTable(4).exit().load(6, 8)
                .store(8, 6)
                .exit();
        CodeWords calls = new CodeWords(architecture).load(0, 2).callSymbol().store(2, 0).exit();
        CodeWords function = new CodeWords(architecture).compareAndSwap(0, 4, 6, 7).returnBy(20);
        return new CubinBuilder(variant, architecture.number()).kernel("branches", 11, branches).kernel("calls", 26, calls)
                .function("function", 26, function)
                .attribute("branches", 0x34, 0x40, 0, 2, 0x50, 0x60).attribute("branches", 0x1c, 0x50, 0x80).attribute("calls", 0x1c, 0x30)
                .relocation("calls", 0x10, architecture == Architecture.SM_90 ? 0x4b : 0x3a, 3, 0).tables("branches", 0x50, 0x60)
                .section(".nv.global", 8, 3, new byte[40]).section(".nv.constant0.branches", 1, 2, new byte[544]).build();
    }
}
