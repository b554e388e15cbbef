package io.tessera.guardian.fence.proof.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.proof.AddressFact;
import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.BaseFence;
import io.tessera.guardian.fence.proof.CarriedPointer;
import io.tessera.guardian.fence.proof.Derivation;
import io.tessera.guardian.fence.proof.LoopCut;
import io.tessera.guardian.fence.proof.Placement;
import io.tessera.guardian.fence.proof.analysis.FunctionAnalysis;
import io.tessera.guardian.fence.proof.graph.AnalysedModule;
import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tests the facts proved about kernels as compilers write them, and the facts that must not be proved about others. */
class ProvedFactsTest {
    private static final String LOOP = """
            mov.u64 %rd2, %rd1;
            mov.u32 %r2, START;
            loop:
            ld.global.f32 %f1, [%rd2+4];
            add.s64 %rd2, %rd2, 16;
            add.s32 %r2, %r2, -4;
            setp.ne.s32 %p1, %r2, 0;
            @%p1 bra loop;
            """;

    /** Name of the variable tile in the tree: the kernel has three parameters before it. */
    private static final String TILE = "$v3";

    private final List<Instruction> instructions = new ArrayList<>();
    private AddressFacts facts;
    private List<String> lines = List.of();

    private void analyse(String statements) throws PtxException {
        analyse(statements, "");
    }

    private void analyse(String statements, String attributes) throws PtxException {
        // Each instruction has a line of its own, by which its source is found again.
        String text = (".version 9.0\n.target sm_90\n.address_size 64\n.global .align 8 .b8 table[64];\n"
                + ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) " + attributes + "\n{\n\t.reg .pred %p<4>;\n"
                + "\t.reg .f32 %f<4>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n\t.shared .align 4 .b8 tile[1024];\n\tld.param.u64 %rd1, [p];\n"
                + "\tld.param.u32 %r1, [n];\n" + statements + "\n\tret;\n}\n").replace(";", ";\n");
        lines = text.lines().toList();
        PtxModule module = PtxParser.parse(text);
        PtxFunction kernel = module.entry("k").orElseThrow();
        instructions.clear();
        flatten(kernel.body().orElseThrow());
        facts = new DataFlowOracle().of(kernel, new AnalysedModule(module));
    }

    private void flatten(Block block) {
        block.statements().forEach(statement -> {
            if (statement instanceof Instruction instruction) {
                instructions.add(instruction);
            }
        });
    }

    private Instruction find(String text) {
        return instructions.stream().filter(each -> lines.get(each.line() - 1).contains(text)).findFirst().orElseThrow();
    }

    private AddressFact fact(String text) {
        Instruction found = find(text);
        return facts.of(found, found.opcode().equals("st") ? 0 : 1);
    }

    private static void assertFencedBase(AddressFact fact, int alignment) {
        assertInstanceOf(Placement.FencedBase.class, fact.placement());
        assertEquals(alignment, fact.alignmentBytes());
    }

    @Test
    void aParameterIsFencedOnceAndIndicesAreAdded() throws PtxException {
        analyse("mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3+8]; st.global.f32 [%rd3], %f1;");
        assertFencedBase(fact("ld.global"), 4);
        assertFencedBase(fact("st.global"), 4);
        assertEquals(List.of(new BaseFence(instructions.getFirst(), facts.baseFences().getFirst().register(), 4, false, false)),
                facts.baseFences());
        assertEquals(List.of(new Derivation(find("add.s64"), 1)), facts.derivations());
    }

    @Test
    void anUnknownOffsetIsFencedWhereItIsAdded() throws PtxException {
        analyse("ld.param.u64 %rd2, [q]; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3];");
        assertEquals(List.of(find("add.s64")), facts.baseFences().stream().map(BaseFence::definition).toList());
    }

