package io.tessera.autotalk.description;

/**
 * A parameter of an entry.
 *
 * @param name      its name in the header
 * @param direction its direction, as far as the header gives it
 * @param type      its type
 */
public record EntryParameter(String name, ParameterDirection direction, TypeName type) {
}
