/** Reads PTX text into the tree: lexer, parser, scopes and size limits. */
package io.tessera.guardian.ptx.parse;
