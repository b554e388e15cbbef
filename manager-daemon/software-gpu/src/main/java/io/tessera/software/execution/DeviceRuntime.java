package io.tessera.software.execution;

import io.tessera.software.fault.FaultKind;
import io.tessera.software.fault.KernelTrap;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.RuntimeFunction;
import java.nio.charset.StandardCharsets;

/** Functions of the device runtime, called with arguments in the caller's frame. Stateless. */
public final class DeviceRuntime {
    private DeviceRuntime() {
    }

    /**
     * Makes a call: reads its arguments from the frame and writes its result there.
     *
     * @param call  a CALL_RUNTIME instruction
     * @param frame the caller's frame, as offset into local memory
     * @throws KernelTrap for a failed assertion, or a free of what malloc did not give
     */
    public static void call(ThreadState thread, LoweredInstruction call, long frame) {
        RuntimeFunction function = ((LoweredOperand.Runtime) call.argument(0)).function();
        GridState grid = thread.block.grid;
        switch (function) {
            case VPRINTF -> {
                byte[] text = new PrintfFormatter(grid.map, argument(thread, call, frame, 2))
                        .format(argument(thread, call, frame, 1));
                grid.print(text);
                result(thread, call, frame, text.length);
            }
            case MALLOC -> result(thread, call, frame, grid.heap.allocate(argument(thread, call, frame, 1)));
            case FREE -> grid.heap.free(argument(thread, call, frame, 1));
            case ASSERTFAIL -> fail(thread, call, frame);
        }
    }

    /** The text is that of NVIDIA's runtime. */
    private static void fail(ThreadState thread, LoweredInstruction call, long frame) {
        BlockState block = thread.block;
        String text = string(thread, call, frame, 2) + ":" + argument(thread, call, frame, 3) + ": "
                + string(thread, call, frame, 4) + ": block: [" + block.ctaidX + "," + block.ctaidY + ","
                + block.ctaidZ + "], thread: [" + thread.tidX + "," + thread.tidY + "," + thread.tidZ
                + "] Assertion `" + string(thread, call, frame, 1) + "` failed.";
        block.grid.print((text + "\n").getBytes(StandardCharsets.UTF_8));
        throw new KernelTrap(FaultKind.ASSERT, text);
    }

    private static String string(ThreadState thread, LoweredInstruction call, long frame, int place) {
        long address = argument(thread, call, frame, place);
        return address == 0 ? "" : new String(PrintfFormatter.string(thread.block.grid.map, address),
                StandardCharsets.UTF_8);
    }

    private static long argument(ThreadState thread, LoweredInstruction call, long frame, int place) {
        LoweredOperand.FrameSlot slot = (LoweredOperand.FrameSlot) call.argument(place);
        long address = thread.local(frame + slot.offset(), slot.bytes());
        return slot.bytes() == 4 ? Integer.toUnsignedLong(RealMemory.getInt(address)) : RealMemory.getLong(address);
    }

    private static void result(ThreadState thread, LoweredInstruction call, long frame, long value) {
        if (call.results().isEmpty()) {
            return;
        }
        LoweredOperand.FrameSlot slot = (LoweredOperand.FrameSlot) call.result();
        long address = thread.local(frame + slot.offset(), slot.bytes());
        if (slot.bytes() == 4) {
            RealMemory.putInt(address, (int) value);
        } else {
            RealMemory.putLong(address, value);
        }
    }
}
