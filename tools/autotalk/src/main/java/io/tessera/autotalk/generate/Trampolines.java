package io.tessera.autotalk.generate;

import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.annotation.Serving;
import io.tessera.autotalk.description.Description;

import java.util.List;

/**
 * Assembly for x86-64 Linux: for each entry that is passed on, the exported symbol as one jump through the table; for
 * every entry the stub that the table starts with, which has the entry looked up and continues there.
 *
 * <p>A jump leaves registers and stack as the caller made them, so no prototype is needed and every argument arrives.
 * The stub saves what may hold arguments (System V psABI 3.2.3): six general registers, {@code rax} (vector registers in
 * use of a variadic call), {@code r10} (static chain) and xmm0 to xmm7.
 */
final class Trampolines {
    private static final List<String> GENERAL = List.of("rdi", "rsi", "rdx", "rcx", "r8", "r9", "rax", "r10");
    private static final int VECTORS = 8;
    private static final int GENERAL_BYTES = 8;
    private static final int VECTOR_BYTES = 16;
    private static final int SAVE_BYTES = VECTORS * VECTOR_BYTES + GENERAL.size() * GENERAL_BYTES;

    private final Decisions decisions;
    private final LibraryNames names;

    Trampolines(Decisions decisions) {
        this.decisions = decisions;
        this.names = LibraryNames.of(decisions.description().library());
    }

    String text() {
        StringBuilder text = new StringBuilder(Generator.NOTICE);
        text.append("        .hidden ").append(names.table()).append('\n');
        text.append("        .hidden ").append(names.resolver()).append("\n\n");
        text.append("        .text\n");
        List<Description.Export> exports = decisions.description().exports();
        for (int i = 0; i < exports.size(); i++) {
            if (decisions.serving(exports.get(i).entry()).orElseThrow() instanceof Serving.Pass) {
                appendJump(text, exports.get(i).name(), i);
            }
        }
        appendCommon(text);
        for (int i = 0; i < exports.size(); i++) {
            appendStub(text, i);
        }
        appendTable(text, exports.size());
        appendNotes(text);
        return text.toString();
    }

    private void appendJump(StringBuilder text, String name, int index) {
        text.append("""
                        .globl %1$s
                        .type %1$s, @function
                        .p2align 4
                %1$s:
                        .cfi_startproc
                        endbr64
                        jmp *%2$s+%3$d(%%rip)
                        .cfi_endproc
                        .size %1$s, . - %1$s

                """.formatted(name, names.table(), index * GENERAL_BYTES));
    }

    /**
     * The common part of the stubs. At its start the index of the entry lies above the caller's return address, so the
     * stack is 16-aligned; the save area keeps it so for the call.
     */
    private void appendCommon(StringBuilder text) {
        String label = stub("common");
        text.append("        .type ").append(label).append(", @function\n        .p2align 4\n");
        text.append(label).append(":\n        .cfi_startproc\n        .cfi_def_cfa_offset 16\n");
        text.append("        subq $").append(SAVE_BYTES).append(", %rsp\n");
        text.append("        .cfi_adjust_cfa_offset ").append(SAVE_BYTES).append('\n');
        appendMoves(text, true);
        text.append("        movl ").append(SAVE_BYTES).append("(%rsp), %edi\n");
        text.append("        call ").append(names.resolver()).append('\n');
        text.append("        movq %rax, %r11\n");
        appendMoves(text, false);
        int whole = SAVE_BYTES + GENERAL_BYTES;
        text.append("        addq $").append(whole).append(", %rsp\n");
        text.append("        .cfi_adjust_cfa_offset -").append(whole).append('\n');
        text.append("        jmp *%r11\n        .cfi_endproc\n");
        text.append("        .size ").append(label).append(", . - ").append(label).append("\n\n");
    }

    private static void appendMoves(StringBuilder text, boolean save) {
        for (int i = 0; i < VECTORS; i++) {
            appendMove(text, "movaps", "xmm" + i, i * VECTOR_BYTES, save);
        }
        for (int i = 0; i < GENERAL.size(); i++) {
            appendMove(text, "movq", GENERAL.get(i), VECTORS * VECTOR_BYTES + i * GENERAL_BYTES, save);
        }
    }

    private static void appendMove(StringBuilder text, String move, String register, int offset, boolean save) {
        String slot = offset + "(%rsp)";
        text.append("        ").append(move).append(' ')
                .append(save ? "%" + register + ", " + slot : slot + ", %" + register).append('\n');
    }

    private void appendStub(StringBuilder text, int index) {
        text.append("""
                        .type %1$s, @function
                        .p2align 4
                %1$s:
                        .cfi_startproc
                        endbr64
                        pushq $%2$d
                        .cfi_adjust_cfa_offset 8
                        jmp %3$s
                        .cfi_endproc
                        .size %1$s, . - %1$s
                """.formatted(stub(Integer.toString(index)), index, stub("common")));
    }

    /** The table is ordinary data: its relocations are relative, and resolving writes it while threads read it. */
    private void appendTable(StringBuilder text, int count) {
        text.append("\n        .data\n        .p2align 6\n        .globl ").append(names.table()).append('\n');
        text.append("        .type ").append(names.table()).append(", @object\n").append(names.table()).append(":\n");
        for (int i = 0; i < count; i++) {
            text.append("        .quad ").append(stub(Integer.toString(i))).append('\n');
        }
        text.append("        .size ").append(names.table()).append(", . - ").append(names.table()).append("\n\n");
    }

    /** No executable stack; and the property note that says that jumps land on endbr64 (psABI: IBT and SHSTK). */
    private static void appendNotes(StringBuilder text) {
        text.append("""
                        .section .note.gnu.property, "a", @note
                        .p2align 3
                        .long 4, 16, 5
                        .asciz "GNU"
                        .long 0xc0000002, 4, 3, 0
                        .section .note.GNU-stack, "", @progbits
                """);
    }

    private String stub(String suffix) {
        return ".L" + names.symbolPrefix() + "first_" + suffix;
    }
}
