package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Guard;
import io.tessera.guardian.ptx.Operand;
import java.util.List;
import java.util.Optional;

/**
 * The pointers to strings among the arguments of a {@code vprintf}. Right before the call each is replaced: by a pointer into a
 * private copy where it points into one of the module's constant strings, else by one to a text that says so. Immutable.
 *
 * @param frame local variable that holds the arguments
 * @param slots offsets in it of the pointers
 * @param texts strings of the module that the function names
 * @param other variable that is printed instead of any other string
 */
record PrintedStrings(String frame, List<Long> slots, List<Text> texts, String other) {
    /**
     * A string of the module.
     *
     * @param variable its name
     * @param copy     name of its private copy, which the tenant cannot reach
     * @param bytes    its size; the copy has a zero more
     */
    record Text(String variable, String copy, long bytes) {
    }

    /** Writes what stands before the call. */
    void write(FunctionContext context, Optional<Guard> guard) {
        Code code = context.code;
        for (long slot : slots) {
            Operand.Address argument = Code.at(new Operand.Named(frame), slot);
            Operand.Register pointer = code.wide();
            code.emit("ld.local.u64", pointer, argument);
            Operand.Register chosen = generic(code, other);
            for (Text text : texts) {
                Operand.Register inside = code.wide();
                Operand.Register within = code.truth();
                code.emit("sub.s64", inside, pointer, context.hoistedAddress(text.variable()));
                code.emit("setp.lt.u64", within, inside, Code.number(text.bytes()));
                Operand.Register copied = generic(code, text.copy());
                code.emit("add.s64", copied, copied, inside);
                code.emit("selp.b64", chosen, copied, chosen, within);
            }
            code.emit(guard, "st.local.u64", argument, chosen);
        }
    }

    private static Operand.Register generic(Code code, String variable) {
        Operand.Register start = code.wide();
        Operand.Register generic = code.wide();
        code.emit("mov.u64", start, new Operand.Symbol(variable, 0));
        code.emit("cvta.global.u64", generic, start);
        return generic;
    }
}
