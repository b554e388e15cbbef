/* The kernel of content_look.c: content.ptx, generated from content.cu. */
    .section .rodata
    .globl tessera_content_ptx
    .hidden tessera_content_ptx
    .type tessera_content_ptx, @object
tessera_content_ptx:
    .incbin "direct/content/content.ptx"
    .byte 0
    .size tessera_content_ptx, . - tessera_content_ptx
    .section .note.GNU-stack, "", @progbits
