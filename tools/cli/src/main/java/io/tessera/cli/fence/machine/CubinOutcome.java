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
 * Outcome of fencing the machine code of one image. Immutable as long as the bytes are not modified.
 *
 * @param where     the part of the file that holds the image
 * @param place     offset from the file's start, in bytes
 * @param code      the machine code in the image
 * @param refused   why nothing of the image can be fenced; null: something can
 * @param fenced    the code with fences; null: there is none
 * @param functions one for each function of the code
 */
record CubinOutcome(String where, long place, DeviceCode code, String refused, byte[] fenced, List<FunctionFence> functions) {
    private static final DeviceCode NO_CODE = new DeviceCode(null, List.of());

    /** Copies the list. */
    CubinOutcome {
        functions = List.copyOf(functions);
    }

    /** Fences and verifies the machine code of an image as an executor does. Addresses are rounded if the code is not a vendor's. */
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
            // A defect of the fencer in one image does not affect the results of the others.
            return new CubinOutcome(image.where(), image.offset(), code, "the fencer fails: " + e, null, List.of());
        }
    }

    /** Returns the outcomes of all functions. A kernel also gets the reasons of functions that it may call, as in an executor. */
    private static List<FunctionFence> functions(FencedCubin fenced, VerifiedCubin seen) {
        Map<String, String> unfenced = seen.unfenced(fenced.functions());
        Map<String, String> trusted = seen.takenOnTrust();
        Map<String, String> waiting = seen.mayWaitForBlocks();
        return fenced.functions().stream().map(report -> new FunctionFence(report, unfenced.get(report.name()), report.isFenced(),
                trusted.get(report.name()), waits(report.name(), unfenced, waiting),
                seen.tensorMaps().getOrDefault(report.name(), TensorMapPlaces.NONE))).toList();
    }

    /** Returns why a function may wait. Nothing is assumed about a function without a fence. */
    private static String waits(String function, Map<String, String> unfenced, Map<String, String> waiting) {
        return waiting.getOrDefault(function, unfenced.containsKey(function) ? "it is not fenced" : null);
    }

    /** Returns whether there is machine code for the GPU, or something that may be such code. */
    boolean hasCode() {
        return code.cubin() != null || refused != null;
    }
}
