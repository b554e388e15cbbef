package io.tessera.software.lowering;

import io.tessera.guardian.ptx.Initializer;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.Variable;
import io.tessera.software.arithmetic.BinaryFormat;
import io.tessera.software.program.AddressSpace;
import io.tessera.software.program.UnsupportedPtxException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Turns a module variable's initialiser into bytes and references. */
final class InitialValue {
    private final Variable variable;
    private final int elementBytes;
    private final List<io.tessera.software.program.ModuleVariable.Reference> references = new ArrayList<>();
    private byte[] bytes = {};

    private InitialValue(Variable variable) {
        this.variable = variable;
        this.elementBytes = variable.type().bytes();
    }

    /** Returns the lowered variable. */
    static io.tessera.software.program.ModuleVariable lower(Variable variable) {
        InitialValue value = new InitialValue(variable);
        variable.initializer().ifPresent(initial -> value.write(initial, 0, 0));
        long size = variable.sizeBytes();
        if (!variable.dimensions().isEmpty() && variable.dimensions().getFirst() == Variable.UNSIZED) {
            size = value.bytes.length;
        }
        AddressSpace space = variable.space() == io.tessera.guardian.ptx.StateSpace.CONST ? AddressSpace.CONST
                : AddressSpace.GLOBAL;
        boolean external = variable.linkage() == Linkage.EXTERN && variable.initializer().isEmpty();
        return new io.tessera.software.program.ModuleVariable(variable.name(), space, size, variable.alignment(), external,
                value.bytes, List.copyOf(value.references));
    }

    /** Bytes of one element at a depth of the nested braces; below the last dimension come vector elements. */
    private long stride(int depth) {
        List<Long> dimensions = variable.dimensions();
        if (depth >= dimensions.size()) {
            return elementBytes;
        }
        long stride = (long) elementBytes * variable.vectorLength();
        for (int i = depth + 1; i < dimensions.size(); i++) {
            stride *= dimensions.get(i);
        }
        return stride;
    }

    private void write(Initializer initial, long offset, int depth) {
        switch (initial) {
            case Initializer.Aggregate aggregate -> {
                long at = offset;
                for (Initializer element : aggregate.elements()) {
                    write(element, at, depth + 1);
                    // Braces may be left out: then elements follow each other in their smallest size.
                    at += element instanceof Initializer.Aggregate ? stride(depth) : elementBytes;
                }
            }
            case Initializer.Integer integer -> put(offset, integer.value());
            case Initializer.Float32 single -> put(offset, elementBytes == 8
                    ? Double.doubleToRawLongBits(Float.intBitsToFloat(single.bits())) : single.bits());
            case Initializer.Float64 number -> put(offset, FloatConstant.narrow(number.bits(), variable.type().bits(),
                    variable.type() == ScalarType.BF16 ? BinaryFormat.BF16 : BinaryFormat.F16));
            case Initializer.AddressOf address -> {
                int shift = address.mask() == 0 ? 0 : Long.numberOfTrailingZeros(address.mask());
                references.add(new io.tessera.software.program.ModuleVariable.Reference(offset,
                        address.mask() == 0 ? elementBytes : 1, address.symbol(), address.offsetBytes(), shift));
                put(offset, 0);
            }
            case Initializer.Field field ->
                throw new UnsupportedPtxException("", "initialiser field " + field.name(), variable.line());
        }
    }

    private void put(long offset, long value) {
        int end = Math.toIntExact(offset + elementBytes);
        if (end > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(end, Math.toIntExact(Math.min(variable.sizeBytes(), 2L * end))));
        }
        for (int i = 0; i < elementBytes; i++) {
            bytes[(int) offset + i] = (byte) (i < 8 ? value >>> 8 * i : 0);
        }
    }
}
