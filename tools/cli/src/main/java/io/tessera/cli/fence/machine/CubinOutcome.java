package io.tessera.cli.fence.machine;

import io.tessera.guardian.image.FoundImage;
import io.tessera.guardian.image.ImageException;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.machine.FencedCubin;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.fence.CubinFencer;
import io.tessera.guardian.machine.verify.CubinVerifier;
import io.tessera.guardian.machine.TensorMapPlaces;
import io.tessera.guardian.machine.VerifiedCubin;
import io.tessera.guardian.trust.VendorCode;
import java.util.List;
import java.util.Map;

/**
 * What fences do to the machine code of one image. Immutable as long as nobody writes to the bytes.
 *
 * @param where     the part of the file that holds the image
 * @param place     from the file's start, in bytes
 * @param code      what was found in the image
 * @param refused   why nothing of the image can be fenced; null: there is no such reason
 * @param fenced    the code with fences; null where there is none
 * @param functions one for each function of the code
 */
record CubinOutcome(String where, long place, DeviceCode code, String refused, byte[] fenced, List<FunctionFence> functions) {
    private static final DeviceCode NO_CODE = new DeviceCode(null, List.of());

    /** Copies the list. */
    CubinOutcome {
        functions = List.copyOf(functions);
    }

    /** Fences the machine code of an image as an executor does, and has the verifier look at it. Addresses are rounded where the code is no vendor's. */
    static CubinOutcome of(FoundImage image, MachineFence fence) {
        DeviceCode code = NO_CODE;
        try {
            code = DeviceCode.of(image);
            if (code.cubin() == null) {
                return new CubinOutcome(image.where(), image.offset(), code, null, null, List.of());
            }
            MachineFence wanted = VendorCode.contains(ModuleImage.of(code.cubin()).hash()) ? fence : fence.aligning();
            FencedCubin fenced = CubinFencer.fence(code.cubin(), wanted);
            List<FunctionFence> functions = functions(fenced, CubinVerifier.inspect(fenced.bytes(), wanted, fenced.moved().places()));
            return new CubinOutcome(image.where(), image.offset(), code, null, fenced.bytes(), functions);
        } catch (ImageException | MachineCodeException e) {
            return new CubinOutcome(image.where(), image.offset(), code, e.getMessage(), null, List.of());
        } catch (RuntimeException e) {
            // A fault of ours in one image; the results of the others stay right.
            return new CubinOutcome(image.where(), image.offset(), code, "the fencer fails: " + e, null, List.of());
        }
    }

    /** Kernels get the reasons of functions that they may call, as in an executor. */
    private static List<FunctionFence> functions(FencedCubin fenced, VerifiedCubin seen) {
        Map<String, String> unfenced = seen.unfenced(fenced.functions());
        Map<String, String> trusted = seen.takenOnTrust();
        Map<String, String> waiting = seen.mayWaitForBlocks();
        return fenced.functions().stream().map(report -> new FunctionFence(report, unfenced.get(report.name()), report.isFenced(),
                trusted.get(report.name()), waits(report.name(), unfenced, waiting),
                seen.tensorMaps().getOrDefault(report.name(), TensorMapPlaces.NONE))).toList();
    }

    /** Nothing is taken to be known of a function without a fence. */
    private static String waits(String function, Map<String, String> unfenced, Map<String, String> waiting) {
        return waiting.getOrDefault(function, unfenced.containsKey(function) ? "it is not fenced" : null);
    }

    /** Whether there is machine code for the GPU, or something that may be. */
    boolean hasCode() {
        return code.cubin() != null || refused != null;
    }
}
