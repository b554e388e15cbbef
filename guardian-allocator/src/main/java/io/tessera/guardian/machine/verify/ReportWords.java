package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.look.LookWords;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds and changes the places of fenced code that contain the address of the report word, its value, and the address of the stop word. These change at
 * each start of a program. Of the other contents of fences, only the window changes ({@code WindowMove}). Stateless.
 */
public final class ReportWords {
    /** The three moves that begin a report, see {@link ReportSequence}. */
    private static final int MOVES = 3;
    private static final long MOVE_MASK = 0xffff0fffL;
    private static final long MOVE = 0x802;
    private static final long UNIFORM_MOVE = 0x7882;
    private static final int IMMEDIATE = Integer.BYTES;

    private ReportWords() {
    }

    /**
     * Finds all of them.
     *
     * @param cubin fenced code
     * @param fence its fence
     * @return offsets in the file of the first instruction of each report and of each look
     * @throws MachineCodeException if it cannot be read
     */
    public static List<Integer> find(byte[] cubin, MachineFence fence) throws MachineCodeException {
        List<Integer> places = new ArrayList<>();
        if (!fence.reports() && !fence.looks()) {
            return places;
        }
        for (CubinSection section : Cubin.read(cubin).sections()) {
            if (!section.isCode()) {
                continue;
            }
            long[] words = CodeReader.words(section);
            for (int i = 0; i < words.length; i += 2) {
                int place = Math.toIntExact(section.offset() + (long) i * Long.BYTES);
                if (isMove(words[i], 0) && isReport(cubin, place, fence) || isUniformMove(words[i]) && isLook(cubin, place, fence)) {
                    places.add(place);
                }
            }
        }
        return places;
    }

    private static boolean isReport(byte[] cubin, int place, MachineFence fence) {
        boolean moves = fence.reports() && place >= 0 && (long) place + MOVES * InstructionWord.BYTES <= cubin.length;
        for (int i = 0; moves && i < MOVES; i++) {
            moves = isMove(low(cubin, place, i), i);
        }
        return moves && InstructionWord.immediate(low(cubin, place, 0)) == (int) fence.reportAddress()
                && InstructionWord.immediate(low(cubin, place, 1)) == (int) (fence.reportAddress() >>> Integer.SIZE)
                && fence.isReported(InstructionWord.immediate(low(cubin, place, 2)));
    }

    /** Returns whether the three instructions of a look that name and load the stop word are at a place, see {@link LookWords#ADDRESS}. */
    private static boolean isLook(byte[] cubin, int place, MachineFence fence) {
        boolean fits = fence.looks() && place >= 0 && (long) place + MOVES * InstructionWord.BYTES <= cubin.length;
        if (!fits) {
            return false;
        }
        int uniform = InstructionWord.uniformDestination(low(cubin, place, 0));
        long load = low(cubin, place, LookWords.LOAD - LookWords.ADDRESS);
        return low(cubin, place, 0) == LookWords.move(uniform, (int) fence.stopAddress())
                && low(cubin, place, 1) == LookWords.move(uniform + 1, (int) (fence.stopAddress() >>> Integer.SIZE))
                && load == LookWords.load(InstructionWord.destination(load), uniform);
    }

    private static boolean isUniformMove(long low) {
        return (low & 0xffff) == UNIFORM_MOVE;
    }

    /** {@code MOV Rn, immediate} for one of the registers of a report. */
    private static boolean isMove(long low, int register) {
        return (low & MOVE_MASK) == (MOVE | (long) register << 16);
    }

    private static long low(byte[] cubin, int place, int instruction) {
        return words(cubin).getLong(place + instruction * InstructionWord.BYTES);
    }

    private static ByteBuffer words(byte[] cubin) {
        return ByteBuffer.wrap(cubin).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Redirects the reports to another report word, and the looks to another stop word.
     *
     * @param cubin  fenced code, which is changed
     * @param places places as returned by {@link #find}
     * @param before its current fence
     * @param after  its new fence
     * @throws MachineCodeException if there is neither a report nor a look of that fence at a place; then some places may already be changed
     */
    public static void change(byte[] cubin, List<Integer> places, MachineFence before, MachineFence after) throws MachineCodeException {
        ByteBuffer words = words(cubin);
        for (int place : places) {
            if (isLook(cubin, place, before) && after.looks()) {
                words.putInt(place + IMMEDIATE, (int) after.stopAddress());
                words.putInt(place + InstructionWord.BYTES + IMMEDIATE, (int) (after.stopAddress() >>> Integer.SIZE));
                continue;
            }
            if (!isReport(cubin, place, before)) {
                throw new MachineCodeException("no report at " + place);
            }
            int reason = MachineFence.reasonOf(InstructionWord.immediate(low(cubin, place, 2)));
            words.putInt(place + IMMEDIATE, (int) after.reportAddress());
            words.putInt(place + InstructionWord.BYTES + IMMEDIATE, (int) (after.reportAddress() >>> Integer.SIZE));
            words.putInt(place + 2 * InstructionWord.BYTES + IMMEDIATE, after.reported(reason));
        }
    }
}