    @Test
    void offsetsBeyondTheGuardBandAreNotDerived() throws PtxException {
        analyse("mul.wide.s32 %rd2, %r1, 32; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3];");
        assertEquals(List.of(find("add.s64")), facts.baseFences().stream().map(BaseFence::definition).toList());
        analyse("mul.wide.s32 %rd2, %r1, 20; add.s64 %rd3, %rd1, %rd2; ld.global.f64 %rd4, [%rd3+16];");
        assertEquals(List.of(find("add.s64")), facts.baseFences().stream().map(BaseFence::definition).toList());
    }

    @Test
    void aCountedPointerIsFencedWhereItIsFollowedToo() throws PtxException {
        analyse(LOOP.replace("START", "4096"));
        assertInstanceOf(Placement.FloatingBase.class, fact("ld.global").placement());
        assertTrue(facts.endsByItself(find("@%p1 bra")));
    }

    @Test
    void aPointerThatIsNotCountedIsFencedWhereItIsFollowed() throws PtxException {
        // 4095 is no multiple of 4: the counter misses 0, and goes round for ever.
        analyse(LOOP.replace("START", "4095"));
        AddressFact fact = fact("ld.global");
        assertInstanceOf(Placement.FloatingBase.class, fact.placement());
        assertEquals(4, fact.alignmentBytes());
        assertEquals(1, facts.baseFences().size());
        assertEquals(instructions.getFirst(), facts.baseFences().getFirst().definition());
        assertFalse(facts.endsByItself(find("@%p1 bra")));
    }

    @Test
    void aPointerThatIsFollowedTwiceInARoundIsFencedInEveryRound() throws PtxException {
        analyse(LOOP.replace("START", "4095").replace("add.s64 %rd2, %rd2, 16;",
                "add.s64 %rd3, %rd2, 8; ld.global.f32 %f2, [%rd3]; add.s64 %rd2, %rd3, 8;"));
        assertFencedBase(fact("%f1, ["), 4);
        assertFencedBase(fact("%f2, ["), 4);
        assertTrue(facts.baseFences().stream().anyMatch(fence -> fence.definition() == find("%rd2, %rd3") && fence.again()));
    }

    @Test
    void aPointerThatGoesOnByAnythingFloats() throws PtxException {
        analyse("ld.param.u64 %rd4, [q]; shl.b64 %rd4, %rd4, 2;" + LOOP.replace("START", "4096").replace("%rd2, %rd2, 16", "%rd2, %rd2, %rd4"));
        AddressFact fact = fact("ld.global");
        assertInstanceOf(Placement.FloatingBase.class, fact.placement());
        assertEquals(4, fact.alignmentBytes());
        assertEquals(1, facts.baseFences().size());
    }

    @Test
    void aLoopInPartsCarriesItsPointer() throws PtxException {
        analyse(LOOP.replace("START", "4095"));
        facts.divide(branch -> branch == find("@%p1 bra") ? 16384 : 0);
        assertFencedBase(fact("ld.global"), 4);
        assertEquals(List.of(new CarriedPointer(find("@%p1 bra"), (Operand.Register) ((Operand.Address) find("ld.global").operands().get(1)).base())),
                facts.carried());
        assertEquals(1, facts.baseFences().size());
    }

    @Test
    void aStepThatLeavesAGuardBandInAPartIsNotCarried() throws PtxException {
        for (String step : List.of("2700000", "-2700000", "%rd4")) {
            analyse("ld.param.u64 %rd4, [q]; shl.b64 %rd4, %rd4, 2;" + LOOP.replace("START", "4095").replace("%rd2, 16", "%rd2, " + step));
            facts.divide(branch -> 16384);
            assertInstanceOf(Placement.FloatingBase.class, fact("ld.global").placement());
            assertEquals(List.of(), facts.carried());
        }
    }

