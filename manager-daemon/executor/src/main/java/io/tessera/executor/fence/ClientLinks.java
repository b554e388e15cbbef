package io.tessera.executor.fence;

import io.tessera.device.CudaEnums.JitInput;
import io.tessera.executor.fence.load.UnfencedImages;
import io.tessera.executor.fence.program.FencedProgram;
import io.tessera.executor.fence.program.FencedText;
import io.tessera.executor.fence.program.LinkInput;
import io.tessera.executor.fence.program.ProgramMaker;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.fence.program.ProgramSource;
import io.tessera.executor.fence.report.RefusedCode;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.executor.jit.LinkerInput;
import io.tessera.executor.worker.Answer;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.protocol.relay.RelaySegment;
import java.util.List;
import java.util.function.BooleanSupplier;

/** Links one client's inputs. They are fenced first: the driver's linker only gets fenced inputs. One owner thread. */
public final class ClientLinks {
    private final ProgramMaker maker;
    private final String tenant;
    private final FenceMode mode;
    private final UnfencedImages unfenced;
    private final BooleanSupplier launched;
    private final RelaySegment segment;

    /**
     * Creates the links of one client.
     *
     * @param launched tells whether it has launched a kernel
     */
    ClientLinks(ProgramMaker maker, String tenant, FenceMode mode, UnfencedImages unfenced, BooleanSupplier launched, RelaySegment segment) {
        this.maker = maker;
        this.tenant = tenant;
        this.mode = mode;
        this.unfenced = unfenced;
        this.launched = launched;
        this.segment = segment;
    }

    /**
     * Prepares an input of the JIT's linker.
     *
     * @param type CUjitInputType
     * @throws ProgramRefusedException if it must not be linked; the user was told
     */
    public LinkInput linkInput(int type, byte[] data) throws ProgramRefusedException {
        ModuleImage image = ModuleImage.of(data);
        ProgramSource source = ProgramSource.of(image);
        String lacking = type == JitInput.PTX || type == JitInput.FATBINARY
                ? source.lacksPtx(maker.target().capability()) : "it is machine code that is to be linked";
        if (lacking != null) {
            unfenced.decide(source, lacking, launched.getAsBoolean());
            return new LinkInput(null, null, null);
        }
        try {
            FencedText fenced = maker.fence(tenant, List.of(image), mode, true).getFirst();
            return new LinkInput(fenced.text(), fenced.tables(), fenced.link());
        } catch (ProgramRefusedException e) {
            throw RefusedCode.refused("an input of the linker", e, segment);
        }
    }

    /**
     * Links inputs.
     *
     * @param fenced the inputs, if they are fenced: then the program will load the result
     * @return an answer whose only part is the machine code
     * @throws ProgramRefusedException if they cannot be linked
     */
    public Answer link(List<LinkerInput> inputs, CodeOptions options, List<LinkInput> fenced) throws ProgramRefusedException {
        try {
            maker.requireLinkable(fenced.stream().map(LinkInput::link).toList());
        } catch (ProgramRefusedException e) {
            throw RefusedCode.refused("what is to be linked", e, segment);
        }
        Answer made = maker.link(tenant, inputs, options);
        if (!fenced.isEmpty()) {
            maker.remember(new FencedProgram(made.parts().getFirst(), fenced.stream().map(LinkInput::tables).toList(), "", false));
        }
        return made;
    }
}
