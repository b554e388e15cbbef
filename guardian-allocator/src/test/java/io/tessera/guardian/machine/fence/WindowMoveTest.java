package io.tessera.guardian.machine.fence;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.guardian.machine.FencedCubin;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.SampleCubins;
import io.tessera.guardian.machine.VerifiedCubin;
import io.tessera.guardian.machine.WindowPlaces;
import io.tessera.guardian.machine.WindowPlaces.Value;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.verify.CubinVerifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Code that was fenced for one window and moved to another one is what fencing for the other one gives. */
public class WindowMoveTest {
    private static final int OTHER_BASE = 0x3fc0;
    private static final long STOP = 0x7f12_3456_7000L;
    private static final long REPORTS = 0x7f00_0000_0a00L;
    /** {@code LDG.E R8, [R2.64+UR4]} before sm_90, and with {@code RZ}. */
    private static final long SUM = 0x0000000402087981L;
    private static final long ABSOLUTE = 0x00000004ff087981L;
    private static final long SUM_HIGH = 0x000ea2000c1e0900L;
    /** {@code BPT.TRAP}. */
    private static final long TRAP = 0x000000040000795cL;
    private static final long TRAP_HIGH = 0x000fe20000300000L;
    private static final int ZERO = 255;
    private static final int OR = 0xfc;
    private static final int AND = 0xc0;

    static Stream<MachineFence> windows() {
        return MachineFences.windows();
    }

    /** Returns fences of the same window with each of the other options, and with all of them. */
    private static List<MachineFence> ways(MachineFence fence) {
        return List.of(fence, fence.reporting(REPORTS, 5), fence.looking(STOP), fence.aligning(),
                fence.aligning().looking(STOP).reporting(REPORTS, 5));
    }

    /** Loops, traps, sums, absolute addresses, predicates, and a kernel with so many registers that none is free for the base. */
    private static List<byte[]> cubins(Architecture architecture) {
        boolean sm90 = architecture == Architecture.SM_90;
        CodeWords loops = new CodeWords(architecture).compare(0, 0, 5).load(7, 2).branch(0).under(8).exit();
        CodeWords traps = new CodeWords(architecture).load(0, 2).compare(0, 0, 5).add(TRAP, TRAP_HIGH).under(0).store(2, 0).exit();
        CodeWords sums = sm90 ? new CodeWords().loadBySum(8, 2, 4).exit() : new CodeWords(architecture).add(SUM, SUM_HIGH).exit();
        CodeWords summing = new CodeWords(architecture).nothing().add(sums.words()[0], sums.words()[1]).compare(0, 8, 5).branch(1).under(8).exit();
        CodeWords absolute = sm90 ? new CodeWords().loadByBase(8, ZERO, 4).exit() : new CodeWords(architecture).add(ABSOLUTE, SUM_HIGH).exit();
        List<byte[]> all = new ArrayList<>();
        for (int variant : new int[] {CubinBuilder.CUDA_13, CubinBuilder.BEFORE}) {
            all.add(SampleCubins.full(variant, architecture));
            all.add(new CubinBuilder(variant, architecture.number()).kernel("traps", 26, traps).kernel("loops", 26, loops)
                    .kernel("crowded", 254, loops)
                    .kernel("sums", 26, sums).kernel("summing", 26, summing).kernel("absolute", 26, absolute).build());
        }
        return all;
    }

    /**
     * Moves fenced code, and compares it with what is fenced again, by the bytes and by the verifier.
     *
     * @return the places that name the window
     */
    static WindowPlaces assertMoves(byte[] cubin, MachineFence from, MachineFence to) throws MachineCodeException {
        FencedCubin fenced = CubinFencer.fence(cubin, from);
        FencedCubin anew = CubinFencer.fence(cubin, to);
        byte[] moved = fenced.bytes().clone();
        WindowMove.move(moved, fenced.window(), from, to);
        assertArrayEquals(anew.bytes(), moved);
        for (Value value : Value.values()) {
            assertArrayEquals(anew.window().of(value).toArray(), fenced.window().of(value).toArray());
        }
        VerifiedCubin first = CubinVerifier.inspect(fenced.bytes(), from, fenced.moved().places());
        VerifiedCubin seen = CubinVerifier.inspect(moved, to, fenced.moved().places());
        assertEquals(first.refused(), seen.refused());
        assertEquals(first.trusted(), seen.trusted());
        assertEquals(first.mayBeEndless(), seen.mayBeEndless());
        assertEquals(first.mayMisalign(), seen.mayMisalign());
        assertEquals(first.tensorMaps(), seen.tensorMaps());
        VerifiedCubin inOld = CubinVerifier.inspect(moved, from, fenced.moved().places());
        assertTrue(inOld.refused().keySet().containsAll(first.refused().keySet()));
        assertEquals(fenced.window().count() > 0, inOld.refused().size() > first.refused().size(), inOld.refused().toString());
        return fenced.window();
    }

