package io.tessera.autotalk.generate;

import io.tessera.autotalk.annotation.Decisions;
import io.tessera.autotalk.annotation.Serving;
import io.tessera.autotalk.description.Description;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Assembly for x86-64 Linux: for each entry that is passed on, the exported symbol as one jump through the table; for
 * every entry the stub that the table starts with, which has the entry looked up and continues there. In a library with
 * a relay port every exported symbol is a jump through the table of the port, whose stubs have the port chosen.
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

    private static final String FIRST = "first";
    private static final String CHOOSE = "choose";
    /** Section that only the loader's relocations write. */
    private static final String CONSTANT = ".section .data.rel.ro,\"aw\",@progbits";

    private final Decisions decisions;
    private final LibraryNames names;

    Trampolines(Decisions decisions) {
        this.decisions = decisions;
        this.names = LibraryNames.of(decisions.description().library());
    }

    String text() {
        List<Description.Export> exports = decisions.description().exports();
        boolean relays = decisions.relays();
        StringBuilder text = new StringBuilder(FileNotice.TEXT);
        List<String> hidden = relays ? List.of(names.table(), names.resolver(), names.port(), names.chooser(),
                names.first(), names.exported()) : List.of(names.table(), names.resolver());
        hidden.forEach(symbol -> text.append("        .hidden ").append(symbol).append('\n'));
        text.append("\n        .text\n");
        for (int i = 0; i < exports.size(); i++) {
            if (relays) {
                appendJump(text, exports.get(i).name(), names.port(), i);
            } else if (decisions.serving(exports.get(i).entry()).orElseThrow() instanceof Serving.Pass) {
                appendJump(text, exports.get(i).name(), names.table(), i);
            }
        }
        appendStubs(text, FIRST, names.resolver(), exports.size());
        List<String> firsts = labels(FIRST, exports.size());
        appendTable(text, ".data", names.table(), firsts);
        if (relays) {
            text.append("        .text\n");
            appendStubs(text, CHOOSE, names.chooser(), exports.size());
            appendTable(text, ".data", names.port(), labels(CHOOSE, exports.size()));
            appendTable(text, CONSTANT, names.first(), firsts);
            appendTable(text, CONSTANT, names.exported(), exports.stream().map(Description.Export::name).toList());
        }
        appendNotes(text);
        return text.toString();
    }

    private void appendStubs(StringBuilder text, String family, String function, int count) {
        appendCommon(text, family, function);
        for (int i = 0; i < count; i++) {
            appendStub(text, family, i);
        }
    }

    private List<String> labels(String family, int count) {
        return IntStream.range(0, count).mapToObj(i -> stub(family, Integer.toString(i))).toList();
    }

    private static void appendJump(StringBuilder text, String name, String table, int index) {
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

                """.formatted(name, table, index * GENERAL_BYTES));
    }

    /**
     * Appends the common part of the stubs. At its start, the index of the entry is on the stack above the caller's return address, so the
     * stack is 16-byte aligned; the save area keeps that alignment for the call.
     */
    private void appendCommon(StringBuilder text, String family, String function) {
        String label = stub(family, "common");
        text.append("        .type ").append(label).append(", @function\n        .p2align 4\n");
        text.append(label).append(":\n        .cfi_startproc\n        .cfi_def_cfa_offset 16\n");
        text.append("        subq $").append(SAVE_BYTES).append(", %rsp\n");
        text.append("        .cfi_adjust_cfa_offset ").append(SAVE_BYTES).append('\n');
        appendMoves(text, true);
        text.append("        movl ").append(SAVE_BYTES).append("(%rsp), %edi\n");
        text.append("        call ").append(function).append('\n');
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

    private void appendStub(StringBuilder text, String family, int index) {
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
                """.formatted(stub(family, Integer.toString(index)), index, stub(family, "common")));
    }

    /**
     * Appends a table. Tables are ordinary data: their relocations are relative, and resolving writes some words while threads read them.
     */
    private static void appendTable(StringBuilder text, String section, String table, List<String> symbols) {
        text.append("\n        ").append(section).append("\n        .p2align 6\n        .globl ").append(table).append('\n');
        text.append("        .type ").append(table).append(", @object\n").append(table).append(":\n");
        symbols.forEach(symbol -> text.append("        .quad ").append(symbol).append('\n'));
        text.append("        .size ").append(table).append(", . - ").append(table).append("\n\n");
    }

    /** Appends the notes: no executable stack, and the property that jumps land on endbr64 (psABI: IBT and SHSTK). */
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

    private String stub(String family, String suffix) {
        return ".L" + names.symbolPrefix() + family + "_" + suffix;
    }
}
