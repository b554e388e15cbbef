package io.tessera.software.interpret;

import io.tessera.software.execution.SpecialRegisterValues;
import io.tessera.software.execution.SymbolAddresses;
import io.tessera.software.execution.ThreadState;
import io.tessera.software.program.Function;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.LoweredOperand;

/** A running function of one thread: registers, place in the code, frame in local memory. */
final class Frame {
    final Function function;
    final long[] registers;
    /** Begin of the frame, as offset into local memory. */
    final long base;
    final Frame caller;
    /** Number of calls that led here. */
    final int calls;
    final SymbolAddresses symbols;
    /** End of what the frame uses: its variables and what alloca added. */
    long top;
    int pc;
    /** The condition code register's carry. */
    int carry;
    /** Whether the instruction at pc has made its request and stopped the thread. */
    boolean waiting;

    Frame(Function function, long base, Frame caller, SymbolAddresses symbols) {
        this.function = function;
        this.registers = new long[function.slots()];
        this.base = base;
        this.top = base + function.frameBytes();
        this.caller = caller;
        this.calls = caller == null ? 0 : caller.calls + 1;
        this.symbols = symbols;
    }

    /** Value of an operand; of a 128-bit one its low half. */
    long value(ThreadState thread, LoweredOperand operand) {
        return switch (operand) {
            case LoweredOperand.Register register -> register.negated() ? registers[register.slot()] ^ 1
                    : registers[register.slot()];
            case LoweredOperand.Immediate immediate -> immediate.bits();
            case LoweredOperand.Address address -> address(address);
            case LoweredOperand.Special special -> SpecialRegisterValues.read(thread, special.register(), special.dimension());
            default -> throw new IllegalStateException("not a value: " + operand);
        };
    }

    long argument(ThreadState thread, LoweredInstruction instruction, int place) {
        return value(thread, instruction.argument(place));
    }

    /** High half of a 128-bit operand. */
    long high(LoweredOperand operand) {
        return switch (operand) {
            case LoweredOperand.Register register -> registers[register.slot() + 1];
            case LoweredOperand.Immediate immediate -> immediate.bits() >> 63;
            default -> throw new IllegalStateException("not a value of 128 bits: " + operand);
        };
    }

    /** An address in the state space that its instruction names. */
    long address(LoweredOperand.Address address) {
        long sum = address.offset();
        if (address.symbol() != null) {
            sum += symbols.of(address.symbol());
        }
        if (address.frameRelative()) {
            sum += base;
        }
        if (address.register() != null) {
            sum += registers[address.register().slot()];
            if (address.register().registerClass().bits() == 32) {
                sum &= 0xFFFFFFFFL;
            }
        }
        return sum;
    }

    /** Writes a register, cut to its width. */
    void set(LoweredOperand result, long value) {
        if (result instanceof LoweredOperand.Register register) {
            int bits = register.registerClass().bits();
            registers[register.slot()] = bits >= 64 ? value : value & (1L << bits) - 1;
        } else if (!(result instanceof LoweredOperand.Sink)) {
            throw new IllegalStateException("not a result: " + result);
        }
    }

    void setWide(LoweredOperand result, long low, long high) {
        if (result instanceof LoweredOperand.Register register) {
            registers[register.slot()] = low;
            registers[register.slot() + 1] = high;
        }
    }

    boolean holds(LoweredOperand.Register guard) {
        return guard == null || (registers[guard.slot()] != 0) != guard.negated();
    }
}
