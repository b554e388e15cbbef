package io.tessera.fuzz.generate;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * Generates kernels from seeds. The same seed gives the same kernel, and steps can be omitted without a change of the others. Stateless.
 */
public final class KernelGenerator {
    private static final int VALUES = 5;
    private static final int LEAST_STEPS = 2;
    private static final int MORE_STEPS = 7;
    private static final int OUT_VALUES = 160;
    private static final int VECTOR = 16;
    private static final int MOST_OUT = 16;
    /** Places of the functions' steps, apart from the kernel's. */
    private static final long FUNCTION_PLACE = 0x4655_4E43L;

    private final ModuleShape shape;
    private final long seed;
    private final Random random;
    private final ScopedNames names = new ScopedNames();
    private final Set<Long> without;
    private final List<Long> taken = new ArrayList<>();
    private final StringBuilder scoped = new StringBuilder();
    private final StringBuilder flat = new StringBuilder();

    private KernelGenerator(long seed, Set<Long> without) {
        this.seed = seed;
        this.random = new Random(KernelBody.mix(seed));
        this.shape = ModuleShape.of(random);
        this.without = without;
    }

    /** The kernel of a seed. */
    public static GeneratedKernel of(long seed) {
        return of(seed, Set.of());
    }

    /**
     * Returns the kernel of a seed, without some of its steps.
     *
     * @param without numbers of steps that are omitted
     */
    public static GeneratedKernel of(long seed, Set<Long> without) {
        KernelGenerator generator = new KernelGenerator(seed, without);
        generator.module();
        return new GeneratedKernel(seed, generator.shape.hostile(), generator.shape.endless(), generator.shape.blocks(), generator.shape.threads(),
                generator.scoped.toString(), generator.flat.toString(), generator.taken);
    }

    private void both(String text) {
        scoped.append(text).append('\n');
        flat.append(text).append('\n');
    }

    private void module() {
        both(".version 8.0\n.target sm_90\n.address_size 64");
        both(".visible .global .align 16 .b32 table[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};");
        both(".const .align 16 .b32 constants[16] = {7, 77, 777, 7777, 5, 55, 555, 5555};");
        for (String name : List.of("table", "constants", "f0", "f1", "k", "functions")) {
            names.fixed(name, null);
        }
        if (shape.calls()) {
            function("f0");
            function("f1");
        }
        if (shape.calls() && !shape.inRegisters()) {
            both(".global .align 8 .u64 functions[2] = {f0, f1};");
        }
        kernel();
    }

    private KernelBody body() {
        KernelBody body = new KernelBody(shape, names, StepChooser::take, without, taken);
        body.random = random;
        return body;
    }

    private void end(KernelBody body) {
        body.line("ret;");
        scoped.append(body.text.scoped()).append("}\n");
        flat.append(body.text.flat()).append("}\n");
        names.leave();
    }

    private void function(String name) {
        names.enter();
        names.beginStep();
        KernelBody body = body();
        NamedEntity result;
        NamedEntity pointer;
        NamedEntity number;
        if (shape.inRegisters()) {
            result = names.pin(names.any(random, RegisterWidth.W32));
            pointer = names.pin(names.any(random, RegisterWidth.D64));
            number = names.pin(names.any(random, RegisterWidth.W32));
            scoped.append(head(name, "reg", result.scoped(), pointer.scoped(), number.scoped()));
            flat.append(head(name, "reg", result.flat(), pointer.flat(), number.flat()));
        } else {
            scoped.append(head(name, "param", "result", "pointer", "number"));
            flat.append(head(name, "param", "result", "pointer", "number"));
            for (String parameter : List.of("result", "pointer", "number")) {
                names.fixed(parameter, null);
            }
            result = body.temp(RegisterWidth.W32);
            pointer = body.temp(RegisterWidth.D64);
            number = body.temp(RegisterWidth.W32);
            body.line("ld.param.b64 %s, [pointer];", pointer);
            body.line("ld.param.b32 %s, [number];", number);
        }
        body.own = pointer;
        body.line("mov.u32 %s, 1;", result);
        body.values.add(number);
        body.values.add(result);
        body.steps(KernelBody.mix(seed ^ FUNCTION_PLACE ^ name.hashCode()), 1 + random.nextInt(4));
        body.line("add.u32 %s, %s, %s;", result, result, number);
        if (!shape.inRegisters()) {
            body.line("st.param.b32 [result], %s;", result);
        }
        end(body);
    }

    private static String head(String name, String space, String result, String pointer, String number) {
        return ".func (." + space + " .b32 " + result + ") " + name + "(." + space + " .b64 " + pointer + ", ." + space + " .b32 " + number
                + ")\n{\n";
    }

    private void kernel() {
        names.enter();
        names.beginStep();
        for (String parameter : List.of("in", "out", "seed", "foreign", "count")) {
            names.fixed(parameter, null);
        }
        both(".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 seed, .param .u64 foreign, .param .u32 count)"
                + (shape.named() ? "\n.reqntid " + shape.threads() + ", 1, 1" : "")
                + (shape.cluster() > 1 ? "\n.reqnctapercluster " + shape.cluster() + ", 1, 1" : "")
                + "\n{");
        KernelBody body = body();
        body.uniform = true;
        body.kernel = begin(body);
        body.steps(KernelBody.mix(seed), LEAST_STEPS + random.nextInt(MORE_STEPS));
        finish(body);
        end(body);
    }