    @Test
    void aPointerThatIsMadeAnewInALoopIsNotCarried() throws PtxException {
        analyse(LOOP.replace("START", "4095").replace("add.s64 %rd2, %rd2, 16;", "setp.eq.f32 %p2, %f1, 0f00000000; @%p2 add.s64 %rd2, %rd2, 16;"));
        facts.divide(branch -> 16384);
        assertEquals(List.of(), facts.carried());
    }

    @Test
    void roundedDownCountersAreCounted() throws PtxException {
        analyse("and.b32 %r3, %r1, 3; sub.s32 %r4, %r1, %r3; add.s32 %r5, %r1, -1; setp.lt.u32 %p2, %r5, 3; @%p2 bra out;\n"
                + "setp.lt.s32 %p3, %r1, 1; @%p3 bra out;" + LOOP.replace("START", "%r4") + "out:");
        assertTrue(facts.endsByItself(find("@%p1 bra")));
    }

    @Test
    void aLimitNearTheEndOfItsRangeIsCut() throws PtxException {
        analyse("mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x; loop: add.s32 %r2, %r2, %r3; setp.lt.s32 %p1, %r2, %r1; @%p1 bra loop;");
        assertTrue(facts.endsByItself(find("@%p1 bra")));
        LoopCut cut = facts.loopCuts().getFirst();
        assertEquals(find("ld.param.u32"), cut.definition());
        assertEquals(Integer.MAX_VALUE - 1023L, cut.bound());
        assertTrue(cut.upper());
    }

    @Test
    void theStrideOfAGridLeavesNothingToCutFrom() throws PtxException {
        // A grid may have 2^31 - 1 blocks: with a cut by that much, every loop would end after one round.
        analyse("mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; loop: add.s32 %r2, %r2, %r3; setp.lt.s32 %p1, %r2, %r1; @%p1 bra loop;");
        assertFalse(facts.endsByItself(find("@%p1 bra")));
        assertEquals(List.of(), facts.loopCuts());
    }

    @Test
    void aStepThatMayBeNothingIsNotCounted() throws PtxException {
        analyse("mov.u32 %r2, 0; loop: add.s32 %r2, %r2, %r1; setp.lt.s32 %p1, %r2, 99; @%p1 bra loop;");
        assertFalse(facts.endsByItself(find("@%p1 bra")));
        assertEquals(List.of(), facts.loopCuts());
    }

    @Test
    void whatALoopAdvancesIsBoundedByItsRounds() throws PtxException {
        analyse("mov.u32 %r2, 64; mov.u32 %r3, tile; loop: ld.shared.f32 %f1, [%r3]; add.s32 %r3, %r3, 16;\n"
                + "add.s32 %r2, %r2, -1; setp.ne.s32 %p1, %r2, 0; @%p1 bra loop;");
        assertEquals(new Placement.NearSymbol(TILE, 0, 63 * 16), fact("ld.shared").placement());
    }

    /** By steps of 128 from 64, a counter that is not 4160 does not reach 4096, and by steps of 3 from 0, one below 100 does not exceed 99. */
    @Test
    void aCounterIsWhatItsStepsLeadTo() throws PtxException {
        analyse("mov.u32 %r2, 64; mov.u32 %r3, tile; loop: add.s32 %r4, %r3, %r2; ld.shared.f32 %f1, [%r4+-64];\n"
                + "add.s32 %r2, %r2, 128; setp.ne.s32 %p1, %r2, 1088; @%p1 bra loop;");
        assertEquals(new Placement.NearSymbol(TILE, 0, 896), fact("ld.shared").placement());
        analyse("mov.u32 %r2, 0; mov.u32 %r3, tile; loop: add.s32 %r4, %r3, %r2; ld.shared.u8 %r5, [%r4];\n"
                + "add.s32 %r2, %r2, 3; setp.lt.s32 %p1, %r2, 101; @%p1 bra loop;");
        assertEquals(new Placement.NearSymbol(TILE, 0, 99), fact("ld.shared").placement());
        analyse("mov.u32 %r2, 64; mov.u32 %r3, tile; loop: add.s32 %r4, %r3, %r2; ld.shared.f32 %f1, [%r4+-64];\n"
                + "add.s32 %r2, %r2, 128; setp.eq.f32 %p2, %f1, 0f00000000; @%p2 mov.u32 %r2, 100; setp.ne.s32 %p1, %r2, 1088; @%p1 bra loop;");
        assertEquals(Placement.UNBOUNDED_HIGH, ((Placement.NearSymbol) fact("ld.shared").placement()).highOffset());
    }

