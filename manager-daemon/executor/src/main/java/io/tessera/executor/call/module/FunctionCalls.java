package io.tessera.executor.call.module;

import io.tessera.device.CudaEnums.FunctionAttribute;
import io.tessera.device.CudaLayouts.CUlaunchAttribute;
import io.tessera.device.CudaLayouts.CUlaunchConfig;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverApi;
import io.tessera.executor.call.CallFrame;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.HandleResults;
import io.tessera.executor.call.RejectedException;
import io.tessera.executor.call.StructureTranslation;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.fence.ClientFences;
import io.tessera.executor.fence.KernelAttributes;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.stream.ClientContext;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Functions and kernels: queries and settings. One owner thread. */
final class FunctionCalls {
    /**
     * The first and the last of the attributes that put every launch into clusters. The two that follow (sizes that are not portable, the scheduling
     * policy) only affect launches that are in clusters. cuBLASLt sets the first of these two for a kernel about which it only queries the driver, and
     * chooses slower kernels if that fails.
     */
    private static final int FIRST_CLUSTER = FunctionAttribute.CLUSTER_SIZE_MUST_BE_SET;
    private static final int LAST_CLUSTER = FunctionAttribute.REQUIRED_CLUSTER_DEPTH;
    private static final int LONGEST_NAME = 65_536;

    private final DriverCalls driver;
    private final ClientFences fences;
    private final StructureTranslation structures;
    private final HandleResults results;

    FunctionCalls(DriverCalls driver, ClientFences fences, StructureTranslation structures, HandleResults results) {
        this.driver = driver;
        this.fences = fences;
        this.structures = structures;
        this.results = results;
    }

    void register(CallTable calls) {
        calls.row(DriverApi.cuFuncSetAttribute).withoutContext().executes((frame, _) -> attribute(frame, 0, 1));
        calls.row(DriverApi.cuKernelSetAttribute).withoutContext().executes((frame, _) -> attribute(frame, 2, 0));
        calls.row(DriverApi.cuFuncSetCacheConfig).withoutContext().executes((frame, _) -> changed(frame, 0));
        calls.row(DriverApi.cuFuncSetSharedMemConfig).withoutContext().executes((frame, _) -> changed(frame, 0));
        calls.row(DriverApi.cuKernelSetCacheConfig).withoutContext().executes((frame, _) -> changed(frame, 0));
        calls.row(DriverApi.cuKernelGetName).withoutContext().packed("name").executes(this::name);
        calls.row(DriverApi.cuFuncGetName).withoutContext().packed("name").executes(this::name);
        calls.row(DriverApi.cuFuncGetModule).withoutContext().parent(frame -> results.library(frame.argument(1)));
        calls.row(DriverApi.cuOccupancyMaxPotentialClusterSize).withoutContext().packed("config").executes(this::clusters);
        calls.row(DriverApi.cuOccupancyMaxActiveClusters).withoutContext().packed("config").executes(this::clusters);
        calls.row(DriverApi.cuOccupancyAvailableDynamicSMemPerBlock).withoutContext().executes((frame, _) -> available(frame));
        calls.row(DriverApi.cuOccupancyMaxActiveBlocksPerMultiprocessor).withoutContext().executes((frame, _) -> blocks(frame));
        calls.row(DriverApi.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags).withoutContext().executes((frame, _) -> blocks(frame));
        calls.plainWithoutContext(DriverApi.cuFuncLoad, DriverApi.cuKernelGetLibrary);
    }

    /** Queries an attribute of a kernel or function, by its parameters' places. */
    private int attribute(CallFrame frame, int kernel, int attributeAt) throws RejectedException {
        long attribute = frame.slot(attributeAt);
        if (attribute >= FIRST_CLUSTER && attribute <= LAST_CLUSTER) {
            try {
                fences.kernels().inCluster(frame.argument(kernel), frame.slot(kernel));
            } catch (ProgramRefusedException e) {
                throw RejectedException.of(e);
            }
        }
        int value = (int) frame.slot(attributeAt + 1);
        int added = attribute == FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES && value >= 0 ? (int) sharedBytes(frame, kernel, value) : value;
        if (added > value) {
            frame.slot(attributeAt + 1, added);
            if (changed(frame, kernel) == CudaResult.SUCCESS) {
                return CudaResult.SUCCESS;
            }
            frame.slot(attributeAt + 1, value); // the maximum of a block; launches may request less
        }
        return changed(frame, kernel);
    }

