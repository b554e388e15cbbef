package io.tessera.autotalk.description;

/**
 * A member of a structure or union; members of unnamed and of untypedefed ones inside of it stand here with their path.
 *
 * @param path   its name, as {@code res.array.hArray}
 * @param offset in bytes from the begin of the structure
 * @param count  elements of an array; 1 for what is none
 * @param type   its type, of an array that of its elements
 */
public record Field(String path, int offset, int count, TypeName type) {
}
