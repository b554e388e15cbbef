package io.tessera.fuzz.generate;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * The body of one function while it is generated. Every step draws from a generator of its own, by its place, so that a kernel can be made again
 * without some of its steps. Not thread-safe.
 */
final class KernelBody {
    private static final int DEEPEST = 3;
    private static final int MOST_SHARED = 3;

    /** A step that was taken, or left out. */
    interface Step {
        void write();
    }

    /** What takes a step at a place. */
    @FunctionalInterface
    interface StepTaker {
        void take(KernelBody body, long place);
    }

    final ModuleShape shape;
    final ScopedNames names;
    final GeneratedText text = new GeneratedText();
    /** Registers with data; what they hold reaches the results. */
    final List<NamedEntity> values = new ArrayList<>();
    /** Counters of enclosing loops: registers below {@code bounds}. */
    final List<NamedEntity> counters = new ArrayList<>();
    final List<Integer> bounds = new ArrayList<>();
    /** Address of memory that the thread may read and write, 64 bytes, generic. */
    NamedEntity own;
    /** Set for kernels only; functions have none. */
    Kernel kernel;
    Random random;
    boolean uniform;
    private final StepTaker taker;
    private final Set<Long> without;
    private final List<Long> taken;
    private int depth;
    private int shared;

    /** What only kernels have. */
    record Kernel(NamedEntity in, NamedEntity out, NamedEntity tile, NamedEntity frame, NamedEntity foreign, NamedEntity sharedGeneric,
            NamedEntity localGeneric, NamedEntity outFlat, NamedEntity slice) {
    }

    KernelBody(ModuleShape shape, ScopedNames names, StepTaker taker, Set<Long> without, List<Long> taken) {
        this.taker = taker;
        this.shape = shape;
        this.names = names;
        this.without = without;
        this.taken = taken;
    }

    /** Takes some steps, each by a number that follows from its place. */
    void steps(long place, int count) {
        Random outer = random;
        depth++;
        for (int i = 0; i < count; i++) {
            long id = mix(place * 31 + i + 1);
            if (!without.contains(id)) {
                taken.add(id);
                random = new Random(id);
                List<NamedEntity> pinned = names.beginStep();
                taker.take(this, id);
                names.endStep(pinned);
            }
        }
        depth--;
        random = outer;
    }

    /** SplitMix64's finaliser. */
    static long mix(long z) {
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }

    boolean mayNest() {
        return depth < DEEPEST;
    }

    boolean mayShare() {
        return shared++ < MOST_SHARED;
    }

    void line(String format, Object... operands) {
        for (Object operand : operands) {
            if (operand instanceof NamedEntity thing && thing.width() != null && !names.visible(thing)) {
                throw new IllegalStateException(thing.scoped() + " is hidden in \"" + format + "\"");
            }
        }
        text.line(format, operands);
    }

    /** A line that is executed where a predicate is true; null: always. */
    void guarded(NamedEntity guard, String format, Object... operands) {
        if (guard == null) {
            line(format, operands);
            return;
        }
        Object[] all = new Object[operands.length + 1];
        all[0] = guard;
        System.arraycopy(operands, 0, all, 1, operands.length);
        line("@%s " + format, all);
    }

    /** A new register in the innermost block. */
    NamedEntity temp(RegisterWidth width) {
        NamedEntity thing = names.any(random, width);
        text.register(thing);
        return names.pin(thing);
    }

    void open() {
        text.open();
        names.enter();
    }

    void close() {
        names.leave();
        text.close();
        values.removeIf(value -> !known(value));
    }

    /** Whether a value was declared in a block that is still open. */
    private boolean known(NamedEntity value) {
        return names.declared(value);
    }

    /** A register of 32 bits with data. */
    NamedEntity value() {
        List<NamedEntity> visible = values.stream().filter(names::visible).toList();
        if (visible.isEmpty()) {
            NamedEntity made = temp(RegisterWidth.W32);
            line("mov.u32 %s, %s;", made, literal(random.nextInt(), 32, false));
            return made;
        }
        return names.pin(visible.get(random.nextInt(visible.size())));
    }

    /** Whether a step of a hostile kernel goes wrong. */
    boolean strays() {
        return shape.hostile() && random.nextInt(4) == 0;
    }

    /** A literal that is to be this number; in hostile kernels it may be another. */
    Literal literal(long value, int bits, boolean signed) {
        return Literal.of(random, strays() ? Literal.border(random) : value, bits, signed);
    }

    /** A literal that is this number in hostile kernels too. */
    Literal exact(long value, int bits, boolean signed) {
        return Literal.of(random, value, bits, signed);
    }

    /** A register that holds this number. */
    NamedEntity exactIn(long value, int bits) {
        NamedEntity made = temp(bits == 64 ? RegisterWidth.D64 : RegisterWidth.W32);
        line("mov.b" + bits + " %s, %s;", made, exact(value, bits, false));
        return made;
    }

    /** A type of 32 bits: the one that is meant, or in hostile kernels sometimes the other. */
    String type32(boolean signed) {
        return signed != (shape.hostile() && random.nextInt(6) == 0) ? "s32" : "u32";
    }

    /** Mixes a register of any width into some value. */
    void use(NamedEntity thing) {
        names.pin(thing);
        NamedEntity value = value();
        switch (thing.width()) {
            case W32 -> line("xor.b32 %s, %s, %s;", value, value, thing);
            case D64 -> {
                NamedEntity low = temp(RegisterWidth.W32);
                NamedEntity high = temp(RegisterWidth.W32);
                line("mov.b64 {%s, %s}, %s;", low, high, thing);
                line("xor.b32 %s, %s, %s;", value, value, low);
                line("add.u32 %s, %s, %s;", value, value, high);
            }
            case H16 -> {
                NamedEntity wide = temp(RegisterWidth.W32);
                line(random.nextBoolean() ? "cvt.u32.u16 %s, %s;" : "cvt.s32.s16 %s, %s;", wide, thing);
                line("add.u32 %s, %s, %s;", value, value, wide);
            }
            case PRED -> {
                NamedEntity one = temp(RegisterWidth.W32);
                line("selp.b32 %s, 1, 0, %s;", one, thing);
                line("add.u32 %s, %s, %s;", value, value, one);
            }
            default -> throw new IllegalArgumentException(thing.width().toString());
        }
    }
}