    private long sharedBytes(CallFrame frame, int kernel, long asked) throws RejectedException {
        try {
            return frame.slot(kernel) == 0 ? asked : fences.kernels().sharedBytes(frame.argument(kernel), frame.slot(kernel), asked);
        } catch (ProgramRefusedException e) {
            throw RejectedException.of(e);
        }
    }

    /** Parameters: bytes, function, blocks, threads of a block. */
    private int available(CallFrame frame) throws RejectedException {
        int result = driver.call(frame.entry(), frame.slots());
        MemorySegment bytes = frame.data(0);
        if (result == CudaResult.SUCCESS && bytes != null && frame.outBytes(0) >= Long.BYTES) {
            bytes.set(WireTypes.U64, 0, Math.max(0, bytes.get(WireTypes.U64, 0) - sharedBytes(frame, 1, 0)));
        }
        return result;
    }

    /** Parameters: blocks, function, threads of a block, dynamic shared memory. */
    private int blocks(CallFrame frame) throws RejectedException {
        if (frame.slot(3) >= 0 && frame.slot(3) <= Integer.MAX_VALUE) {
            frame.slot(3, sharedBytes(frame, 1, frame.slot(3)));
        }
        return driver.call(frame.entry(), frame.slots());
    }

    /** Records a change of a kernel's or function's settings, by its parameter's place. */
    private int changed(CallFrame frame, int kernel) {
        fences.kernels().changed(frame.argument(kernel));
        return driver.call(frame.entry(), frame.slots());
    }

    /** Parameters: name, handle. The driver returns a pointer; the client gets the text. */
    private int name(CallFrame frame, ClientContext context) throws RejectedException {
        MemorySegment place = frame.room(Long.BYTES);
        MemorySegment wanted = frame.data(0);
        frame.slot(0, place.address());
        int result = driver.call(frame.entry(), frame.slots());
        long named = place.get(WireTypes.U64, 0);
        if (result == CudaResult.SUCCESS && wanted != null) {
            if (named == 0) {
                throw new RejectedException(CudaResult.INVALID_HANDLE, "the driver knows no name");
            }
            MemorySegment text = MemorySegment.ofAddress(named).reinterpret(LONGEST_NAME);
            long length = 0;
            while (length + 1 < Math.min(frame.outBytes(0), LONGEST_NAME)
                    && text.get(ValueLayout.JAVA_BYTE, length) != 0) {
                length++;
            }
            wanted.fill((byte) 0);
            MemorySegment.copy(text, 0, wanted, 0, Math.min(length, wanted.byteSize()));
        }
        return result;
    }

    /** Queries the occupancy in clusters. The launch configuration is followed by its attributes. */
    private int clusters(CallFrame frame, ClientContext context) throws RejectedException {
        int i = frame.parameter("config");
        MemorySegment config = frame.required(i);
        long attributes = config.byteSize() < CUlaunchConfig.BYTES ? -1 : Integer.toUnsignedLong(config.get(WireTypes.U32, CUlaunchConfig.numAttrs));
        if (attributes < 0 || attributes > 64 || frame.inBytes(i) < CUlaunchConfig.BYTES + attributes * CUlaunchAttribute.BYTES) {
            throw CallFrame.malformed("a configuration of " + frame.inBytes(i) + " bytes");
        }
        for (long at = 0; at < attributes; at++) {
            structures.in(config.asSlice(CUlaunchConfig.BYTES + at * CUlaunchAttribute.BYTES, CUlaunchAttribute.BYTES), "CUlaunchAttribute");
        }
        config.set(WireTypes.U32, CUlaunchConfig.sharedMemBytes,
                (int) sharedBytes(frame, 1, Integer.toUnsignedLong(config.get(WireTypes.U32, CUlaunchConfig.sharedMemBytes))));
        config.set(WireTypes.U64, CUlaunchConfig.hStream, 0);
        config.set(WireTypes.U64, CUlaunchConfig.attrs, attributes == 0 ? 0 : config.address() + CUlaunchConfig.BYTES);
        return driver.call(frame.entry(), frame.slots());
    }
}