    /** Loads the parameters, and writes all of the thread's parts of shared and local memory. */
    private KernelBody.Kernel begin(KernelBody body) {
        NamedEntity tile = names.pin(names.declare("tile", null));
        NamedEntity frame = names.pin(names.declare("frame", null));
        body.text.variable(".shared .align 16 .b8 %s[" + MemorySteps.SLICE_BYTES * shape.threads() + "];", tile);
        body.text.variable(".local .align 16 .b8 %s[" + MemorySteps.SLICE_BYTES + "];", frame);
        NamedEntity in = body.temp(RegisterWidth.D64);
        NamedEntity out = body.temp(RegisterWidth.D64);
        NamedEntity foreign = body.temp(RegisterWidth.D64);
        NamedEntity sharedGeneric = body.temp(RegisterWidth.D64);
        NamedEntity localGeneric = body.temp(RegisterWidth.D64);
        NamedEntity wide = body.temp(RegisterWidth.D64);
        NamedEntity start = body.temp(RegisterWidth.D64);
        NamedEntity id = body.temp(RegisterWidth.W32);
        NamedEntity tid = body.temp(RegisterWidth.W32);
        NamedEntity seedRegister = body.temp(RegisterWidth.W32);
        NamedEntity slice = body.temp(RegisterWidth.W32);
        body.line("ld.param.u64 %s, [in];", in);
        body.line("ld.param.u64 %s, [out];", start);
        body.line("ld.param.u64 %s, [foreign];", foreign);
        body.line("ld.param.u32 %s, [seed];", seedRegister);
        body.line("mov.u32 %s, %%ctaid.x;", id);
        body.line("mov.u32 %s, %%ntid.x;", slice);
        body.line("mov.u32 %s, %%tid.x;", tid);
        body.line("mad.lo.u32 %s, %s, %s, %s;", id, id, slice, tid);
        body.line("mul.wide.u32 %s, %s, " + MemorySteps.OUT_BYTES + ";", wide, id);
        body.line("add.s64 %s, %s, %s;", out, start, wide);
        for (int i = 0; i < VALUES; i++) {
            NamedEntity value = body.temp(RegisterWidth.W32);
            body.line("mad.lo.u32 %s, %s, %d, %s;", value, id, random.nextInt(1000) + 1, seedRegister);
            body.values.add(value);
        }
        body.line("mov.u32 %s, %s;", slice, tile);
        body.line("mad.lo.u32 %s, %s, " + MemorySteps.SLICE_BYTES + ", %s;", slice, tid, slice);
        body.line("cvt.u64.u32 %s, %s;", wide, slice);
        body.line("cvta.shared.u64 %s, %s;", sharedGeneric, wide);
        body.line("mov.u64 %s, %s;", wide, frame);
        body.line("cvta.local.u64 %s, %s;", localGeneric, wide);
        for (int i = 0; i < MemorySteps.SLICE_BYTES; i += VECTOR) {
            NamedEntity a = body.values.get(i / VECTOR % VALUES);
            NamedEntity b = body.values.get((i / VECTOR + 1) % VALUES);
            body.line("st.shared.v4.u32 [%s+%d], {%s, %s, %s, %s};", slice, i, a, b, id, a);
            body.line("st.local.v4.u32 [%s+%d], {%s, %s, %s, %s};", frame, i, b, b, a, tid);
        }
        return new KernelBody.Kernel(in, out, tile, frame, foreign, sharedGeneric, localGeneric, start, slice);
    }

    private void finish(KernelBody body) {
        names.beginStep();
        NamedEntity out = names.pin(body.kernel.out());
        int generic = random.nextInt(MemorySteps.SLICE_BYTES / VECTOR);
        NamedEntity[] got = {body.temp(RegisterWidth.W32), body.temp(RegisterWidth.W32), body.temp(RegisterWidth.W32), body.temp(RegisterWidth.W32)};
        for (int i = 0; i < MemorySteps.SLICE_BYTES; i += VECTOR) {
            NamedEntity value = body.values.get(i / VECTOR % VALUES);
            if (i / VECTOR == generic) {
                body.line("ld.v4.u32 {%s, %s, %s, %s}, [%s+%d];", got[0], got[1], got[2], got[3], body.kernel.sharedGeneric(), i);
            } else {
                body.line("ld.shared.v4.u32 {%s, %s, %s, %s}, [%s+%d];", got[0], got[1], got[2], got[3], body.kernel.slice(), i);
            }
            mix(body, value, got);
            body.line("ld.local.v4.u32 {%s, %s, %s, %s}, [%s+%d];", got[0], got[1], got[2], got[3], body.kernel.frame(), i);
            mix(body, value, got);
        }
        for (int i = 0; i < Math.min(MOST_OUT, body.values.size()); i++) {
            body.line("st.global.u32 [%s+%d], %s;", out, OUT_VALUES + Integer.BYTES * i, body.values.get(i));
        }
    }

    private static void mix(KernelBody body, NamedEntity value, NamedEntity[] got) {
        body.line("mad.lo.u32 %s, %s, %s, %s;", got[0], got[1], 77, got[0]);
        body.line("mad.lo.u32 %s, %s, %s, %s;", got[2], got[3], 55, got[2]);
        body.line("mad.lo.u32 %s, %s, %s, %s;", value, value, got[0], got[2]);
    }
}
