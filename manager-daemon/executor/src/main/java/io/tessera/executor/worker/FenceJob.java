package io.tessera.executor.worker;

import io.tessera.device.CudaResult;
import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.cache.FencedTablesWriter;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.fence.plan.PlainFunctions;
import io.tessera.guardian.fence.proof.oracle.SyntacticOracle;
import io.tessera.guardian.image.ComputeCapability;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.slice.GridSlices;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Unpacks the PTX of images and rewrites it. Numbers of the message: mode; compute capability as its {@code sm_} number; whether the
 * modules are linked with each other; which functions are fenced without proofs (0: those named in the last part, one per line; 1: all). Text: the
 * kernel that is sliced, empty for none. Parts: the images, then those names. Parts of the answer: for each image, the text without a final NUL, then its
 * tables. Stateless.
 */
final class FenceJob {
    private FenceJob() {
    }

    static Message message(FenceRequest request, List<byte[]> images) {
        List<byte[]> parts = new ArrayList<>(images);
        parts.add(String.join("\n", request.plain().names()).getBytes(StandardCharsets.UTF_8));
        return new Message(Message.Kind.FENCE, List.of((long) request.mode().ordinal(), (long) request.device().sm(),
                request.linked() ? 1L : 0, request.plain().all() ? 1L : 0), request.sliced().orElse(""), parts);
    }

    private static FenceRequest request(Message message) {
        Set<String> names = new String(message.parts().getLast(), StandardCharsets.UTF_8).lines().collect(Collectors.toSet());
        return new FenceRequest(FenceMode.values()[message.numbers().get(0).intValue()],
                ComputeCapability.ofSm(message.numbers().get(1).intValue()), message.numbers().get(2) != 0,
                Optional.of(message.text()).filter(name -> !name.isEmpty()),
                new PlainFunctions(message.numbers().get(3) != 0, names, 0));
    }

    /** Answers a message. An {@link Error} of the JVM is thrown to the caller. */
    static Message run(Message message) {
        FenceRequest request = request(message);
        try {
            List<byte[]> made = new ArrayList<>();
            for (byte[] image : message.parts().subList(0, message.parts().size() - 1)) {
                FencedModule fenced = fence(request, image);
                made.add(fenced.ptx().getBytes(StandardCharsets.UTF_8));
                made.add(FencedTablesWriter.write(FencedTables.of(fenced)));
            }
            return Message.answer(CudaResult.SUCCESS, "", made);
        } catch (ImageException e) {
            return refusal(CudaResult.INVALID_IMAGE, e.getMessage());
        } catch (PtxException e) {
            return refusal(CudaResult.INVALID_PTX, "PTX " + e.getMessage());
        } catch (FenceRefusedException e) {
            return refusal(CudaResult.NOT_SUPPORTED, e.getMessage());
        } catch (RuntimeException e) {
            // A defect of the executor; until it is fixed, code that was not understood does not run.
            return refusal(CudaResult.NOT_SUPPORTED, "cannot be fenced: " + e);
        }
    }

    private static FencedModule fence(FenceRequest request, byte[] image) throws ImageException, PtxException, FenceRefusedException {
        byte[] text = ModuleImage.of(image).ptx(request.device(), ModuleImage.DEFAULT_CAP_BYTES);
        PtxModule module = PtxParser.parse(text);
        FencedModule fenced = fencer(request).fence(request.sliced().isPresent() ? GridSlices.of(module, request.sliced().get()) : module);
        if (!fenced.refused().isEmpty()
                && fenced.module().functions().stream().noneMatch(function -> function.kind() == PtxFunction.Kind.ENTRY)) {
            throw fenced.refused().values().iterator().next();
        }
        return fenced;
    }

    private static Fencer fencer(FenceRequest request) {
        Fencer proving = request.linked() ? new Fencer(request.mode(), new SyntacticOracle(), true) : new Fencer(request.mode());
        return proving.plainly(request.plain()).on(request.device().sm());
    }

    private static Message refusal(int result, String why) {
        return Message.answer(result, why, List.of());
    }
}