    @Test
    void aLoadedPointerIsFencedAfterItsLoad() throws PtxException {
        analyse("loop: ld.global.u64 %rd1, [%rd1+8]; setp.ne.s64 %p1, %rd1, 0; @%p1 bra loop;");
        assertFencedBase(fact("ld.global"), 8);
        assertEquals(2, facts.baseFences().size());
        assertTrue(facts.baseFences().stream().anyMatch(fence -> fence.definition() == find("ld.global")));
    }

    @Test
    void aRegisterThatMayBeUnwrittenHasNoShadow() throws PtxException {
        analyse("setp.eq.u32 %p1, %r1, 0; @%p1 bra over; ld.param.u64 %rd2, [q]; over: ld.global.f32 %f1, [%rd2];");
        assertInstanceOf(Placement.Unknown.class, fact("ld.global").placement());
        analyse("setp.eq.u32 %p1, %r1, 0; @%p1 ld.param.u64 %rd2, [q]; ld.global.f32 %f1, [%rd2];");
        assertInstanceOf(Placement.Unknown.class, fact("ld.global").placement());
    }

    @Test
    void nothingIsSaidOfAnUnwrittenRegisterThatWasCompared() throws PtxException {
        analyse("setp.gt.u32 %p1, %r7, 9; @%p1 ret; mov.u32 %r2, tile; shl.b32 %r3, %r7, 2; add.s32 %r4, %r2, %r3;\n"
                + "ld.shared.f32 %f1, [%r4];");
        Placement.NearSymbol near = assertInstanceOf(Placement.NearSymbol.class, fact("ld.shared").placement());
        assertEquals(Placement.UNBOUNDED_HIGH, near.highOffset());
    }

    @Test
    void alignmentIsNoMoreThanEveryAccessDemands() throws PtxException {
        analyse("ld.global.f32 %f1, [%rd1+4]; ld.global.v4.f32 {%f1, %f2, %f3, %f0}, [%rd1+16];");
        assertEquals(4, facts.baseFences().getFirst().alignmentBytes());
        assertFencedBase(fact("ld.global.v4"), 4);
        analyse("ld.global.u64 %rd2, [%rd1+2];");
        assertEquals(2, facts.baseFences().getFirst().alignmentBytes());
        for (int size : new int[] {4, 8, 16}) {
            analyse("cp.async.ca.shared.global [tile], [%rd1], " + size + ";");
            assertEquals(size, facts.baseFences().getFirst().alignmentBytes());
        }
    }

    @Test
    void sharedIndicesAreBoundedByBranchesAndShapes() throws PtxException {
        String access = "mov.u32 %r2, %tid.x; mov.u32 %r3, tile; shl.b32 %r4, %r2, 2; add.s32 %r5, %r3, %r4; GUARD "
                + "ld.shared.f32 %f1, [%r5+4];";
        analyse(access.replace("GUARD", ""));
        assertEquals(new Placement.NearSymbol(TILE, 4, 4096), fact("ld.shared").placement());
        analyse("mov.u32 %r2, %tid.x; setp.gt.u32 %p1, %r2, 99; @%p1 ret; mov.u32 %r3, tile; shl.b32 %r4, %r2, 2;\n"
                + "add.s32 %r5, %r3, %r4; ld.shared.f32 %f1, [%r5];");
        assertEquals(new Placement.NearSymbol(TILE, 0, 396), fact("ld.shared").placement());
        analyse(access.replace("GUARD", ""), ".maxntid 128, 1, 1");
        assertEquals(new Placement.NearSymbol(TILE, 4, 512), fact("ld.shared").placement());
        assertEquals(4, fact("ld.shared").alignmentBytes());
    }

