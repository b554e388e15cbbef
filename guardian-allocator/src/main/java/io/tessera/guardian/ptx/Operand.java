package io.tessera.guardian.ptx;

import java.util.List;
import java.util.function.Consumer;

/** Operand of an instruction. Immutable. */
public sealed interface Operand {
    /**
     * A declared register.
     *
     * @param name with its percent sign if it has one
     */
    record Register(String name) implements Operand, Base {
    }

    /**
     * A read-only register of the machine.
     *
     * @param name      with percent sign, without component: {@code %tid}, {@code %laneid}
     * @param component {@code x}, {@code y}, {@code z}, {@code w}, or empty if the register is not a vector
     */
    record SpecialRegister(String name, String component) implements Operand {
    }

    /**
     * Part of a register that a video instruction selects ({@code b0}, {@code h1}, {@code b7654}).
     *
     * @param name      the register
     * @param component the text after the dot
     */
    record Component(String name, String component) implements Operand {
    }

    /**
     * Integer constant; constant expressions are evaluated when they are read.
     *
     * @param value    the 64 bits
     * @param unsigned whether PTX counts it as {@code .u64} (suffix U, or too large for {@code .s64})
     */
    record Immediate(long value, boolean unsigned) implements Operand, Base {
    }

    /**
     * {@code 0fXXXXXXXX}: a constant of exactly 32 bits.
     *
     * @param bits IEEE 754 single precision
     */
    record Float32(int bits) implements Operand {
    }

    /**
     * {@code 0dXXXXXXXXXXXXXXXX} or a decimal constant, which PTX holds in double precision.
     *
     * @param bits IEEE 754 double precision
     */
    record Float64(long bits) implements Operand {
    }

    /**
     * Name of a variable, function, label or prototype, with an offset where one is given ({@code table+8}).
     *
     * @param name        the name
     * @param offsetBytes 0 where there is none
     */
    record Symbol(String name, long offsetBytes) implements Operand {
    }

    /** The base of an address: {@link Register}, {@link Immediate} or {@link Named}. */
    sealed interface Base {
    }

    /**
     * A variable as the start of an address.
     *
     * @param name the variable
     */
    record Named(String name) implements Base {
    }

    /**
     * {@code [base+offset]}.
     *
     * @param base        register, variable, or an absolute address
     * @param offsetBytes signed; 0 where there is none
     */
    record Address(Base base, long offsetBytes) implements Operand {
    }

    /**
     * {@code [handle, {x, y}]}, {@code [texture, sampler, {x, y}]}, {@code [tensorMap, {x, y, z}]}.
     *
     * @param parts in order; a name is a {@link Symbol}
     */
    record CompoundAddress(List<Operand> parts) implements Operand {
        /** Copies the list. */
        public CompoundAddress {
            parts = List.copyOf(parts);
        }
    }

    /**
     * <code>{a, b, c, d}</code>.
     *
     * @param elements in order
     */
    record Vector(List<Operand> elements) implements Operand {
        /** Copies the list. */
        public Vector {
            elements = List.copyOf(elements);
        }
    }

    /**
     * {@code p|q}: two results of one instruction.
     *
     * @param first  a register or {@link Sink}
     * @param second a register or {@link Sink}
     */
    record Pair(Operand first, Operand second) implements Operand {
    }

    /**
     * {@code !p}.
     *
     * @param operand the negated register
     */
    record Not(Operand operand) implements Operand {
    }

    /**
     * {@code -c} of video instructions, before a register.
     *
     * @param operand a register or {@link Component}
     */
    record Minus(Operand operand) implements Operand {
    }

    /** {@code _}: a result that is discarded. */
    record Sink() implements Operand {
    }

    /**
     * Parenthesised list of a call: what it returns into, or its arguments.
     *
     * @param elements in order; parameters are {@link Symbol}s
     */
    record Arguments(List<Operand> elements) implements Operand {
        /** Copies the list. */
        public Arguments {
            elements = List.copyOf(elements);
        }
    }

    /** Calls a consumer with the name of each register in the operand, in order, once per occurrence. */
    default void registers(Consumer<String> each) {
        switch (this) {
            case Register register -> each.accept(register.name());
            case Component component -> each.accept(component.name());
            case Address(Operand.Register base, long ignored) -> each.accept(base.name());
            case Address ignored -> {
                // Names no register.
            }
            case CompoundAddress compound -> compound.parts().forEach(part -> part.registers(each));
            case Vector vector -> vector.elements().forEach(element -> element.registers(each));
            case Pair pair -> {
                pair.first().registers(each);
                pair.second().registers(each);
            }
            case Not not -> not.operand().registers(each);
            case Minus minus -> minus.operand().registers(each);
            case Arguments arguments -> arguments.elements().forEach(element -> element.registers(each));
            case Symbol ignored -> {
                // No register.
            }
            case SpecialRegister ignored -> {
                // Read-only.
            }
            case Immediate ignored -> {
                // No register.
            }
            case Float32 ignored -> {
                // No register.
            }
            case Float64 ignored -> {
                // No register.
            }
            case Sink ignored -> {
                // Not a register: the result is discarded.
            }
        }
    }
}
