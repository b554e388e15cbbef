/** From PTX text to the tree: lexer, parser, scopes and size limits. */
package io.tessera.guardian.ptx.parse;