    @Test
    void genericAddressesAreGlobalOnlyIfTheyComeFromThere() throws PtxException {
        analyse("mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.f32 %f1, [%rd3]; ld.u64 %rd4, [%rd1]; ld.f32 %f2, [%rd4];");
        assertEquals(Optional.of(StateSpace.GLOBAL), fact("ld.f32 %f1").space());
        assertEquals(Optional.empty(), fact("ld.f32 %f2").space());
    }

    @Test
    void aComparisonThatTheRewriterTightensSaysNothingWhenItFails() throws PtxException {
        analyse("mov.u32 %r2, 0; loop: add.s32 %r2, %r2, 3; setp.ne.s32 %p1, %r2, 12; @%p1 bra loop;\n"
                + "mov.u32 %r3, tile; add.s32 %r4, %r3, %r2; ld.shared.u8 %r5, [%r4];");
        Placement.NearSymbol near = assertInstanceOf(Placement.NearSymbol.class, fact("ld.shared").placement());
        assertEquals(Placement.UNBOUNDED_HIGH, near.highOffset());
    }

    @Test
    void registersOfOneNameAreApart() throws PtxException {
        analyse("{ .reg .b64 %rd1; mov.u64 %rd1, 64; ld.global.f32 %f1, [%rd1]; } ld.global.f32 %f2, [%rd1];");
        assertFencedBase(fact("%f2"), 4);
        assertEquals(List.of("ld.param.u64", "mov.u64"), facts.baseFences().stream().map(fence -> fence.definition().mnemonic()).sorted().toList());
        assertEquals(2, facts.baseFences().stream().map(BaseFence::register).distinct().count());
    }

    @Test
    void loopsWithTwoEntriesAreNoLoops() throws PtxException {
        analyse("setp.eq.u32 %p1, %r1, 0; @%p1 bra second; mov.u32 %r2, 9; first: ld.global.f32 %f1, [%rd1];\n"
                + "second: add.s64 %rd1, %rd1, 4; add.s32 %r2, %r2, -1; setp.ne.s32 %p2, %r2, 0; @%p2 bra first;");
        assertFalse(facts.endsByItself(find("@%p2 bra")));
        assertEquals(List.of(instructions.getFirst(), find("add.s64")),
                facts.baseFences().stream().map(BaseFence::definition).toList());
    }

    private static final String DOUBLES = "mov.u32 %r2, 1; loop: shl.b32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, LIMIT; @%p1 bra loop;";

    @Test
    void aLoopWhoseCounterDoublesEndsByItself() throws PtxException {
        analyse(DOUBLES.replace("LIMIT", "1024"));
        assertTrue(facts.endsByItself(find("@%p1 bra")));
        analyse(DOUBLES.replace("LIMIT", "1073741824"));
        assertTrue(facts.endsByItself(find("@%p1 bra")));
        analyse(DOUBLES.replace("LIMIT", "1073741825"));
        assertFalse(facts.endsByItself(find("@%p1 bra")), "2^31 is less than any limit");
        analyse(DOUBLES.replace("LIMIT", "1024").replace("%r2, 1; loop", "%r2, 0; loop"));
        assertFalse(facts.endsByItself(find("@%p1 bra")), "0 stays 0");
        analyse(DOUBLES.replace("LIMIT", "1024").replace("mov.u32 %r2, 1;", "and.b32 %r2, %r1, 7;"));
        assertFalse(facts.endsByItself(find("@%p1 bra")), "it may be 0");
    }

