package io.tessera.guardian.machine;

import io.tessera.guardian.fence.HoistedVariable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Variables of a cubin that live in the tenant's window, since fenced code accesses them. A driver does not write their addresses into the
 * cubin any more: the loader allocates them and does. Immutable.
 *
 * @param variables the variables; {@link HoistedVariable#constant} is empty
 * @param places    where their addresses go, as offsets in the cubin's file
 */
public record MovedVariables(List<HoistedVariable> variables, List<HoistedVariable.Relocation> places) {
    /** No moved variables. */
    public static final MovedVariables NONE = new MovedVariables(List.of(), List.of());

    /**
     * Copies the lists.
     *
     * @throws IllegalArgumentException if an address belongs to another variable
     */
    public MovedVariables {
        variables = List.copyOf(variables);
        places = List.copyOf(places);
        Set<String> names = variables.stream().map(HoistedVariable::name).collect(Collectors.toSet());
        if (!Stream.concat(places.stream(), variables.stream().flatMap(variable -> variable.relocations().stream()))
                .allMatch(place -> names.contains(place.variable()))) {
            throw new IllegalArgumentException("an address of a variable that does not move");
        }
    }

    /** Returns whether there are none. */
    public boolean isEmpty() {
        return variables.isEmpty();
    }

    /**
     * Writes addresses.
     *
     * @param cubin is changed
     * @param address of a variable, by its name
     * @throws MachineCodeException if the cubin does not have a place; nothing was changed
     */
    public void write(byte[] cubin, ToLongFunction<String> address) throws MachineCodeException {
        for (HoistedVariable.Relocation place : places) {
            if (place.offsetBytes() < 0 || place.offsetBytes() > cubin.length - place.widthBytes()) {
                throw new MachineCodeException("an address of a variable behind the end of the cubin");
            }
        }
        ByteBuffer bytes = ByteBuffer.wrap(cubin).order(ByteOrder.LITTLE_ENDIAN);
        for (HoistedVariable.Relocation place : places) {
            int at = (int) place.offsetBytes();
            long bits = place.value(address.applyAsLong(place.variable()));
            for (int i = 0; i < place.widthBytes(); i++) {
                bytes.put(at + i, (byte) (bits >>> i * Byte.SIZE));
            }
        }
    }
}
