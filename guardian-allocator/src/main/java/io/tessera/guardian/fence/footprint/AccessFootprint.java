package io.tessera.guardian.fence.footprint;

import io.tessera.guardian.fence.KernelWrites;
import io.tessera.guardian.fence.instruction.Access;
import io.tessera.guardian.fence.instruction.CallSite;
import io.tessera.guardian.fence.instruction.InstructionClass;
import io.tessera.guardian.fence.instruction.InstructionTable;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Collects the accesses of a kernel to global memory. The first one that cannot be expressed by parameters makes the result unknown. One owner thread.
 *
 * <p>The result holds for a kernel whose threads are ended at any instruction, too. A thread that ends is like one that is late: what the others do then, they
 * might have done anyway. That is not so where threads wait for each other: a barrier counts a thread that has ended as arrived, and lanes of a warp go on
 * without it, with values that it should have left for them. Such kernels, and those that read clocks and places, by which each run may write elsewhere, are
 * unknown.
 */
final class AccessFootprint {
    /** Accesses that the host may watch or answer while the kernel runs. */
    private static final Set<String> WATCHED = Set.of("volatile", "mmio", "sys", "cv", "wt");
    /** Instructions by which threads wait for each other, or of several threads together. */
    private static final Set<String> TOGETHER = Set.of("bar", "barrier", "mbarrier", "shfl", "vote", "match", "redux", "activemask", "elect", "mma",
            "wmma", "wgmma", "ldmatrix", "stmatrix", "movmatrix", "tcgen05", "setmaxnreg", "clusterlaunchcontrol");
    /** Registers that differ from run to run. */
    private static final Pattern VARYING = Pattern.compile("%(clock.*|globaltimer.*|smid|warpid|gridid|pm[0-9].*|envreg.*)");
    /** Reached only if an assertion fails; it writes no memory of the program. */
    private static final String ASSERTION = "__assertfail";

    private final String kernel;
    private final OriginRules origins;
    private final Set<String> defined;
    private final Set<Integer> written = new TreeSet<>();
    private final Set<Integer> read = new TreeSet<>();
    private String unknown;

    /**
     * Creates a collection without accesses.
     *
     * @param origins origins of all registers
     * @param defined functions that have a body in the module
     */
    AccessFootprint(String kernel, OriginRules origins, Set<String> defined) {
        this.kernel = kernel;
        this.origins = origins;
        this.defined = defined;
    }

    KernelWrites of(List<Instruction> code) {
        for (Instruction i : code) {
            see(i);
            if (unknown != null) {
                return KernelWrites.unknown(unknown);
            }
        }
        return new KernelWrites(List.copyOf(written), List.copyOf(read), null);
    }

    private void see(Instruction i) {
        if (TOGETHER.contains(i.opcode())) {
            giveUp(i, "its threads depend on each other, so that none may end before the others");
        }
        if (i.operands().stream()
                .anyMatch(operand -> operand instanceof Operand.SpecialRegister(String name, String _) && VARYING.matcher(name).matches())) {
            giveUp(i, "another run may write elsewhere");
        }
        switch (i.opcode()) {
            case "call" -> call(i);
            case "griddepcontrol" -> giveUp(i, "it depends on other launches");
            case "membar", "fence" -> {
                if (i.has("sys")) {
                    giveUp(i, "the host may watch the order of its accesses");
                }
            }
            case "txq", "suq" -> {
                // Queries.
            }
            default -> accesses(i);
        }
    }

    private void accesses(Instruction i) {
        switch (InstructionTable.of(i)) {
            case InstructionClass.Memory(List<Access> accesses) -> accesses.forEach(access -> access(i, access));
            case InstructionClass.AsyncCopy copy -> copy.accesses().forEach(access -> access(i, access));
            case InstructionClass.Bulk copy -> bulk(i, copy.accesses());
            case InstructionClass.Matrix matrix -> access(i, matrix.access());
            case InstructionClass.Tensor _ -> giveUp(i, "a tensor map names the memory");
            case InstructionClass.Handle _ -> giveUp(i, "a handle names the memory");
            case InstructionClass.Refused _ -> giveUp(i, "its accesses are not known");
            case InstructionClass.Pure _,InstructionClass.Dropped _,InstructionClass.Control _,InstructionClass.Warp _,InstructionClass.Barrier _ -> {
                // No global memory.
            }
        }
    }

    private void bulk(Instruction i, List<Access> accesses) {
        if (accesses.stream().anyMatch(access -> isFar(access) && writes(access))) {
            giveUp(i, "it copies to global memory in bulk");
            return;
        }
        accesses.forEach(access -> access(i, access));
    }

    private void access(Instruction i, Access access) {
        if (!isFar(access) || access.kind() == Access.Kind.PREFETCH) {
            return;
        }
        AddressOrigin origin = origins.of(i.operands().get(access.operand()));
        boolean near = access.place() == Access.Place.GENERIC && origin.mayBeNear();
        if (near && !origin.isForeign() && !origin.hasParameters()) {
            return;
        }
        if (i.modifiers().stream().anyMatch(WATCHED::contains)) {
            giveUp(i, "the host may watch the access");
        } else if (origin.isForeign() || !origin.hasParameters() && !near) {
            giveUp(i, "its address is not derived from a parameter");
        }
        if (writes(access)) {
            written.addAll(origin.parameters());
        }
        if (access.kind() != Access.Kind.WRITE) {
            read.addAll(origin.parameters());
        }
    }

    private static boolean isFar(Access access) {
        return access.place() == Access.Place.GLOBAL || access.place() == Access.Place.GENERIC;
    }

    private static boolean writes(Access access) {
        return access.kind() == Access.Kind.WRITE || access.kind() == Access.Kind.ATOMIC;
    }

    private void call(Instruction i) {
        String function = CallSite.of(i).function();
        if (!ASSERTION.equals(function) || defined.contains(function)) {
            giveUp(i, "it runs " + (function == null ? "a function by its address" : function));
        }
    }

    private void giveUp(Instruction i, String why) {
        if (unknown == null) {
            unknown = "The accesses of " + kernel + " are not known because of " + i.mnemonic() + " at line " + i.line() + ": " + why + ".";
        }
    }
}
