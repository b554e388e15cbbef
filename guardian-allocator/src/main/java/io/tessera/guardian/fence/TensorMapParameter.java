package io.tessera.guardian.fence;

/**
 * A parameter of a kernel that holds a tensor map, 128 bytes. The code that launches the kernel ensures that the bytes are a map that was encoded,
 * and checked, for this tenant. Immutable.
 *
 * @param kernel      the kernel
 * @param parameter   name of the parameter
 * @param index       its index, from 0
 * @param offsetBytes offset of the map in the parameter
 */
public record TensorMapParameter(String kernel, String parameter, int index, long offsetBytes) {
}
