package io.tessera.executor.jit;

/**
 * One input of a linker. Nobody writes to the bytes.
 *
 * @param type CUjitInputType
 * @param data the input; text may lack its final NUL
 */
public record LinkerInput(int type, byte[] data) {
    /** CU_JIT_INPUT_PTX. */
    public static final int PTX = 1;
    /** CU_JIT_INPUT_FATBINARY. */
    public static final int FAT_BINARY = 2;
}