    @Test
    void aSignedShiftThatIsComparedAfterAnUnsignedOneMayGoOnForEver() throws PtxException {
        analyse("mov.u32 %r2, %r1; loop: shr.u32 %r3, %r2, 1; shr.s32 %r2, %r2, 1; setp.gt.s32 %p1, %r3, 5; @%p1 bra loop;");
        assertFalse(facts.endsByItself(find("@%p1 bra")));
        analyse("mov.u32 %r2, %r1; loop: shr.s32 %r2, %r2, 1; setp.gt.s32 %p1, %r2, 5; @%p1 bra loop;");
        assertTrue(facts.endsByItself(find("@%p1 bra")));
    }

    private static final String BISECTS = """
            and.b32 %r3, %r1, 65535; mov.u32 %r2, 0;
            loop:
            add.s32 %r4, %r3, %r2; shr.u32 %r5, %r4, 31; add.s32 %r5, %r4, %r5; shr.s32 %r6, %r5, 1;
            mul.wide.s32 %rd2, %r6, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r7, [%rd3];
            setp.lt.s32 %p1, %r7, 5; add.s32 %r8, %r6, 1;
            selp.b32 %r2, %r8, %r2, %p1; selp.b32 %r3, %r3, %r6, %p1;
            setp.lt.s32 %p2, %r2, %r3; @%p2 bra loop;
            """;

    @Test
    void aLoopThatHalvesARangeEndsByItself() throws PtxException {
        analyse(BISECTS);
        assertTrue(facts.endsByItself(find("@%p2 bra")));
        analyse(BISECTS.replace("%r8, %r6, 1", "%r8, %r6, 0"));
        assertFalse(facts.endsByItself(find("@%p2 bra")), "a range of one number stays");
        analyse(BISECTS.replace("selp.b32 %r3, %r3, %r6, %p1", "selp.b32 %r3, %r3, %r6, %p3"));
        assertFalse(facts.endsByItself(find("@%p2 bra")), "both bounds may stay");
        analyse(BISECTS.replace("and.b32 %r3, %r1, 65535", "mov.u32 %r3, %r1"));
        assertFalse(facts.endsByItself(find("@%p2 bra")), "the sum of the bounds may leave its register");
        analyse(BISECTS.replace("selp.b32 %r2, %r8, %r2, %p1; selp.b32 %r3, %r3, %r6, %p1",
                "selp.b32 %r2, %r8, %r2, %p1; selp.b32 %r3, %r6, %r3, %p1"));
        assertFalse(facts.endsByItself(find("@%p2 bra")), "the same side twice");
    }

    /** Entered in its middle: the last block stands first, and goes on to the head. */
    private static final String ROTATED = """
            mov.u32 %r2, START; bra.uni middle;
            back: add.s32 %r2, %r2, 4;
            middle: ld.global.u32 %r3, [%rd1];
            setp.eq.s32 %p1, %r2, 31; @%p1 bra out;
            setp.gt.u32 %p2, %r3, 15; @%p2 bra back;
            st.global.u32 [%rd1], %r2; bra.uni back;
            out:
            """;

    @Test
    void branchesIntoALoopThatIsEnteredInItsMiddleAreRoundsOfIt() throws PtxException {
        analyse(ROTATED.replace("START", "3"));
        assertTrue(facts.endsByItself(find("@%p2 bra")));
        assertTrue(facts.endsByItself(instructions.get(instructions.indexOf(find("st.global")) + 1)));
        analyse(ROTATED.replace("START", "2"));
        assertFalse(facts.endsByItself(find("@%p2 bra")), "31 is never met");
        String around = "bra.uni head; again: add.s32 %r4, %r4, 1; head: " + ROTATED.replace("START", "3")
                + " setp.ne.s32 %p3, %r3, %r5; @%p3 bra again;";
        analyse(around);
        assertFalse(facts.endsByItself(find("@%p3 bra")), "the outer loop counts nothing");
        assertFalse(facts.endsByItself(find("@%p2 bra")), "the outer loop has no branch to its head");
    }

