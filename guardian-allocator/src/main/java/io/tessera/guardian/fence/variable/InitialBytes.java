package io.tessera.guardian.fence.variable;

import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.HoistedVariable.Relocation;
import io.tessera.guardian.ptx.Initializer;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The initial bytes of a variable, and the addresses to be added once they are known. Used once. */
public final class InitialBytes {
    /** Longest image that is built; the rest of a larger variable is zero by definition. */
    private static final int MOST_BYTES = 1 << 30;

    private final Variable variable;
    private final ModuleSymbols symbols;
    private final List<Relocation> relocations = new ArrayList<>();
    private byte[] bytes = new byte[0];
    private int written;

    /** Computes the bytes of one variable of a module. */
    public InitialBytes(Variable variable, ModuleSymbols symbols) {
        this.variable = variable;
        this.symbols = symbols;
    }

    /** Does it. */
    public void fill() throws FenceRefusedException {
        if (variable.initializer().isEmpty()) {
            return;
        }
        List<Long> shape = new ArrayList<>(variable.dimensions());
        if (variable.vectorLength() > 1) {
            shape.add((long) variable.vectorLength());
        }
        put(variable.initializer().get(), shape, 0, 0);
    }

    /** Returns the bytes, without trailing zeros. */
    public byte[] bytes() {
        return Arrays.copyOf(bytes, written);
    }

    /** See {@link HoistedVariable#relocations()}. */
    public List<Relocation> relocations() {
        return relocations;
    }

    private void put(Initializer value, List<Long> shape, int depth, long offset) throws FenceRefusedException {
        if (!(value instanceof Initializer.Aggregate(List<Initializer> elements))) {
            scalar(value, offset);
            return;
        }
        long step = variable.type().bytes();
        for (int i = depth + 1; i < shape.size(); i++) {
            step *= shape.get(i);
        }
        long at = offset;
        for (Initializer element : elements) {
            put(element, shape, Math.min(depth + 1, shape.size()), at);
            at += element instanceof Initializer.Aggregate ? step : flatStep(shape, depth, step);
        }
    }

    /** An inner level may be written without its braces: then elements follow each other. */
    private long flatStep(List<Long> shape, int depth, long step) {
        return depth + 1 < shape.size() ? variable.type().bytes() : step;
    }

    private void scalar(Initializer value, long offset) throws FenceRefusedException {
        ScalarType type = variable.type();
        int width = type.bytes();
        switch (value) {
            case Initializer.Integer(long integer) -> little(offset, width, integer);
            case Initializer.Float32(int bits) -> little(offset, width, type == ScalarType.F64
                    ? Double.doubleToRawLongBits(Float.intBitsToFloat(bits)) : bits);
            case Initializer.Float64(long bits) -> little(offset, width, real(bits));
            case Initializer.AddressOf address -> address(address, offset, width);
            default -> throw new FenceRefusedException(variable.name(), variable.line(), "initial value is not understood");
        }
    }

    private long real(long bits) throws FenceRefusedException {
        return switch (variable.type()) {
            case F64, B64 -> bits;
            case F32, B32 -> Float.floatToRawIntBits((float) Double.longBitsToDouble(bits));
            case F16, B16 -> Float.floatToFloat16((float) Double.longBitsToDouble(bits));
            default -> throw new FenceRefusedException(variable.name(), variable.line(),
                    "decimal initial value of type ." + variable.type().ptx() + " is not understood");
        };
    }

    private void address(Initializer.AddressOf address, long offset, int width) throws FenceRefusedException {
        int shift = address.mask() == 0 ? 0 : Long.numberOfTrailingZeros(address.mask());
        Long token = symbols.token(address.symbol());
        if (token != null) {
            little(offset, width, token + address.offsetBytes() >>> shift);
        } else if (symbols.hoists(address.symbol())) {
            relocations.add(new Relocation(offset, width, shift, address.symbol(), address.offsetBytes()));
        } else {
            throw new FenceRefusedException(variable.name(), variable.line(), "holds the address of '" + address.symbol()
                    + "', which stays outside the window");
        }
    }

    private void little(long offset, int width, long value) throws FenceRefusedException {
        if (offset + width > Math.min(variable.sizeBytes(), MOST_BYTES)) {
            throw new FenceRefusedException(variable.name(), variable.line(), "has more initial values than room");
        }
        int at = (int) offset;
        if (bytes.length < at + width) {
            bytes = Arrays.copyOf(bytes, (int) Math.min(Math.max(2L * bytes.length, at + width),
                    Math.max(variable.sizeBytes(), 1)));
        }
        for (int i = 0; i < width; i++) {
            bytes[at + i] = (byte) (i < 8 ? value >> 8 * i : 0);
            written = bytes[at + i] != 0 ? Math.max(written, at + i + 1) : written;
        }
    }
}
