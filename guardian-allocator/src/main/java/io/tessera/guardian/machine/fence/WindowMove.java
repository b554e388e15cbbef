package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.WindowPlaces;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.verify.FenceStep;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.PrimitiveIterator;

/**
 * Moves the window of fenced code to another address. The result is byte for byte the code that fencing for that window produces. Stateless.
 *
 * <p>The fencer reports which of its instructions name the window, and the verifier's rules find each instruction that can be taken for a step of a
 * fence. Both must be the same instructions, for the old window and for the new one. Otherwise, an instruction of the program has the constant of a
 * fence. The fencer may then have omitted a fence that only one of the two windows needs, so such code is not moved.
 */
public final class WindowMove {
    private static final int IMMEDIATE = Integer.BYTES;

    private WindowMove() {
    }

    /**
     * Moves the window. Does nothing if the window stays.
     *
     * @param cubin  fenced code, which is changed
     * @param places places in the file, as the fencer reported them
     * @param before its current fence
     * @param after  its new fence, of the same kind and for a window of the same size
     * @throws MachineCodeException     if the code has other instructions that name a window, or a place does not have the value of the old one; the
     * code is then of no use
     * @throws IllegalArgumentException if the fences differ in more than the window's place
     */
    public static void move(byte[] cubin, WindowPlaces places, MachineFence before, MachineFence after) throws MachineCodeException {
        if (before.kind() != after.kind() || before.mask() != after.mask()) {
            throw new IllegalArgumentException("from " + before + " to " + after);
        }
        if (before.baseHigh() == after.baseHigh()) {
            return;
        }
        requireNoOthers(cubin, places, before, after);
        ByteBuffer words = ByteBuffer.wrap(cubin).order(ByteOrder.LITTLE_ENDIAN);
        for (WindowPlaces.Value value : WindowPlaces.Value.values()) {
            for (PrimitiveIterator.OfInt each = places.of(value).iterator(); each.hasNext();) {
                int place = each.nextInt() + IMMEDIATE;
                if (words.getInt(place) != value.of(before)) {
                    throw new MachineCodeException("no instruction that names the window at " + (place - IMMEDIATE));
                }
                words.putInt(place, value.of(after));
            }
        }
    }

    /** Each place is an instruction that names the old window, and no other instruction names the old or the new one. */
    private static void requireNoOthers(byte[] bytes, WindowPlaces places, MachineFence before, MachineFence after) throws MachineCodeException {
        Cubin cubin = Cubin.read(bytes);
        Architecture architecture = cubin.requireKnownInstructions();
        int found = 0;
        for (CubinSection section : cubin.code()) {
            long[] words = CodeReader.words(section);
            boolean start = true;
            for (int i = 0; i < words.length; i += 2) {
                start = start && FenceStep.isConstant(words[i]);
                boolean old = FenceStep.namesWindow(architecture, words[i], words[i + 1], before, start);
                if (!old && !FenceStep.namesWindow(architecture, words[i], words[i + 1], after, start)) {
                    continue;
                }
                int place = Math.toIntExact(section.offset() + (long) i * Long.BYTES);
                if (!old || !places.contains(place)) {
                    throw new MachineCodeException("an instruction of the program at " + place + " that names a window as a fence does");
                }
                found++;
            }
        }
        if (found != places.count()) {
            throw new MachineCodeException(found + " instructions of " + places.count() + " that name the window");
        }
    }
}