    @ParameterizedTest
    @EnumSource(Architecture.class)
    void movedCodeIsWhatIsFencedForTheOtherWindow(Architecture architecture) throws MachineCodeException {
        for (MachineFence window : windows().toList()) {
            Map<Value, Long> named = new EnumMap<>(Value.class);
            for (MachineFence from : ways(window)) {
                for (byte[] cubin : cubins(architecture)) {
                    WindowPlaces places = assertMoves(cubin, from, from.at(OTHER_BASE));
                    for (Value value : Value.values()) {
                        named.merge(value, places.of(value).count(), Long::sum);
                    }
                }
            }
            assertTrue(named.get(Value.BASE) > 0);
            boolean bounds = window.kind() == MachineFence.Kind.MASK || architecture != Architecture.SM_90;
            assertEquals(bounds, named.get(Value.LAST) > 0);
            assertEquals(bounds, named.get(Value.BELOW) > 0);
        }
    }

    /** There and back, and to the same place. */
    @ParameterizedTest
    @MethodSource("windows")
    void codeMovesBack(MachineFence fence) throws MachineCodeException {
        for (byte[] cubin : cubins(Architecture.SM_90)) {
            FencedCubin fenced = CubinFencer.fence(cubin, fence);
            byte[] moved = fenced.bytes().clone();
            WindowMove.move(moved, fenced.window(), fence, fence);
            assertArrayEquals(fenced.bytes(), moved);
            WindowMove.move(moved, fenced.window(), fence, fence.at(OTHER_BASE));
            assertFalse(Arrays.equals(fenced.bytes(), moved));
            WindowMove.move(moved, fenced.window(), fence.at(OTHER_BASE), fence);
            assertArrayEquals(fenced.bytes(), moved);
        }
    }

    private static byte[] cubin(CodeWords code) {
        return CubinBuilder.of("k", code).build();
    }

    private static String refusal(byte[] cubin, MachineFence from, MachineFence to) throws MachineCodeException {
        FencedCubin fenced = CubinFencer.fence(cubin, from);
        return assertThrows(MachineCodeException.class, () -> WindowMove.move(fenced.bytes().clone(), fenced.window(), from, to)).getMessage();
    }

    /** Instructions that no fence consists of keep their constants, whatever these are. */
    @Test
    void constantsOfTheProgramStayWhatTheyAre() throws MachineCodeException {
        MachineFence mask = MachineFences.MASK;
        for (int constant : new int[] {mask.baseHigh(), mask.baseHigh() - 1, mask.baseHigh() | mask.mask(), OTHER_BASE, OTHER_BASE - 1}) {
            assertMoves(
                    cubin(new CodeWords().load(0, 2).move(7, constant).moveUniform(9, constant).logic(8, 7, constant, ZERO, OR).store(2, 0).exit()),
                    mask, mask.at(OTHER_BASE));
        }
        MachineFence low = MachineFences.LOW_WORD;
        for (int constant : new int[] {low.baseHigh() - 1, OTHER_BASE - 1, OTHER_BASE + 1}) {
            assertMoves(cubin(new CodeWords().load(0, 2).move(7, constant).moveUniform(9, constant).store(2, 0).exit()), low, low.at(OTHER_BASE));
        }
    }

    /** The fence of the access is left out, since the program's own instructions are one for this window. They are none for another one. */
    @Test
    void aFenceOfTheProgramIsNotMoved() throws MachineCodeException {
        MachineFence fence = MachineFences.MASK;
        byte[] own = cubin(new CodeWords().logic(3, 3, fence.baseHigh(), ZERO, OR).stalling(6).logic(3, 3, fence.baseHigh() | fence.mask(), ZERO, AND)
                .stalling(6).load(0, 2).exit());
        FencedCubin fenced = CubinFencer.fence(own, fence);
        assertEquals(Map.of(), CubinVerifier.verify(fenced.bytes(), fence));
        assertEquals(0, fenced.window().of(Value.LAST).count());
        assertTrue(refusal(own, fence, fence.at(OTHER_BASE)).contains("an instruction of the program"));
        assertTrue(refusal(own, fence.at(OTHER_BASE), fence).contains("an instruction of the program"));
    }

