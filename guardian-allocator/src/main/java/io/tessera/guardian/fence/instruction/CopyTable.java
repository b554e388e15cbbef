package io.tessera.guardian.fence.instruction;

import io.tessera.guardian.fence.instruction.Access.Kind;
import io.tessera.guardian.fence.instruction.Access.Place;
import io.tessera.guardian.fence.instruction.InstructionClass.AsyncCopy;
import io.tessera.guardian.fence.instruction.InstructionClass.Bulk;
import io.tessera.guardian.fence.instruction.InstructionClass.Memory;
import io.tessera.guardian.fence.instruction.InstructionClass.Refused;
import io.tessera.guardian.fence.instruction.InstructionClass.Tensor;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.ArrayList;
import java.util.List;

/** The forms of {@code cp}: asynchronous, bulk, reducing, prefetching, by tensor map. Stateless. */
final class CopyTable {
    private static final Refused UNKNOWN = new Refused("is a form of it that is not fenced");
    private static final int BULK_ALIGNMENT = 16;
    private static final int TENSOR_ALIGNMENT = 128;
    private static final int MBARRIER_BYTES = 8;

    private CopyTable() {
    }

    static InstructionClass of(Instruction i) {
        if (i.has("commit_group") || i.has("wait_group") || i.has("wait_all")) {
            return new Memory(List.of());
        }
        if (i.has("tensor")) {
            return tensor(i);
        }
        if (i.has("bulk")) {
            return i.has("prefetch") ? prefetch(i) : bulk(i);
        }
        return i.has("mbarrier") ? arrive(i) : copy(i);
    }

    private static Access barrier(int operand, Place place) {
        return new Access(operand, place, Kind.ATOMIC, MBARRIER_BYTES, MBARRIER_BYTES);
    }

    private static InstructionClass arrive(Instruction i) {
        int operand = Access.address(i, 0);
        Place place = Access.place(i);
        return operand < 0 ? UNKNOWN
                : new Memory(List.of(barrier(operand, place == Place.GENERIC ? Place.GENERIC_SHARED : place)));
    }

    private static InstructionClass copy(Instruction i) {
        List<Place> places = places(i);
        List<Operand> operands = i.operands();
        boolean known = places.equals(List.of(Place.SHARED, Place.GLOBAL)) && operands.size() >= 3
                && operands.get(0) instanceof Operand.Address && operands.get(1) instanceof Operand.Address;
        if (!known || !(operands.get(2) instanceof Operand.Immediate(long bytes, boolean _))
                || bytes != 4 && bytes != 8 && bytes != 16) {
            return UNKNOWN;
        }
        // If the last operand is a cache policy, the number of bytes may be missing.
        int source = operands.size() == (i.has("L2::cache_hint") ? 5 : 4) ? 3 : -1;
        return new AsyncCopy(List.of(new Access(0, Place.SHARED, Kind.WRITE, (int) bytes, (int) bytes),
                new Access(1, Place.GLOBAL, Kind.READ, (int) bytes, (int) bytes)), source);
    }

    private static List<Place> places(Instruction i) {
        List<Place> places = new ArrayList<>(2);
        for (String word : i.modifiers()) {
            Place place = Access.place(word);
            if (place != null) {
                places.add(place);
            }
        }
        return places;
    }

    private static InstructionClass prefetch(Instruction i) {
        return i.operands().size() >= 2 && i.operands().getFirst() instanceof Operand.Address
                ? new Bulk(List.of(new Access(0, Place.GLOBAL, Kind.PREFETCH, 0, BULK_ALIGNMENT)), 1, 1) : UNKNOWN;
    }

    private static InstructionClass bulk(Instruction i) {
        List<Place> places = places(i);
        List<Operand> operands = i.operands();
        boolean known = places.size() == 2 && operands.size() >= 3 && operands.get(0) instanceof Operand.Address
                && operands.get(1) instanceof Operand.Address;
        if (!known) {
            return UNKNOWN;
        }
        Kind written = i.has("reduce") ? Kind.ATOMIC : Kind.WRITE;
        List<Access> accesses = new ArrayList<>(List.of(new Access(0, places.get(0), written, 0, BULK_ALIGNMENT),
                new Access(1, places.get(1), Kind.READ, 0, BULK_ALIGNMENT)));
        if (i.has("mbarrier::complete_tx::bytes")) {
            if (operands.size() < 4 || !(operands.get(3) instanceof Operand.Address)) {
                return UNKNOWN;
            }
            accesses.add(barrier(3, places.get(0)));
        }
        return new Bulk(accesses, 2, 2);
    }

    private static InstructionClass tensor(Instruction i) {
        List<Operand> operands = i.operands();
        int map = -1;
        List<Access> accesses = new ArrayList<>(2);
        List<Place> places = places(i);
        for (int n = 0; n < operands.size(); n++) {
            if (operands.get(n) instanceof Operand.CompoundAddress && map < 0) {
                map = n;
            } else if (operands.get(n) instanceof Operand.Address) {
                // [destination], [map, coordinates], [barrier], or [map, coordinates], [source].
                Place place = places.getFirst() == Place.GLOBAL ? places.getLast() : places.getFirst();
                accesses.add(n == 2 ? barrier(n, place) : new Access(n, place,
                        n == 0 ? Kind.WRITE : Kind.READ, TENSOR_ALIGNMENT, TENSOR_ALIGNMENT));
            }
        }
        return map < 0 || places.isEmpty() ? UNKNOWN : new Tensor(map, accesses);
    }
}
