package io.tessera.autotalk.description;

/**
 * A member of a structure or union; members of nested types without a name or typedef are listed with their path.
 *
 * @param path   its name, as {@code res.array.hArray}
 * @param offset offset in bytes from the beginning of the structure
 * @param count  elements of an array; 1: it is not an array
 * @param type   its type, or the type of an array's elements
 */
public record Field(String path, int offset, int count, TypeName type) {
}
