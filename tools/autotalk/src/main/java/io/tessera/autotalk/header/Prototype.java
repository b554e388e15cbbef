package io.tessera.autotalk.header;

import java.util.List;

/**
 * A function that a header declares.
 *
 * @param name       the exported name, after macros; its token has the name in the header
 * @param returns    the return type
 * @param parameters in order; empty for {@code (void)}
 */
record Prototype(Token name, CType returns, List<CType.Variable> parameters) {
}
