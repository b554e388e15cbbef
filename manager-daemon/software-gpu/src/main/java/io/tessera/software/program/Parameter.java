package io.tessera.software.program;

/**
 * A parameter or a result: of a kernel, at an offset into its parameter buffer; of a device function, at an offset into
 * its frame.
 *
 * @param name   its name
 * @param offset bytes from the begin
 * @param bytes  size
 * @param align  alignment in bytes
 */
public record Parameter(String name, int offset, int bytes, int align) {
}
