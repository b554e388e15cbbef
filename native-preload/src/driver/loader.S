/* void *dlopen(const char *name, int mode): see loader.h. x86-64 System V. */
        .text
        .globl  dlopen
        .type   dlopen, @function
dlopen:
        endbr64
        pushq   %rsi
        call    tessera_dlopen_name
        popq    %rsi
        movq    %rax, %rdi
        jmp     *tessera_next_dlopen(%rip)
        .size   dlopen, .-dlopen
        .section .note.GNU-stack,"",@progbits
