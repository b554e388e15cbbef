package io.tessera.guardian.fence.footprint;

import io.tessera.guardian.fence.instruction.Definitions;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * Origins of the results of instructions, and the origins of all registers so far; those of a register that is written in several places are united.
 *
 * <p>Sums, differences, selections, minima and maxima have all sources of their operands. Products, quotients, right shifts, conversions between
 * sizes and left shifts by at most {@value #MOST_SCALE_BITS} bits are taken for numbers: a program does not scale an address and use the result as one.
 * What else may hold an address is foreign. One owner thread.
 */
final class OriginRules {
    /** Index to offset: elements of at most 256 bytes. */
    private static final int MOST_SCALE_BITS = 8;
    /** Allocations are aligned at least as much, so that rounding an address down does not leave its allocation. */
    private static final long MOST_ROUNDING = 256;
    /** Lowest constant that may be an address. */
    private static final long LEAST_ADDRESS = 1L << 32;
    /** A mask with fewer bits removes the upper bits of an address. */
    private static final long LEAST_ADDRESS_MASK = 1L << 40;

    private final KernelNames names;
    private final Map<String, AddressOrigin> registers = new HashMap<>();

    OriginRules(KernelNames names) {
        this.names = names;
    }

    /** Unites the origins of an instruction's results with those that their registers have. Returns whether that changed one. */
    boolean apply(Instruction i) {
        boolean[] changed = new boolean[1];
        results(i, (register, origin) -> {
            AddressOrigin before = registers.getOrDefault(register, AddressOrigin.NUMBER);
            AddressOrigin after = before.or(origin);
            if (after != before) {
                registers.put(register, after);
                changed[0] = true;
            }
        });
        return changed[0];
    }

    /** Returns the origin of what an operand stands for: the address, if it is one in brackets. */
    AddressOrigin of(Operand operand) {
        return switch (operand) {
            case Operand.Register(String name) -> registers.getOrDefault(name, AddressOrigin.NUMBER);
            case Operand.Component(String name, String _) -> registers.getOrDefault(name, AddressOrigin.NUMBER).asPart();
            case Operand.Immediate(long value, boolean _) -> isAddress(value) ? AddressOrigin.FOREIGN : AddressOrigin.NUMBER;
            case Operand.Symbol(String name, long _) -> names.address(name);
            case Operand.Address(Operand.Register base, long _) -> of((Operand) base);
            case Operand.Address(Operand.Named base, long _) -> names.address(base.name());
            case Operand.Address(Operand.Immediate base, long _) -> of((Operand) base);
            case Operand.CompoundAddress(List<Operand> parts) -> union(parts);
            case Operand.Vector(List<Operand> elements) -> union(elements);
            case Operand.Pair(Operand first, Operand second) -> of(first).or(of(second));
            case Operand.Not(Operand negated) -> of(negated);
            case Operand.Minus(Operand negated) -> of(negated);
            case Operand.Arguments(List<Operand> elements) -> union(elements);
            case Operand.SpecialRegister _,Operand.Float32 _,Operand.Float64 _,Operand.Sink _ -> AddressOrigin.NUMBER;
        };
    }

    private static boolean isAddress(long value) {
        return value >= LEAST_ADDRESS || value <= -LEAST_ADDRESS;
    }

    private AddressOrigin union(List<Operand> operands) {
        AddressOrigin all = AddressOrigin.NUMBER;
        for (Operand operand : operands) {
            all = all.or(of(operand));
        }
        return all;
    }

    private void results(Instruction i, BiConsumer<String, AddressOrigin> each) {
        boolean parameters = i.opcode().equals("ld") && i.space().filter(space -> space == StateSpace.PARAM).isPresent();
        if (parameters && isWhole(i) && i.operands().getFirst() instanceof Operand.Vector(List<Operand> elements)) {
            for (int n = 0; n < elements.size(); n++) {
                if (elements.get(n) instanceof Operand.Register(String name)) {
                    each.accept(name, loadedParameter(i, n));
                }
            }
            return;
        }
        List<Operand.Register> written = Definitions.of(i);
        if (!written.isEmpty()) {
            AddressOrigin origin = parameters && isWhole(i) ? loadedParameter(i, 0) : result(i);
            written.forEach(register -> each.accept(register.name(), origin));
        }
    }

    private AddressOrigin loadedParameter(Instruction i, int element) {
        if (bits(i) != Long.SIZE) {
            return AddressOrigin.FOREIGN;
        }
        return switch (i.operands().getLast()) {
            case Operand.Address(Operand.Named(String name), long offset) -> names.parameter(name, offset + (long) element * Long.BYTES);
            case Operand.Address(Operand.Register _, long _) -> names.anyParameter();
            default -> AddressOrigin.FOREIGN;
        };
    }

    private static int bits(Instruction i) {
        return i.type().map(ScalarType::bits).orElse(0);
    }

    /** Returns whether a result may have 64 bits or more. */
    private static boolean isWhole(Instruction i) {
        return i.has("wide") || i.types().stream().anyMatch(type -> type.bits() >= Long.SIZE);
    }

    private AddressOrigin result(Instruction i) {
        return switch (i.opcode()) {
            case "ld", "ldu", "atom" -> isWhole(i) ? AddressOrigin.FOREIGN : AddressOrigin.PART;
            case "wmma", "ldmatrix" -> isWhole(i) ? AddressOrigin.FOREIGN : AddressOrigin.PART;
            case "setp", "testp", "isspacep", "createpolicy" -> AddressOrigin.NUMBER;
            case "mapa" -> AddressOrigin.NEAR;
            case "cvta" -> i.has("global") ? operand(i, 1) : AddressOrigin.NEAR;
            case "mov" -> moved(i);
            case "add", "sub", "min", "max", "neg", "not" -> sized(i, sources(i));
            case "selp", "slct" -> sized(i, operand(i, 1).or(operand(i, 2)));
            case "mad" -> sized(i, operand(i, 1).or(operand(i, 2)).asPart().or(operand(i, 3)));
            case "mul", "div", "rem", "shr", "bfe", "popc", "clz", "bfind" -> sources(i).asPart();
            case "shl" -> shifted(i);
            case "and", "or", "xor", "cnot" -> sized(i, combined(i));
            case "cvt" -> converted(i);
            default -> isWhole(i) ? sources(i).asWhole() : sources(i).asPart();
        };
    }

    /** Returns the origin of a result that is an address only if it has 64 bits. */
    private static AddressOrigin sized(Instruction i, AddressOrigin origin) {
        return isWhole(i) ? origin : origin.asPart();
    }

    /** Returns the origin of the n-th operand. The parser does not count operands; one that is missing is foreign. */
    private AddressOrigin operand(Instruction i, int n) {
        return n < i.operands().size() ? of(i.operands().get(n)) : AddressOrigin.FOREIGN;
    }

    private AddressOrigin sources(Instruction i) {
        return union(i.operands().subList(1, i.operands().size()));
    }

    private AddressOrigin moved(Instruction i) {
        Operand from = i.operands().getLast();
        if (i.operands().getFirst() instanceof Operand.Vector) {
            return bits(i) > Long.SIZE ? AddressOrigin.FOREIGN : of(from).asPart();
        }
        if (from instanceof Operand.Vector) {
            return isWhole(i) ? AddressOrigin.FOREIGN : of(from).asPart();
        }
        return of(from);
    }

    private AddressOrigin shifted(Instruction i) {
        boolean scales = i.operands().getLast() instanceof Operand.Immediate(long count, boolean _) && count > 0 && count <= MOST_SCALE_BITS;
        AddressOrigin from = operand(i, 1);
        return scales || !isWhole(i) ? from.asPart() : from.asWhole();
    }

    private AddressOrigin combined(Instruction i) {
        AddressOrigin first = operand(i, 1);
        if (i.operands().getLast() instanceof Operand.Immediate(long value, boolean _)) {
            if (i.opcode().equals("and") && value >= 0 && value < LEAST_ADDRESS_MASK) {
                return first.asPart();
            }
            boolean rounds = i.opcode().equals("and") && value < 0 && value >= -MOST_ROUNDING && (value & -value) == -value;
            boolean adds = i.opcode().equals("or") && value >= 0 && value < LEAST_ADDRESS;
            if (rounds || adds) {
                return first;
            }
        }
        return sources(i).asBits();
    }

    private AddressOrigin converted(Instruction i) {
        List<ScalarType> types = i.types();
        boolean same = types.size() == 2 && types.stream().allMatch(type -> type.bits() == Long.SIZE)
                && (types.getFirst().kind() == ScalarType.Kind.FLOAT) == (types.getLast().kind() == ScalarType.Kind.FLOAT);
        AddressOrigin from = sources(i);
        return same ? from : types.size() == 2 ? from.asPart() : from.asWhole();
    }
}
