package io.tessera.executor.jit;

import io.tessera.device.CudaEnums.JitInput;

/**
 * One input of a linker. The bytes must not be modified.
 *
 * @param type CUjitInputType
 * @param data the input; text may lack its final NUL
 */
public record LinkerInput(int type, byte[] data) {
}
