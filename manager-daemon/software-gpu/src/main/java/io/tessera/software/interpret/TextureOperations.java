package io.tessera.software.interpret;

import io.tessera.software.execution.ThreadState;
import io.tessera.software.memory.MemoryFault;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.ValueType;
import io.tessera.software.texture.TextureSampler;
import io.tessera.software.texture.TextureView;

/** {@code tex}, {@code suld.b}, {@code sust.b} and queries, by handle or by the address of a reference. Stateless. */
final class TextureOperations {
    private TextureOperations() {
    }

    /** @throws UnsupportedOperationException for cubes, gathers, formatted surface accesses */
    static void check(LoweredInstruction i) {
        boolean query = i.opcode() == Opcode.TXQ || i.opcode() == Opcode.SUQ;
        boolean surface = i.opcode() == Opcode.SULD || i.opcode() == Opcode.SUST;
        boolean lacking = i.opcode() == Opcode.TLD4 || i.opcode() == Opcode.SURED
                || i.firstOf(Modifier.GEOM_CUBE, Modifier.GEOM_ACUBE, Modifier.P) != null
                || query && i.firstOf(Modifier.WIDTH, Modifier.HEIGHT, Modifier.DEPTH) == null
                || !query && i.firstOf(Modifier.GEOM_1D, Modifier.GEOM_2D, Modifier.GEOM_3D, Modifier.GEOM_A1D,
                        Modifier.GEOM_A2D) == null
                || surface && !i.has(Modifier.B)
                || query && i.has(Modifier.LEVEL)
                || i.opcode() == Opcode.TEX && (i.type() == ValueType.F16X2 || i.results().size() != 4
                        || coordinates(i) != leastCoordinates(i) && coordinates(i) != 4
                        || i.has(Modifier.GRAD) && i.sourceType() != ValueType.F32);
        if (lacking) {
            throw new UnsupportedOperationException(i.spelling());
        }
    }

    /** Operands of {@code tex} that hold coordinates: text of PTX ISA 2 pads all vectors to four. */
    private static int coordinates(LoweredInstruction i) {
        return i.arguments().size() - 1 - detailOperands(i);
    }

    /** Those that count, and all that surfaces have; vectors of three are padded to four. */
    private static int leastCoordinates(LoweredInstruction i) {
        return i.has(Modifier.GEOM_1D) ? 1 : i.has(Modifier.GEOM_2D) || i.has(Modifier.GEOM_A1D) ? 2 : 4;
    }

    /** Returns the number of operands that choose the level: one, or a step for each of two directions, whose vectors of three are padded. */
    private static int detailOperands(LoweredInstruction i) {
        int step = dimensions(i) == 3 ? 4 : dimensions(i);
        return i.has(Modifier.LEVEL) ? 1 : i.has(Modifier.GRAD) ? 2 * step : 0;
    }

    private static boolean isLayered(LoweredInstruction i) {
        return i.has(Modifier.GEOM_A1D) || i.has(Modifier.GEOM_A2D);
    }

    private static int dimensions(LoweredInstruction i) {
        return i.has(Modifier.GEOM_1D) || i.has(Modifier.GEOM_A1D) ? 1 : i.has(Modifier.GEOM_3D) ? 3 : 2;
    }

    static void execute(LoweredInstruction i, Frame frame, ThreadState thread) {
        long handle = frame.argument(thread, i, 0);
        TextureView view = thread.block.grid.textures.find(handle);
        if (view == null) {
            throw new MemoryFault(false, handle, "access through a handle of no texture or surface");
        }
        if (view == TextureView.UNBOUND) {
            i.results().forEach(result -> frame.set(result, 0));
            return;
        }
        switch (i.opcode()) {
            case TEX -> sample(i, frame, thread, view);
            case TXQ, SUQ -> frame.set(i.result(), i.has(Modifier.WIDTH) ? view.width()
                    : i.has(Modifier.HEIGHT) ? view.height() : view.depth());
            default -> surface(i, frame, thread, view);
        }
    }

