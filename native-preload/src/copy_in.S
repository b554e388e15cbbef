/* The text of copy_in.ptx, ended by a zero, as the driver takes it. */
        .section .rodata
        .globl  copy_in_ptx
        .hidden copy_in_ptx
        .type   copy_in_ptx, @object
copy_in_ptx:
        .incbin "src/copy_in.ptx"
        .byte   0
        .size   copy_in_ptx, .-copy_in_ptx
        .section .note.GNU-stack,"",@progbits
