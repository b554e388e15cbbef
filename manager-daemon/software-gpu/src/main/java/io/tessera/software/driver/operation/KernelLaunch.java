package io.tessera.software.driver.operation;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.module.DeviceFunction;
import io.tessera.software.driver.work.Operation;
import io.tessera.software.fault.KernelFailure;
import io.tessera.software.fault.KernelFault;
import io.tessera.software.launch.GridControl;
import io.tessera.software.launch.LaunchRefusedException;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.processor.SoftwareProcessor;
import io.tessera.software.texture.TextureUnit;
import java.util.Map;

/**
 * Runs a kernel.
 *
 * @param function   which
 * @param handle     as the program named it: a CUfunction, or the CUkernel that it came from
 * @param spec       how much of it, and its parameters
 * @param attributes launch attributes that programs can ask a graph's node for: 64 bytes by CUlaunchAttributeID
 * @param bound      what the module's texture and surface references stood for when it was launched
 * @param processor  what runs it
 * @param report     told of a kernel that lost its context
 */
public record KernelLaunch(DeviceFunction function, long handle, LaunchSpec spec, Map<Integer, byte[]> attributes,
        TextureUnit bound, SoftwareProcessor processor, FaultReport report) implements Operation {
    /** Reports lost contexts and failures, with kernel, place and reason; for the log. */
    public interface FaultReport {
        /** Reports a fault that has lost the context. */
        void lost(CudaError error, String kernel, String message);

        /** Reports that the device failed in a kernel; the owner of its fence has been told, and the context continues. */
        void failed(String kernel, Throwable failure);
    }

    /** Refuses the values that the driver refuses: an error while it runs would end the context. */
    public KernelLaunch {
        try {
            processor.check(function.loaded(), spec);
        } catch (LaunchRefusedException refused) {
            throw new DriverException(errorOf(refused.reason()), refused.getMessage());
        }
    }

    /** Returns whether all its blocks have to run together. */
    public boolean cooperative() {
        return spec.cooperative();
    }

    @Override
    public Place place() {
        return Place.WORKER;
    }

    @Override
    public boolean run(Run task) {
        GridControl control = new GridControl();
        Runnable cancel = control::cancel;
        task.fault().stopWhenLost(cancel);
        try {
            processor.launch(function.loaded(), spec, bound, task.output()::print, control);
        } catch (KernelFault fault) {
            lose(task, errorOf(fault), fault.getMessage());
        } catch (KernelFailure failure) {
            if (!failure.reported()) {
                throw failure;
            }
            report.failed(function.name(), failure.getCause());
        } finally {
            task.fault().ended(cancel);
        }
        return true;
    }

    private void lose(Run task, CudaError error, String message) {
        task.fault().raise(error);
        report.lost(error, function.name(), message);
    }

    private static CudaError errorOf(KernelFault fault) {
        return switch (fault.kind()) {
            case ILLEGAL_ADDRESS -> CudaError.ILLEGAL_ADDRESS;
            case MISALIGNED_ADDRESS -> CudaError.MISALIGNED_ADDRESS;
            case INVALID_PC -> CudaError.INVALID_PC;
            case ASSERT -> CudaError.ASSERT;
            case ILLEGAL_INSTRUCTION -> CudaError.ILLEGAL_INSTRUCTION;
            case TRAP, STACK_OVERFLOW, DEADLOCK -> CudaError.LAUNCH_FAILED;
        };
    }

    /** Returns the driver's error for a launch that the processor refuses. */
    private static CudaError errorOf(LaunchRefusedException.Reason reason) {
        return switch (reason) {
            case INVALID_VALUE -> CudaError.INVALID_VALUE;
            case OUT_OF_RESOURCES -> CudaError.LAUNCH_OUT_OF_RESOURCES;
            case COOPERATIVE_TOO_LARGE -> CudaError.COOPERATIVE_LAUNCH_TOO_LARGE;
            case INVALID_CLUSTER -> CudaError.INVALID_CLUSTER_SIZE;
        };
    }
}