    private static void sample(LoweredInstruction i, Frame frame, ThreadState thread, TextureView view) {
        int layers = isLayered(i) ? 1 : 0;
        int layer = layers == 0 ? 0 : (int) frame.argument(thread, i, 1);
        int dimensions = dimensions(i);
        int[] bits = new int[dimensions];
        for (int d = 0; d < dimensions; d++) {
            bits[d] = (int) frame.argument(thread, i, 1 + layers + d);
        }
        int[] texel;
        if (i.sourceType() == ValueType.F32) {
            float[] at = new float[dimensions];
            for (int d = 0; d < dimensions; d++) {
                at[d] = Float.intBitsToFloat(bits[d]);
            }
            texel = TextureSampler.sample(view, at, layer, detail(i, frame, thread, view));
        } else {
            int level = i.has(Modifier.LEVEL) ? (int) frame.argument(thread, i, 1 + coordinates(i)) : 0;
            texel = level < 0 || level >= view.levels() ? new int[4] : TextureSampler.fetch(view.level(level), bits[0], dimensions > 1 ? bits[1] : 0,
                    dimensions > 2 ? bits[2] : layer);
        }
        for (int c = 0; c < texel.length; c++) {
            frame.set(i.results().get(c), Integer.toUnsignedLong(texel[c]));
        }
    }

    private static float detail(LoweredInstruction i, Frame frame, ThreadState thread, TextureView view) {
        int first = 1 + coordinates(i);
        if (i.has(Modifier.LEVEL)) {
            return Float.intBitsToFloat((int) frame.argument(thread, i, first));
        }
        if (!i.has(Modifier.GRAD)) {
            return 0; // nothing derives a level in a kernel
        }
        int dimensions = dimensions(i);
        int apart = detailOperands(i) / 2;
        float[][] steps = new float[2][dimensions];
        for (int d = 0; d < dimensions; d++) {
            steps[0][d] = Float.intBitsToFloat((int) frame.argument(thread, i, first + d));
            steps[1][d] = Float.intBitsToFloat((int) frame.argument(thread, i, first + apart + d));
        }
        return TextureSampler.detail(view, steps[0], steps[1]);
    }

    private static void surface(LoweredInstruction i, Frame frame, ThreadState thread, TextureView view) {
        int layers = isLayered(i) ? 1 : 0;
        int dimensions = dimensions(i);
        int bytes = i.sourceType().bytes();
        boolean store = i.opcode() == Opcode.SUST;
        int first = 1 + leastCoordinates(i);
        int count = store ? i.arguments().size() - first : i.results().size();
        long x = (int) frame.argument(thread, i, 1 + layers);
        int y = dimensions > 1 ? (int) frame.argument(thread, i, 2 + layers) : 0;
        int z = dimensions > 2 ? (int) frame.argument(thread, i, 3) : layers == 0 ? 0
                : (int) frame.argument(thread, i, 1);
        long rowBytes = (long) view.width() * view.elementBytes();
        boolean inside = x >= 0 && x + (long) bytes * count <= rowBytes && y >= 0 && y < view.height() && z >= 0
                && z < view.depth();
        if (!inside && i.has(Modifier.CLAMP)) {
            x = Math.clamp(x, 0, rowBytes - (long) bytes * count);
            y = Math.clamp(y, 0, view.height() - 1);
            z = Math.clamp(z, 0, view.depth() - 1);
            inside = true;
        }
        if (!inside && !i.has(Modifier.ZERO)) {
            throw new MemoryFault(false, x, "surface access outside the surface");
        }
        long address = view.address() + z * view.sliceBytes() + y * view.pitchBytes() + x;
        for (int k = 0; k < count && (inside || !store); k++) {
            LoweredOperand operand = store ? i.argument(first + k) : i.results().get(k);
            if (store) {
                MemoryOperations.write(address + (long) k * bytes, bytes, frame.value(thread, operand), false);
            } else {
                frame.set(operand, inside ? MemoryOperations.read(address + (long) k * bytes, i.sourceType(), false)
                        : 0);
            }
        }
    }
}
