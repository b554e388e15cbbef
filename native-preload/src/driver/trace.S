/*
 * Thunks for TESSERA_TRACE: each entry's thunk records the call, calls the entry with the caller's own arguments, and
 * records the result. trace.c keeps the return address meanwhile, so arguments on the stack stay in place. Calls of
 * entries that a program has looked up come here, too, because they go through the port table.
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
enter:  /* (%rsp): index, 8(%rsp): the return address */
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
        call tessera_trace_enter /* (index, return address, saved registers): returns the entry and its return address */
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
tessera_trace_left:  /* the entry returns here, with the caller's stack */
        sub $8, %rsp
        push %rax
        push %rbx
        mov %rsp, %rbx
        and $-16, %rsp
        mov %rax, %rdi
        call tessera_trace_leave /* (result): returns the caller's return address */
        mov %rbx, %rsp
        mov %rax, 16(%rsp)
        pop %rbx
        pop %rax
        ret

        .section .note.GNU-stack, "", @progbits