    @Test
    void aStrideThatIsReadInTheLoopIsTheSameInAllRounds() throws PtxException {
        String strided = "mov.u32 %r2, %tid.x; loop: mov.u32 %r3, STRIDE; add.s32 %r2, %r2, %r3; setp.lt.s32 %p1, %r2, 2048; @%p1 bra loop;";
        analyse(strided.replace("STRIDE", "%ntid.x"));
        assertTrue(facts.endsByItself(find("@%p1 bra")));
        analyse(strided.replace("STRIDE", "%tid.x"));
        assertFalse(facts.endsByItself(find("@%p1 bra")), "it may be 0");
        analyse(strided.replace("STRIDE", "%clock"));
        assertFalse(facts.endsByItself(find("@%p1 bra")), "it differs from round to round");
    }

    /** The count is rounded down outside both loops, and looked at in the outer one. */
    private static final String UNROLLED = """
            and.b32 %r7, %r1, 1023; add.s32 %r1, %r7, 1; add.s32 %r2, %r1, -1; and.b32 %r3, %r1, 3; sub.s32 %r4, %r1, %r3; mov.u32 %r8, 0;
            outer:
            setp.lt.u32 %p1, %r2, LEAST; @%p1 bra rest;
            mov.u64 %rd2, %rd1; mov.u32 %r5, %r4;
            loop: ld.global.u32 %r6, [%rd2]; add.s64 %rd2, %rd2, 1048576; add.s32 %r5, %r5, -4;
            setp.ne.s32 %p2, %r5, 0; @%p2 bra loop;
            rest: add.s32 %r8, %r8, 1; setp.lt.s32 %p3, %r8, 100; @%p3 bra outer;
            """;

    @Test
    void whatIsKnownOfACountHoldsOfItRoundedDown() throws PtxException {
        analyse(UNROLLED.replace("LEAST", "3"));
        assertTrue(facts.endsSoon(find("@%p2 bra")) > 0);
        analyse(UNROLLED.replace("LEAST", "2"));
        assertEquals(0, facts.endsSoon(find("@%p2 bra")), "3 rounded down is 0, which counts on below it");
    }

    /** A grid that counts clusters has more blocks than a launch can say; a device function may be called by such a kernel. */
    @Test
    void blocksOfAGridThatCountsClustersAreNotBounded() throws PtxException {
        String head = ".version 9.0\n.target TARGET\n.address_size 64\n";
        String body = "{ .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f; ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.y;\n"
                + "mul.wide.u32 %rd2, %r1, 16; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f, [%rd3]; ret; }\n";
        String kernel = ".visible .entry k(.param .u64 p) ATTRIBUTES " + body;
        assertTrue(isBounded(head.replace("TARGET", "sm_90") + kernel.replace("ATTRIBUTES", ".reqnctapercluster 2, 1, 1")));
        assertFalse(isBounded(
                head.replace("TARGET", "sm_90") + kernel.replace("ATTRIBUTES", ".blocksareclusters .reqntid 32, 1, 1 .reqnctapercluster 2, 1, 1")));
        String function = ".visible .func k(.param .u64 p) " + body;
        assertTrue(isBounded(head.replace("TARGET", "sm_80") + function));
        assertFalse(isBounded(head.replace("TARGET", "sm_90a") + function));
    }

    /** Returns whether the amount that block numbers add to the pointer is known to be less than about a megabyte. */
    private static boolean isBounded(String text) throws PtxException {
        PtxModule module = PtxParser.parse(text);
        FunctionAnalysis analysis = FunctionAnalysis.of(module.functions().getFirst(), new AnalysedModule(module)).orElseThrow();
        return analysis.special().of(new Operand.SpecialRegister("%ctaid", "y")).high() < 65536;
    }
}
