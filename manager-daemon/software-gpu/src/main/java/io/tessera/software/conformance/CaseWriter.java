package io.tessera.software.conformance;

import io.tessera.software.program.RegisterClass;
import io.tessera.software.program.ValueType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;

/** Writes the program of a form and draws its inputs. Stateless. */
final class CaseWriter {
    private CaseWriter() {
    }

    /** Returns the case of a form; equal for equal seeds. Forms with sources of the same types get the same inputs. */
    static ConformanceCase write(InstructionForm form, int records, long seed) {
        int sources = form.sources().size();
        ByteBuffer input = ByteBuffer.allocate(records * Math.max(1, sources) * ConformanceCase.SLOT)
                .order(ByteOrder.LITTLE_ENDIAN);
        Random random = new Random(seed ^ form.sources().toString().hashCode());
        for (int record = 0; record < records; record++) {
            for (int source = 0; source < sources; source++) {
                input.putLong(OperandValues.draw(form.sources().get(source), record, source, sources, random));
            }
        }
        return new ConformanceCase(form.name(), program(form), form.results(), sources, records, input.array(),
                form.tolerance());
    }

    private static String program(InstructionForm form) {
        StringBuilder ptx = new StringBuilder("""
                .version 8.0
                .target sm_90
                .address_size 64
                .visible .entry run(.param .u64 in, .param .u64 out, .param .u32 n)
                {
                  .reg .pred %p<20>;
                  .reg .b16 %h<20>;
                  .reg .b32 %r<30>;
                  .reg .b64 %d<30>;
                  .shared .align 8 .b8 cell[1024];
                  mov.u32 %r20, %tid.x;
                  mov.u32 %r21, %ctaid.x;
                  mov.u32 %r22, %ntid.x;
                  mad.lo.u32 %r20, %r21, %r22, %r20;
                  ld.param.u32 %r21, [n];
                  setp.ge.u32 %p19, %r20, %r21;
                  @%p19 bra DONE;
                  ld.param.u64 %d20, [in];
                  ld.param.u64 %d21, [out];
                """);
        ptx.append("  mul.wide.u32 %d22, %r20, ").append(form.sources().size() * ConformanceCase.SLOT).append(";\n");
        ptx.append("  add.u64 %d20, %d20, %d22;\n");
        ptx.append("  mul.wide.u32 %d22, %r20, ").append(form.results().size() * ConformanceCase.SLOT).append(";\n");
        ptx.append("  add.u64 %d21, %d21, %d22;\n");
        for (int i = 0; i < form.sources().size(); i++) {
            load(ptx, form.sources().get(i), i);
        }
        ptx.append("  ").append(instruction(form)).append('\n');
        for (int i = 0; i < form.results().size(); i++) {
            store(ptx, form.results().get(i), i);
        }
        return ptx.append("DONE:\n  ret;\n}\n").toString();
    }

    private static String register(ValueType type, int number) {
        return switch (RegisterClass.of(type)) {
            case PREDICATE -> "%p" + number;
            case BITS16 -> "%h" + number;
            case BITS32 -> "%r" + number;
            default -> "%d" + number;
        };
    }

    private static String instruction(InstructionForm form) {
        String text = form.text();
        for (int i = 0; i < form.sources().size(); i++) {
            text = text.replace("$" + i, register(form.sources().get(i), i));
        }
        for (int i = 0; i < form.results().size(); i++) {
            text = text.replace("#" + i, register(form.results().get(i), 10 + i));
        }
        return text.replace("; ", ";\n  ");
    }

    private static void load(StringBuilder ptx, ValueType type, int number) {
        String address = "[%d20+" + number * ConformanceCase.SLOT + "];\n";
        switch (RegisterClass.of(type)) {
            case PREDICATE -> ptx.append("  ld.global.u32 %r23, ").append(address)
                    .append("  setp.ne.u32 %p").append(number).append(", %r23, 0;\n");
            case BITS16 -> ptx.append("  ld.global.b16 %h").append(number).append(", ").append(address);
            case BITS32 -> ptx.append("  ld.global.b32 %r").append(number).append(", ").append(address);
            default -> ptx.append("  ld.global.b64 %d").append(number).append(", ").append(address);
        }
    }

    private static void store(StringBuilder ptx, ValueType type, int number) {
        String address = "[%d21+" + number * ConformanceCase.SLOT + "], ";
        int register = 10 + number;
        switch (RegisterClass.of(type)) {
            case PREDICATE -> ptx.append("  selp.u32 %r23, 1, 0, %p").append(register)
                    .append(";\n  st.global.u32 ").append(address).append("%r23;\n");
            case BITS16 -> ptx.append("  st.global.b16 ").append(address).append("%h").append(register).append(";\n");
            case BITS32 -> ptx.append("  st.global.b32 ").append(address).append("%r").append(register).append(";\n");
            default -> ptx.append("  st.global.b64 ").append(address).append("%d").append(register).append(";\n");
        }
    }

    /** Cases of many forms. */
    static List<ConformanceCase> writeAll(List<InstructionForm> forms, int records, long seed) {
        return forms.stream().map(form -> write(form, records, seed)).toList();
    }
}