    static Stream<CodeWords> steps() {
        MachineFence mask = MachineFences.MASK;
        int last = mask.baseHigh() | mask.mask();
        return Stream.of(new CodeWords().logic(7, 7, mask.baseHigh(), ZERO, OR), new CodeWords().logic(7, 7, last, ZERO, AND),
                new CodeWords().move(7, mask.baseHigh()), new CodeWords().differenceUniform(8, mask.baseHigh() - 1, 5),
                new CodeWords().differenceUniform(9, last, 5), new CodeWords().logicUniform(9, 9, mask.baseHigh(), OR),
                new CodeWords().logicUniform(9, 9, last, AND));
    }

    /** Each step alone: at the start of the code a move may be the one that loads the base. */
    @ParameterizedTest
    @MethodSource("steps")
    void codeWithAnInstructionOfAFenceIsNotMoved(CodeWords step) throws MachineCodeException {
        MachineFence fence = MachineFences.MASK;
        byte[] own = cubin(step.stalling(6).load(0, 2).exit());
        assertTrue(refusal(own, fence, fence.at(OTHER_BASE)).contains("an instruction of the program"));
        assertTrue(refusal(own, fence.at(OTHER_BASE), fence).contains("an instruction of the program"));
    }

    @Test
    void codeWithAConstantOfASmallWindowIsNotMoved() throws MachineCodeException {
        MachineFence fence = MachineFences.LOW_WORD;
        for (UnaryOperator<CodeWords> step : List.<UnaryOperator<CodeWords>>of(code -> code.move(7, fence.baseHigh()),
                code -> code.moveUniform(9, fence.baseHigh()))) {
            byte[] own = cubin(step.apply(new CodeWords().load(0, 2)).store(2, 0).exit());
            assertTrue(refusal(own, fence, fence.at(OTHER_BASE)).contains("an instruction of the program"));
            assertTrue(refusal(own, fence.at(OTHER_BASE), fence).contains("an instruction of the program"));
        }
    }

    private static Map<Value, int[]> places(WindowPlaces window, Value changed, UnaryOperator<IntStream> change) {
        Map<Value, int[]> places = new EnumMap<>(Value.class);
        for (Value value : Value.values()) {
            places.put(value, value == changed ? change.apply(window.of(value)).toArray() : window.of(value).toArray());
        }
        return places;
    }

    private static void assertNotMoved(FencedCubin fenced, MachineFence fence, Map<Value, int[]> places) {
        assertThrows(MachineCodeException.class,
                () -> WindowMove.move(fenced.bytes().clone(), new WindowPlaces(places), fence, fence.at(OTHER_BASE)));
    }

    /** One place too few, one too many, one at a wrong offset, and one with another value. */
    @ParameterizedTest
    @MethodSource("windows")
    void onlyWithAllPlacesCodeIsMoved(MachineFence fence) throws MachineCodeException {
        for (byte[] cubin : cubins(Architecture.SM_90)) {
            FencedCubin fenced = CubinFencer.fence(cubin, fence);
            WindowPlaces window = fenced.window();
            for (Value value : Value.values()) {
                for (int i = 0; i < window.of(value).count(); i++) {
                    int place = window.of(value).toArray()[i];
                    assertNotMoved(fenced, fence, places(window, value, all -> all.filter(each -> each != place)));
                    assertNotMoved(fenced, fence, places(window, value, all -> all.map(each -> each == place ? each + 16 : each)));
                    Map<Value, int[]> other = places(window, value, all -> all.filter(each -> each != place));
                    Value wrong = value == Value.BELOW ? Value.BASE : Value.BELOW;
                    other.put(wrong, IntStream.concat(window.of(wrong), IntStream.of(place)).toArray());
                    assertNotMoved(fenced, fence, other);
                }
                assertNotMoved(fenced, fence, places(window, value, all -> IntStream.concat(all, IntStream.of(0))));
                assertNotMoved(fenced, fence, places(window, value, all -> IntStream.concat(all, IntStream.of(Integer.MAX_VALUE))));
            }
            assertThrows(MachineCodeException.class,
                    () -> WindowMove.move(fenced.bytes().clone(), window, fence.at(OTHER_BASE - 0x80), fence.at(OTHER_BASE)), "another window");
        }
    }

    @Test
    void onlyThePlaceOfAWindowMoves() {
        assertThrows(IllegalArgumentException.class,
                () -> WindowMove.move(new byte[0], WindowPlaces.NONE, MachineFences.MASK, MachineFences.LOW_WORD));
        assertThrows(IllegalArgumentException.class, () -> MachineFences.MASK.at(OTHER_BASE + 1), "no multiple of the window's size");
    }
}
