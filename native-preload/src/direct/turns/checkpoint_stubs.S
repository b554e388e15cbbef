/*
 * Thunks for the time of a suspension: the thunk of an entry waits until the process is back on its devices, then jumps to
 * the entry with the caller's arguments. They are in the port table only during a suspension (checkpoint_stubs.c).
 */
#include "driver/arguments.S.inc"

#define THUNKS 1024 /* more than there are entries; checkpoint_stubs.c checks */

        .hidden tessera_checkpoint_wait
        .text

        .globl tessera_checkpoint_stubs
        .hidden tessera_checkpoint_stubs
        .p2align 4
tessera_checkpoint_stubs:
        .set index, 0
        .rept THUNKS
        .p2align 4
        endbr64
        push $index
        jmp wait
        .set index, index + 1
        .endr

        .p2align 4
wait:   /* (%rsp): index, 8(%rsp): the entry's return address */
        save_integers
        push %rbx
        mov 64(%rsp), %rdi
        mov %rsp, %rbx
        sub $128, %rsp
        and $-16, %rsp
        save_vectors
        call tessera_checkpoint_wait /* returns the entry with this index */
        mov %rax, %r11
        restore_vectors
        mov %rbx, %rsp
        pop %rbx
        restore_integers
        add $8, %rsp
        jmp *%r11

        .section .note.GNU-stack, "", @progbits
