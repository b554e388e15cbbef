package io.tessera.guardian.fence.barrier;

import io.tessera.guardian.fence.instruction.InstructionClass;
import io.tessera.guardian.ptx.Instruction;

/**
 * Operations that complete on an mbarrier of the device, because {@link MemoryBarriers} did not replace it. A program may use them only while no
 * other program uses the context. Stateless.
 */
public final class AsyncBarriers {
    private AsyncBarriers() {
    }

    /** Why an instruction may not run in a shared context, or null. */
    public static String refusal(Instruction instruction, InstructionClass what) {
        if (what instanceof InstructionClass.Tensor && !instruction.has("prefetch")) {
            return "its map alone gives the size of the copy to shared memory: kernels with it run alone, or by time sharing";
        }
        boolean remote = instruction.has("async") && (instruction.opcode().equals("st") || instruction.opcode().equals("red"));
        boolean operates = instruction.opcode().equals("mbarrier") && !(what instanceof InstructionClass.Pure);
        boolean completes = instruction.opcode().equals("cp")
                && (instruction.has("mbarrier") || instruction.has("mbarrier::complete_tx::bytes"));
        if (remote || operates || completes) {
            return "this form is not written without an mbarrier of the device, and one that is not as it must be would end the context "
                    + "that all share: kernels with it run alone, or by time sharing";
        }
        return null;
    }
}
