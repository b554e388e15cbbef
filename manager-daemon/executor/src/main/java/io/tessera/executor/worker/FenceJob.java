package io.tessera.executor.worker;

import io.tessera.executor.driver.CudaResult;
import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.Fencer;
import io.tessera.guardian.fence.proof.SyntacticOracle;
import io.tessera.guardian.image.ComputeCapability;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.ptx.PtxException;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxParser;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Unpacks the PTX of images and rewrites it. The numbers of its message: mode, compute capability as its {@code sm_} number, whether the
 * modules are linked with each other, whether nothing is left out because a proof says so; its parts: the images. The parts of its answer:
 * of each image the text without a final NUL, then its tables. Stateless.
 */
final class FenceJob {
    private FenceJob() {
    }

    static Message message(FenceRequest request, List<byte[]> images) {
        return new Message(Message.Kind.FENCE, List.of((long) request.mode().ordinal(), (long) request.device().sm(),
                request.linked() ? 1L : 0, request.plain() ? 1L : 0), "", images);
    }

    private static FenceRequest request(Message message) {
        return new FenceRequest(FenceMode.values()[message.numbers().get(0).intValue()],
                ComputeCapability.ofSm(message.numbers().get(1).intValue()), message.numbers().get(2) != 0, message.numbers().get(3) != 0);
    }

    /** Answers a message. An error of the JVM goes to the caller. */
    static Message run(Message message) {
        FenceRequest request = request(message);
        try {
            List<byte[]> made = new ArrayList<>();
            for (byte[] image : message.parts()) {
                FencedModule fenced = fence(request, image);
                made.add(fenced.ptx().getBytes(StandardCharsets.UTF_8));
                made.add(FencedTables.of(fenced).bytes());
            }
            return Message.answer(CudaResult.SUCCESS, "", made);
        } catch (ImageException e) {
            return refusal(CudaResult.INVALID_IMAGE, e.getMessage());
        } catch (PtxException e) {
            return refusal(CudaResult.INVALID_PTX, "PTX " + e.getMessage());
        } catch (FenceRefusedException e) {
            return refusal(CudaResult.NOT_SUPPORTED, e.getMessage());
        } catch (RuntimeException e) {
            // A fault of ours to mend; until then nothing runs that was not understood.
            return refusal(CudaResult.NOT_SUPPORTED, "cannot be fenced: " + e);
        }
    }

    private static FencedModule fence(FenceRequest request, byte[] image) throws ImageException, PtxException, FenceRefusedException {
        byte[] text = ModuleImage.of(image).ptx(request.device(), ModuleImage.DEFAULT_CAP_BYTES);
        FencedModule fenced = fencer(request).fence(PtxParser.parse(text));
        if (!fenced.refused().isEmpty()
                && fenced.module().functions().stream().noneMatch(function -> function.kind() == PtxFunction.Kind.ENTRY)) {
            throw fenced.refused().values().iterator().next();
        }
        return fenced;
    }

    private static Fencer fencer(FenceRequest request) {
        if (request.plain()) {
            return Fencer.withoutProofs(request.mode(), request.linked());
        }
        return request.linked() ? new Fencer(request.mode(), new SyntacticOracle(), true) : new Fencer(request.mode());
    }

    private static Message refusal(int result, String why) {
        return Message.answer(result, why, List.of());
    }
}
