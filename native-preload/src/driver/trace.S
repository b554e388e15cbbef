/*
 * Thunks for TESSERA_TRACE: each entry's thunk notes the call, lets the entry run on the caller's own arguments, and
 * notes the result. The return address is kept by trace.c meanwhile, so arguments on the stack stay where they are.
 * Entries that programs call after they have looked them up get here too: all go through the port table.
 */
#include "driver/arguments.S.inc"

#define THUNKS 1024 /* more than there are entries; trace.c checks */

        .hidden tessera_trace_enter
        .hidden tessera_trace_leave
        .text

        .globl tessera_trace_thunks
        .hidden tessera_trace_thunks
        .p2align 4
tessera_trace_thunks:
        .set index, 0
        .rept THUNKS
        .p2align 4
        endbr64
        push $index
        jmp enter
        .set index, index + 1
        .endr

        .p2align 4
enter:  /* (%rsp): index, 8(%rsp): where the caller goes on */
        save_integers
        mov %rsp, %rax
        mov 56(%rax), %rdi
        mov 64(%rax), %rsi
        mov %rax, %rdx
        push %rbx
        mov %rax, %rbx
        sub $144, %rsp
        and $-16, %rsp
        save_vectors
        call tessera_trace_enter /* (index, return address, saved registers): the entry, and where it returns to */
        mov %rax, %r11
        mov %rdx, %r10
        restore_vectors
        lea -8(%rbx), %rsp
        pop %rbx
        restore_integers
        add $8, %rsp
        mov %r10, (%rsp)
        jmp *%r11

        .globl tessera_trace_left
        .hidden tessera_trace_left
        .p2align 4
tessera_trace_left:  /* the caller's stack, as the entry left it */
        sub $8, %rsp
        push %rax
        push %rbx
        mov %rsp, %rbx
        and $-16, %rsp
        mov %rax, %rdi
        call tessera_trace_leave /* (result): where the caller goes on */
        mov %rbx, %rsp
        mov %rax, 16(%rsp)
        pop %rbx
        pop %rax
        ret

        .section .note.GNU-stack, "", @progbits
